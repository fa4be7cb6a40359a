// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/clock.h>
#include <ringmaster/group.h>
#include <ringmaster/histogram.h>
#include <ringmaster/intended.h>
#include <ringmaster/request.h>
#include <ringmaster/rows.h>
#include <ringmaster/setpoint.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "fabric/images_plan.h"
#include "fabric/rows_plan.h"
#include "fabric/severity.h"

enum {
    STREAM_MARGIN = 512,     /**< records; a burst brings at most 64 of one stream, and three quarters of 2048 slots are
                                left     to readers */
    ACTUATORS_MAX = 1 << 20, /**< of one row: a thousand times what a machine has */
    ELEMENTS_MAX = 1 << 30,  /**< of one parameter, and of each side of it, so that no product overflows */
};

static uint64_t const CAPACITY_MAX = 1ull << 40; /**< slots; more memory than any machine has, and no sum overflows */
static uint64_t const STATE_MAX = 1ull << 36;    /**< bytes of an application's state */

static uint64_t round_up_to_step(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

void rm_plan_init(struct rm_segment_plan *plan) { *plan = (struct rm_segment_plan){0}; }

void rm_plan_free(struct rm_segment_plan *plan) {
    for (size_t i = 0; i < plan->count; ++i)
        free(plan->planned[i].constant);
    free(plan->planned);
    rm_plan_init(plan);
}

enum rm_code rm_plan_check(struct rm_segment_plan const *plan, struct rm_error *error) {
    return plan->error.code == RM_OK ? RM_OK : rm_fail(error, plan->error.code, "%s", plan->error.text);
}

/** Where an error goes: the plan keeps its first one. */
static struct rm_error *first_error(struct rm_segment_plan *plan) {
    return plan->error.code == RM_OK ? &plan->error : NULL;
}

/** Copies a string into a field of a directory entry, or remembers that it does not fit. */
static void put_text(struct rm_segment_plan *plan, char *field, size_t bytes, char const *text) {
    if (strlen(text) < bytes)
        strcpy(field, text);
    else
        rm_fail(first_error(plan), RM_E_ARGUMENT, "\"%s\" is too long for the directory: at most %zu bytes", text,
                bytes - 1);
}

static char const *text_or_empty(char const *text) { return text != NULL ? text : ""; }

static bool name_taken(struct rm_segment_plan const *plan, char const *name) {
    for (size_t i = 0; i < plan->count; ++i)
        if (strcmp(plan->planned[i].object.name, name) == 0)
            return true;
    return false;
}

/** A new entry with its constant part; NULL when memory is out, which the plan remembers. */
static struct rm_planned *segment_plan_add_object(struct rm_segment_plan *plan, enum rm_object_kind kind,
                                                  char const *name, char const *unit, char const *description,
                                                  void const *constant, size_t constant_bytes) {
    if (plan->count == plan->room) {
        size_t const room = plan->room ? 2 * plan->room : 64;
        struct rm_planned *grown = realloc(plan->planned, room * sizeof *grown);
        if (grown == NULL) {
            rm_fail(first_error(plan), RM_E_NO_SPACE, "no memory for a directory of %zu objects", room);
            return NULL;
        }
        plan->planned = grown;
        plan->room = room;
    }
    if (name_taken(plan, name))
        rm_fail(first_error(plan), RM_E_ARGUMENT, "two objects are called \"%s\"", name);
    void *copy = NULL;
    if (constant_bytes > 0) {
        copy = rm_zeroed(1, constant_bytes); // as its struct wants it
        if (copy == NULL) {
            rm_fail(first_error(plan), RM_E_NO_SPACE, "no memory to plan \"%s\"", name);
            return NULL;
        }
        memcpy(copy, constant, constant_bytes);
    }
    struct rm_planned *planned = &plan->planned[plan->count++];
    *planned = (struct rm_planned){.constant = copy, .constant_bytes = constant_bytes};
    planned->object.kind = kind;
    put_text(plan, planned->object.name, sizeof planned->object.name, name);
    put_text(plan, planned->object.unit, sizeof planned->object.unit, unit);
    put_text(plan, planned->object.description, sizeof planned->object.description, description);
    return planned;
}

static void set_elements(struct rm_planned *planned, enum rm_element_type type, uint64_t rows, uint64_t columns,
                         uint64_t bytes) {
    planned->object.element_type = type;
    planned->object.shape[0] = rows;
    planned->object.shape[1] = columns;
    planned->object.bytes = bytes;
}

rm_planned_index rm_plan_stream(struct rm_segment_plan *plan, char const *name, char const *description,
                                struct rm_stream const *stream) {
    struct rm_stream constant = *stream;
    constant.slots_offset = round_up_to_step(sizeof(struct rm_stream), RM_PAGE_BYTES);
    constant.margin = STREAM_MARGIN;
    if (constant.capacity < 2 * STREAM_MARGIN || constant.capacity > CAPACITY_MAX ||
        (constant.capacity & (constant.capacity - 1)) != 0)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "stream \"%s\": %llu slots is no power of two from %d to 2^40", name,
                (unsigned long long)constant.capacity, 2 * STREAM_MARGIN);
    if (constant.period == 0)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "stream \"%s\": a period of 0 turns", name);
    char full[RM_NAME_BYTES + 8] = "stream/";
    strncat(full, name, RM_NAME_BYTES);
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_STREAM, full, "", description, &constant,
                                                         offsetof(struct rm_stream, head));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_RECORD, constant.capacity, 1,
                 constant.slots_offset + constant.capacity * sizeof(struct rm_slot));
    planned->object.variety = constant.instrument_kind;
    return plan->count - 1;
}

