// SPDX-License-Identifier: Apache-2.0
#include "fabric/segment_check.h"

#include <stdbool.h>
#include <string.h>

#include <ringmaster/clock.h>
#include <ringmaster/grant.h>
#include <ringmaster/group.h>
#include <ringmaster/histogram.h>
#include <ringmaster/intended.h>
#include <ringmaster/parameter.h>
#include <ringmaster/request.h>
#include <ringmaster/rows.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/standby.h>
#include <ringmaster/state.h>
#include <ringmaster/stream.h>

#include "fabric/element.h"
#include "fabric/images_plan.h"

static bool text_ends_in_field(char const *field, size_t bytes) { return memchr(field, '\0', bytes) != NULL; }

/** True when `count` things of `each` bytes fit from `offset` on, without any sum that could overflow. */
static bool objects_fit_segment(uint64_t offset, uint64_t count, uint64_t each, uint64_t bytes) {
    return offset <= bytes && count <= (bytes - offset) / each;
}

static bool lanes_sound(struct rm_stream const *stream) {
    for (int i = 0; i < RM_LANES; ++i)
        if (!text_ends_in_field(stream->lane[i].name, sizeof stream->lane[i].name) ||
            !text_ends_in_field(stream->lane[i].unit, sizeof stream->lane[i].unit))
            return false;
    return stream->lane_count <= RM_LANES;
}

static bool stream_sound(struct rm_stream const *stream, uint64_t bytes) {
    uint64_t const capacity = stream->capacity;
    return bytes >= sizeof *stream && stream->slots_offset >= sizeof *stream &&
           stream->slots_offset % RM_CACHE_LINE == 0 && capacity > 0 && (capacity & (capacity - 1)) == 0 &&
           objects_fit_segment(stream->slots_offset, capacity, sizeof(struct rm_slot), bytes) &&
           stream->margin < capacity && stream->period > 0 &&
           text_ends_in_field(stream->filter, sizeof stream->filter) && lanes_sound(stream);
}

static bool rows_sound(struct rm_object const *object, struct rm_rows const *rows) {
    return object->bytes >= sizeof *rows &&
           stream_sound(&rows->stream, object->bytes - offsetof(struct rm_rows, stream)) &&
           rows->values_offset % RM_CACHE_LINE == 0 && rows->row_bytes % RM_CACHE_LINE == 0 && rows->width > 0 &&
           rows->width <= rows->row_bytes / sizeof(float) &&
           objects_fit_segment(rows->values_offset, rows->stream.capacity, rows->row_bytes, object->bytes) &&
           object->shape[0] == rows->stream.capacity && object->shape[1] == rows->width &&
           text_ends_in_field(rows->axis_name, sizeof rows->axis_name) &&
           text_ends_in_field(rows->axis_unit, sizeof rows->axis_unit);
}

/** The directory's shape has as many elements as there are, without a product that could overflow. */
static bool shape_sound(struct rm_object const *object, uint64_t count) {
    return object->shape[1] > 0 && count % object->shape[1] == 0 && count / object->shape[1] == object->shape[0];
}

static bool parameter_texts_sound(struct rm_parameter const *parameter) {
    return text_ends_in_field(parameter->conversion.unit, sizeof parameter->conversion.unit) &&
           text_ends_in_field(parameter->group, sizeof parameter->group) &&
           text_ends_in_field(parameter->owner, sizeof parameter->owner);
}

static bool parameter_sound(struct rm_object const *object, struct rm_parameter const *parameter) {
    uint64_t const element = rm_element_bytes(object->element_type);
    return object->bytes >= sizeof *parameter && element > 0 &&
           parameter->values_offset >= offsetof(struct rm_parameter, value) &&
           parameter->values_offset % sizeof(uint64_t) == 0 && object->bytes % sizeof(uint64_t) == 0 &&
           objects_fit_segment(parameter->values_offset, parameter->count, element, object->bytes) &&
           parameter->value_bytes == parameter->count * element && parameter->element_type == object->element_type &&
           shape_sound(object, parameter->count) && parameter_texts_sound(parameter);
}

