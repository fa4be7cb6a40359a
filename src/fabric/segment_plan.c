// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/clock.h>
#include <ringmaster/histogram.h>

#include "base/fail.h"

enum {
    STREAM_MARGIN = 512 /**< records; a burst brings at most 64 of one stream, and three quarters of 2048 slots are left
                             to readers */
};

static uint64_t const CAPACITY_MAX = 1ull << 40; /**< slots; more memory than any machine has, and no sum overflows */

static uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

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

static bool name_taken(struct rm_segment_plan const *plan, char const *name) {
    for (size_t i = 0; i < plan->count; ++i)
        if (strcmp(plan->planned[i].object.name, name) == 0)
            return true;
    return false;
}

/** A new entry with its constant part; NULL when memory is out, which the plan remembers. */
static struct rm_planned *add(struct rm_segment_plan *plan, enum rm_object_kind kind, char const *name,
                              char const *unit, char const *description, void const *constant, size_t constant_bytes) {
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
        copy = malloc(constant_bytes);
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
    constant.slots_offset = round_up(sizeof(struct rm_stream), RM_PAGE_BYTES);
    constant.margin = STREAM_MARGIN;
    if (constant.capacity < 2 * STREAM_MARGIN || constant.capacity > CAPACITY_MAX ||
        (constant.capacity & (constant.capacity - 1)) != 0)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "stream \"%s\": %llu slots is no power of two from %d to 2^40", name,
                (unsigned long long)constant.capacity, 2 * STREAM_MARGIN);
    if (constant.period == 0)
        rm_fail(first_error(plan), RM_E_ARGUMENT, "stream \"%s\": a period of 0 turns", name);
    char full[RM_NAME_BYTES + 8] = "stream/";
    strncat(full, name, RM_NAME_BYTES);
    struct rm_planned *planned =
        add(plan, RM_OBJECT_STREAM, full, "", description, &constant, offsetof(struct rm_stream, head));
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_RECORD, constant.capacity, 1,
                 constant.slots_offset + constant.capacity * sizeof(struct rm_slot));
    planned->object.variety = constant.instrument_kind;
    return plan->count - 1;
}

rm_planned_index rm_plan_counters(struct rm_segment_plan *plan, char const *name, char const *description,
                                  enum rm_counter_set set, size_t count) {
    struct rm_planned *planned = add(plan, RM_OBJECT_COUNTERS, name, "", description, NULL, 0);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, count, 1, count * sizeof(uint64_t));
    planned->object.variety = set;
    return plan->count - 1;
}

rm_planned_index rm_plan_clock(struct rm_segment_plan *plan, char const *name, char const *description) {
    struct rm_planned *planned = add(plan, RM_OBJECT_CLOCK, name, "", description, NULL, 0);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, sizeof(struct rm_clock) / sizeof(uint64_t), 1, sizeof(struct rm_clock));
    return plan->count - 1;
}

rm_planned_index rm_plan_histogram(struct rm_segment_plan *plan, char const *name, char const *description,
                                   char const *unit) {
    struct rm_planned *planned = add(plan, RM_OBJECT_HISTOGRAM, name, unit, description, NULL, 0);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U64, RM_HISTOGRAM_BUCKETS, 1, sizeof(struct rm_histogram));
    return plan->count - 1;
}

rm_planned_index rm_plan_text(struct rm_segment_plan *plan, char const *name, char const *description,
                              char const *text) {
    size_t const length = strlen(text);
    struct rm_planned *planned = add(plan, RM_OBJECT_TEXT, name, "utf-8", description, text, length);
    if (planned == NULL)
        return 0;
    set_elements(planned, RM_ELEMENT_U8, length, 1, length);
    return plan->count - 1;
}

size_t rm_element_bytes(enum rm_element_type type) {
    switch (type) {
    case RM_ELEMENT_RECORD:
        return sizeof(struct rm_record);
    case RM_ELEMENT_F64:
    case RM_ELEMENT_I64:
    case RM_ELEMENT_U64:
        return 8;
    case RM_ELEMENT_F32:
    case RM_ELEMENT_I32:
    case RM_ELEMENT_U32:
        return 4;
    case RM_ELEMENT_U8:
        return 1;
    }
    return 0;
}

rm_planned_index rm_plan_parameter(struct rm_segment_plan *plan, char const *name, char const *unit,
                                   char const *description, enum rm_element_type type, size_t count,
                                   struct rm_limits const *limits) {
    struct rm_parameter constant = {
        .count = count,
        .value_bytes = count * rm_element_bytes(type),
        .limits = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0.0},
        .element_type = type,
    };
    bool const fits = constant.value_bytes <= RM_PARAMETER_INLINE_BYTES;
    constant.values_offset = fits ? offsetof(struct rm_parameter, value) : sizeof(struct rm_parameter);
    if (limits != NULL)
        constant.limits = *limits;
    struct rm_planned *planned =
        add(plan, RM_OBJECT_PARAMETER, name, unit, description, &constant, offsetof(struct rm_parameter, sequence));
    if (planned == NULL)
        return 0;
    set_elements(planned, type, count, 1,
                 sizeof(struct rm_parameter) + (fits ? 0 : round_up(constant.value_bytes, sizeof(uint64_t))));
    return plan->count - 1;
}

uint64_t rm_plan_layout(struct rm_segment_plan *plan) {
    uint64_t offset = sizeof(struct rm_segment_header) + plan->count * sizeof(struct rm_object);
    for (size_t i = 0; i < plan->count; ++i) {
        struct rm_object *object = &plan->planned[i].object;
        object->offset = round_up(offset, RM_PAGE_BYTES);
        offset = object->offset + object->bytes;
    }
    return round_up(offset, RM_PAGE_BYTES);
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