rm_planned_index rm_plan_rows(struct rm_segment_plan *plan, struct rm_rows_plan const *wanted) {
    struct rm_rows constant;
    if (rm_rows_describe(wanted, &constant, first_error(plan)) != RM_OK)
        return 0;
    char full[RM_NAME_BYTES + 8] = "rows/";
    strncat(full, wanted->name, RM_NAME_BYTES);
    struct rm_planned *planned = segment_plan_add_object(
        plan, RM_OBJECT_ROWS, full, text_or_empty(wanted->unit), text_or_empty(wanted->description), &constant,
        offsetof(struct rm_rows, stream) + offsetof(struct rm_stream, head));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_F32, constant.stream.capacity, constant.width, rm_rows_bytes(&constant));
    return plan->count - 1;
}

rm_planned_index rm_plan_images(struct rm_segment_plan *plan, struct rm_images_plan const *wanted) {
    struct rm_images constant;
    uint64_t const before = rm_plan_count(plan, RM_OBJECT_IMAGES);
    if (rm_images_describe(wanted, before, &constant, first_error(plan)) != RM_OK)
        return 0;
    char full[RM_NAME_BYTES + 8] = "images/";
    strncat(full, wanted->name, RM_NAME_BYTES);
    struct rm_planned *planned =
        segment_plan_add_object(plan, RM_OBJECT_IMAGES, full, "", text_or_empty(wanted->description), &constant,
                                offsetof(struct rm_images, newest));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U8, constant.slot_count, constant.frame_bytes, rm_images_object_bytes(&constant));
    return plan->count - 1;
}

rm_planned_index rm_plan_counters(struct rm_segment_plan *plan, char const *name, char const *description,
                                  enum rm_counter_set_id set, size_t count) {
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_COUNTERS, name, "", description, NULL, 0);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, count, 1, count * sizeof(uint64_t));
    planned->object.variety = set;
    return plan->count - 1;
}

rm_planned_index rm_plan_clock(struct rm_segment_plan *plan, char const *name, char const *description) {
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_CLOCK, name, "", description, NULL, 0);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, sizeof(struct rm_clock) / sizeof(uint64_t), 1, sizeof(struct rm_clock));
    return plan->count - 1;
}