static bool setpoints_sound(struct rm_object const *object, struct rm_setpoints const *setpoints) {
    return object->bytes >= sizeof *setpoints && setpoints->vectors_offset == sizeof *setpoints &&
           setpoints->actuator_count <= object->bytes / sizeof(uint64_t) &&
           setpoints->vector_bytes == rm_setpoint_vector_bytes(setpoints->actuator_count) &&
           objects_fit_segment(setpoints->vectors_offset, RM_SETPOINT_BUFFERS, setpoints->vector_bytes, object->bytes);
}

static bool images_sound(struct rm_object const *object, struct rm_images const *images) {
    return object->bytes >= sizeof *images && rm_images_sound(images, object->bytes) &&
           object->shape[0] == images->slot_count && object->shape[1] == images->frame_bytes;
}

static bool grant_sound(struct rm_object const *object, struct rm_grant const *grant) {
    return object->bytes >= sizeof *grant && text_ends_in_field(grant->application, sizeof grant->application);
}

static bool state_sound(struct rm_object const *object, struct rm_state const *state) {
    return object->bytes >= sizeof *state && state->bytes_offset == sizeof *state &&
           state->capacity % sizeof(uint64_t) == 0 &&
           objects_fit_segment(state->bytes_offset, state->capacity, 1, object->bytes) &&
           object->shape[0] == state->capacity;
}

/** The object's own header. Kinds that this version does not read have only their place checked. */
static bool content_sound(struct rm_object const *object, void const *memory) {
    switch (object->kind) {
    case RM_OBJECT_STREAM:
        return stream_sound(memory, object->bytes);
    case RM_OBJECT_ROWS:
        return rows_sound(object, memory);
    case RM_OBJECT_IMAGES:
        return images_sound(object, memory);
    case RM_OBJECT_PARAMETER:
        return parameter_sound(object, memory);
    case RM_OBJECT_COUNTERS:
        return objects_fit_segment(0, object->shape[0], sizeof(uint64_t), object->bytes);
    case RM_OBJECT_CLOCK:
        return object->bytes >= sizeof(struct rm_clock);
    case RM_OBJECT_HISTOGRAM:
        return object->bytes >= sizeof(struct rm_histogram);
    case RM_OBJECT_TEXT:
        return object->shape[0] <= object->bytes;
    case RM_OBJECT_GROUP:
        return object->bytes >= sizeof(struct rm_group);
    case RM_OBJECT_REQUESTS:
        return object->bytes >= sizeof(struct rm_requests);
    case RM_OBJECT_REPLIES:
        return object->bytes >= sizeof(struct rm_replies);
    case RM_OBJECT_SETPOINTS:
        return setpoints_sound(object, memory);
    case RM_OBJECT_GRANT:
        return grant_sound(object, memory);
    case RM_OBJECT_INTENDED:
        return objects_fit_segment(0, object->shape[0], sizeof(struct rm_intended), object->bytes);
    case RM_OBJECT_STANDBY_STATE:
        return object->bytes >= sizeof(struct rm_standby_state);
    case RM_OBJECT_STANDBY_ORDERS:
        return object->bytes >= sizeof(struct rm_standby_orders);
    case RM_OBJECT_STATE:
        return state_sound(object, memory);
    default:
        return true;
    }
}

char const *rm_segment_fault(struct rm_segment_header const *header, uint64_t bytes) {
    if (header->segment_bytes > bytes)
        return "it is shorter than it says";
    if (header->object_bytes != sizeof(struct rm_object) || header->directory_offset < sizeof *header ||
        header->directory_offset % _Alignof(struct rm_object) != 0 ||
        !objects_fit_segment(header->directory_offset, header->object_count, sizeof(struct rm_object), bytes))
        return "its directory lies outside of it";
    uint8_t const *start = (uint8_t const *)header;
    struct rm_object const *object = (struct rm_object const *)(start + header->directory_offset);
    for (uint32_t i = 0; i < header->object_count; ++i, ++object) {
        if (!text_ends_in_field(object->name, sizeof object->name) ||
            !text_ends_in_field(object->unit, sizeof object->unit) ||
            !text_ends_in_field(object->description, sizeof object->description))
            return "a name in its directory has no end";
        if (object->offset % RM_PAGE_BYTES != 0 || !objects_fit_segment(object->offset, object->bytes, 1, bytes))
            return "an object of its directory lies outside of it";
        if (!content_sound(object, start + object->offset))
            return "an object in it contradicts its place in the directory";
    }
    return NULL;
}