rm_planned_index rm_plan_histogram(struct rm_segment_plan *plan, char const *name, char const *description,
                                   char const *unit) {
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_HISTOGRAM, name, unit, description, NULL, 0);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, RM_HISTOGRAM_BUCKETS, 1, sizeof(struct rm_histogram));
    return plan->count - 1;
}

rm_planned_index rm_plan_text(struct rm_segment_plan *plan, char const *name, char const *description,
                              char const *text) {
    size_t const length = strlen(text);
    struct rm_planned *planned =
        segment_plan_add_object(plan, RM_OBJECT_TEXT, name, "utf-8", description, text, length);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U8, length, 1, length);
    return plan->count - 1;
}

/** Two limits that contradict each other would make an alarm of every value. */
static void check_limit_pair(struct rm_segment_plan *plan, char const *name, char const *what, double low,
                             double high) {
    if (low > high)
        rm_fail(first_error(plan), RM_E_ARGUMENT,
                "parameter \"%s\": its lower %s limit, %g, is above the upper one, %g", name, what, low, high);
}

static void check_limits(struct rm_segment_plan *plan, char const *name, struct rm_limits const *limits) {
    check_limit_pair(plan, name, "display", limits->display_low, limits->display_high);
    check_limit_pair(plan, name, "control", limits->control_low, limits->control_high);
    check_limit_pair(plan, name, "minor", limits->minor_low, limits->minor_high);
    check_limit_pair(plan, name, "major", limits->major_low, limits->major_high);
    if (!(limits->hysteresis >= 0.0))
        rm_fail(first_error(plan), RM_E_ARGUMENT, "parameter \"%s\": a hysteresis of %g is not 0 or more", name,
                limits->hysteresis);
}

/** Counts a member in. */
static void join_group(struct rm_segment_plan *plan, char const *parameter, char const *group) {
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_planned *planned = &plan->planned[i];
        if (planned->object.kind != RM_OBJECT_GROUP || strcmp(planned->object.name, group) != 0)
            continue;
        ((struct rm_group *)planned->constant)->member_count += 1;
        planned->object.shape[0] += 1;
        return;
    }
    rm_fail(first_error(plan), RM_E_ARGUMENT, "parameter \"%s\" is of the group \"%s\", which was not added before it",
            parameter, group);
}

/** The constant part, but for the owner's name. */
static struct rm_parameter constant_of(struct rm_parameter_plan const *wanted, uint64_t count) {
    struct rm_parameter constant = {
        .count = count,
        .value_bytes = count * rm_element_bytes(wanted->type),
        .limits = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0.0},
        .flags = wanted->flags & ~(unsigned)RM_PARAMETER_ALARMS,
        .element_type = wanted->type,
    };
    bool const fits = constant.value_bytes <= RM_PARAMETER_INLINE_BYTES;
    constant.values_offset = fits ? offsetof(struct rm_parameter, value) : sizeof(struct rm_parameter);
    if (wanted->limits != NULL)
        constant.limits = *wanted->limits;
    if (wanted->conversion != NULL)
        constant.conversion = *wanted->conversion;
    if (rm_limits_alarm(&constant.limits))
        constant.flags |= RM_PARAMETER_ALARMS;
    return constant;
}

static void check_parameter(struct rm_segment_plan *plan, char const *name, struct rm_parameter const *constant) {
    check_limits(plan, name, &constant->limits);
    if (rm_element_bytes((enum rm_element_type)constant->element_type) == 0 ||
        constant->element_type == RM_ELEMENT_RECORD)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "parameter \"%s\": there is no element type %u for it", name,
                (unsigned)constant->element_type);
    if (memchr(constant->conversion.unit, '\0', RM_UNIT_BYTES) == NULL)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "parameter \"%s\": its other unit is longer than %d bytes", name,
                RM_UNIT_BYTES - 1);
    else if (!rm_conversion_is_good(&constant->conversion, &constant->limits))
        rm_fail(first_error(plan), RM_E_ARGUMENT,
                "parameter \"%s\": its conversion to %s cannot be gone back: it must rise or fall all the way between "
                "two control limits, which only a straight line can do without",
                name, constant->conversion.unit);
}

rm_planned_index rm_plan_full_parameter(struct rm_segment_plan *plan, struct rm_parameter_plan const *wanted) {
    uint64_t const columns = wanted->columns > 1 ? wanted->columns : 1;
    if (wanted->rows > ELEMENTS_MAX || columns > ELEMENTS_MAX || wanted->rows * columns > ELEMENTS_MAX) {
        rm_fail(first_error(plan), RM_E_ARGUMENT, "parameter \"%s\": more than 2^30 elements", wanted->name);
        return 0;
    }
    struct rm_parameter constant = constant_of(wanted, wanted->rows * columns);
    put_text(plan, constant.group, sizeof constant.group, text_or_empty(wanted->group));
    check_parameter(plan, wanted->name, &constant);
    struct rm_planned *planned =
        segment_plan_add_object(plan, RM_OBJECT_PARAMETER, wanted->name, text_or_empty(wanted->unit),
                                text_or_empty(wanted->description), &constant, offsetof(struct rm_parameter, sequence));
    if (planned == NULL)
        return 0;
    bool const fits = constant.value_bytes <= RM_PARAMETER_INLINE_BYTES;
    set_elements(planned, wanted->type, wanted->rows, columns,
                 sizeof constant + (fits ? 0 : round_up_to_step(constant.value_bytes, sizeof(uint64_t))));
    if (constant.group[0] != '\0')
        join_group(plan, wanted->name, constant.group);
    return plan->count - 1;
}

rm_planned_index rm_plan_parameter(struct rm_segment_plan *plan, char const *name, char const *unit,
                                   char const *description, enum rm_element_type type, size_t count,
                                   struct rm_limits const *limits) {
    struct rm_parameter_plan const parameter = {
        .name = name, .unit = unit, .description = description, .type = type, .rows = count, .limits = limits};
    return rm_plan_full_parameter(plan, &parameter);
}

rm_planned_index rm_plan_group(struct rm_segment_plan *plan, char const *name, char const *description) {
    struct rm_group const constant = {.member_count = 0};
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_GROUP, name, "", description, &constant,
                                                         offsetof(struct rm_group, sequence));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, 0, 1, sizeof constant);
    return plan->count - 1;
}

rm_planned_index rm_plan_setpoints(struct rm_segment_plan *plan, char const *name, char const *description,
                                   size_t actuator_count) {
    if (actuator_count > ACTUATORS_MAX)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "setpoints \"%s\": %zu actuators are not 0 to %d", name,
                actuator_count, ACTUATORS_MAX);
    size_t const count = actuator_count > ACTUATORS_MAX ? 0 : actuator_count;
    struct rm_setpoints const constant = {
        .vectors_offset = sizeof constant, .vector_bytes = rm_setpoint_vector_bytes(count), .actuator_count = count};
    struct rm_planned *planned =
        segment_plan_add_object(plan, RM_OBJECT_SETPOINTS, name, "", description, &constant, sizeof constant);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_F64, count, 1, rm_setpoints_bytes(count));
    return plan->count - 1;
}

/** An object that begins with nothing but zeros. */
static rm_planned_index plan_zeros(struct rm_segment_plan *plan, enum rm_object_kind kind, char const *name,
                                   char const *description, uint64_t count, uint64_t bytes) {
    struct rm_planned *planned = segment_plan_add_object(plan, kind, name, "", description, NULL, 0);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, count, 1, bytes);
    return plan->count - 1;
}

rm_planned_index rm_plan_requests(struct rm_segment_plan *plan, char const *name, char const *description) {
    return plan_zeros(plan, RM_OBJECT_REQUESTS, name, description, RM_REQUEST_SLOTS, sizeof(struct rm_requests));
}

rm_planned_index rm_plan_replies(struct rm_segment_plan *plan, char const *name, char const *description) {
    return plan_zeros(plan, RM_OBJECT_REPLIES, name, description, RM_REPLY_SLOTS, sizeof(struct rm_replies));
}

rm_planned_index rm_plan_intended(struct rm_segment_plan *plan, char const *name, char const *description,
                                  size_t chain_count) {
    return plan_zeros(plan, RM_OBJECT_INTENDED, name, description, chain_count,
                      chain_count * sizeof(struct rm_intended));
}

rm_planned_index rm_plan_grant(struct rm_segment_plan *plan, char const *name, char const *description,
                               struct rm_grant const *grant) {
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_GRANT, name, "", description, grant,
                                                         offsetof(struct rm_grant, sequence));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, sizeof *grant / sizeof(uint64_t), 1, sizeof *grant);
    return plan->count - 1;
}

rm_planned_index rm_plan_standby_state(struct rm_segment_plan *plan, char const *name, char const *description,
                                       struct rm_standby_state const *state) {
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_STANDBY_STATE, name, "", description, state,
                                                         offsetof(struct rm_standby_state, sequence));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, sizeof *state / sizeof(uint64_t), 1, sizeof *state);
    return plan->count - 1;
}

rm_planned_index rm_plan_standby_orders(struct rm_segment_plan *plan, char const *name, char const *description) {
    return plan_zeros(plan, RM_OBJECT_STANDBY_ORDERS, name, description,
                      sizeof(struct rm_standby_orders) / sizeof(uint64_t), sizeof(struct rm_standby_orders));
}

rm_planned_index rm_plan_state(struct rm_segment_plan *plan, char const *name, char const *description,
                               uint64_t capacity) {
    bool const good = capacity > 0 && capacity <= STATE_MAX;
    if (!good)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "state \"%s\": %llu bytes are not 1 to 2^36", name,
                (unsigned long long)capacity);
    struct rm_state const constant = {.bytes_offset = sizeof constant,
                                      .capacity = good ? round_up_to_step(capacity, sizeof(uint64_t)) : 0};
    struct rm_planned *planned = segment_plan_add_object(plan, RM_OBJECT_STATE, name, "", description, &constant,
                                                         offsetof(struct rm_state, sequence));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U8, constant.capacity, 1, sizeof constant + constant.capacity);
    return plan->count - 1;
}

void rm_plan_own(struct rm_segment_plan *plan, char const *owner) {
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_parameter *constant = plan->planned[i].constant;
        if (plan->planned[i].object.kind == RM_OBJECT_PARAMETER)
            strncpy(constant->owner, owner, sizeof constant->owner - 1);
    }
}

uint64_t rm_plan_layout(struct rm_segment_plan *plan) {
    uint64_t offset = sizeof(struct rm_segment_header) + plan->count * sizeof(struct rm_object);
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_object *object = &plan->planned[i].object;
        object->offset = round_up_to_step(offset, RM_PAGE_BYTES);
        offset = object->offset + object->bytes;
    }
    return round_up_to_step(offset, RM_PAGE_BYTES);
}

/** FNV-1a, 64 bits. */
static uint64_t hash_bytes(uint64_t hash, void const *data, size_t bytes) {
    uint8_t const *byte = data;
    for (size_t i = 0; i < bytes; ++i)
        hash = (hash ^ byte[i]) * 0x100000001B3ull;
    return hash;
}

uint64_t rm_plan_hash(struct rm_segment_plan const *plan) {
    uint64_t hash = 0xCBF29CE484222325ull;
    for (size_t i = 0; i < plan->count; ++i) {
        hash = hash_bytes(hash, &plan->planned[i].object, sizeof plan->planned[i].object);
        hash = hash_bytes(hash, plan->planned[i].constant, plan->planned[i].constant_bytes);
    }
    return hash;
}
