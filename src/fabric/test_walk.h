// SPDX-License-Identifier: Apache-2.0
/** Does with an object everything that a reader may do with one from a segment that was found sound. */
#ifndef RM_FABRIC_TEST_WALK_H
#define RM_FABRIC_TEST_WALK_H

#include <string.h>

#include <ringmaster/grant.h>
#include <ringmaster/group.h>
#include <ringmaster/intended.h>
#include <ringmaster/request.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/standby.h>
#include <ringmaster/state.h>
#include <ringmaster/workspace.h>

/** Reads every byte, so that one outside the mapping does not go unnoticed. */
static inline uint64_t test_sum(void const *memory, uint64_t bytes) {
    uint8_t const *byte = memory;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < bytes; ++i)
        sum += byte[i];
    return sum;
}

/** Reads the last byte of a struct; test_walk_object reads what lies before it. */
static inline uint64_t test_end(void const *memory, uint64_t bytes) {
    return test_sum((uint8_t const *)memory + bytes - 1, 1);
}

static inline uint64_t test_walk_stream(struct rm_stream_view const *view) {
    struct rm_record record;
    rm_turn const head = rm_stream_head(view);
    rm_turn const turns[] = {0, 1, head, head - 1, head / 2, rm_stream_oldest(view, head, 0), view->mask, RM_TURN_NONE};
    uint64_t sum = strlen(view->header->filter);
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; ++i)
        sum += rm_stream_read(view, turns[i], &record);
    for (uint32_t i = 0; i < view->header->lane_count; ++i)
        sum += strlen(view->header->lane[i].name) + strlen(view->header->lane[i].unit);
    return sum + test_sum(view->slot, (view->mask + 1) * sizeof *view->slot);
}

static inline uint64_t test_walk_rows(struct rm_rows const *rows, struct rm_object const *object) {
    enum { SOME = 4096 };
    static float values[SOME];
    struct rm_record record;
    struct rm_rows_view const view = {
        .header = rows,
        .stream = {.header = &rows->stream,
                   .slot = (struct rm_slot const *)((uint8_t const *)&rows->stream + rows->stream.slots_offset),
                   .mask = rows->stream.capacity - 1,
                   .period = rows->stream.period},
        .values = (uint8_t const *)rows + rows->values_offset,
        .width = rows->width,
        .row_bytes = rows->row_bytes,
        .unit = object->unit,
    };
    rm_turn const head = rm_stream_head(&view.stream);
    uint64_t sum = strlen(rows->axis_name) + strlen(rows->axis_unit) + test_walk_stream(&view.stream);
    if (view.width <= SOME)
        sum += rm_rows_read(&view, head, &record, values) + (uint64_t)(values[0] > 1.0f);
    return sum + test_sum(view.values, rows->stream.capacity * view.row_bytes);
}

static inline uint64_t test_walk_images(struct rm_images const *images) {
    uint8_t const *const start = (uint8_t const *)images;
    return test_sum(start + images->slots_offset, images->slot_count * sizeof(struct rm_image_slot)) +
           test_sum(start + images->maps_offset, images->slot_count * images->map_bytes) +
           test_sum(start + images->bytes_offset, images->slot_count * images->frame_bytes);
}

/** True when the writer seems to be inside the lock: to wait for it would only cost time. */
static inline bool test_held(_Atomic uint64_t const *sequence) { return atomic_load(sequence) & 1; }

static inline uint64_t test_walk_parameter(struct rm_parameter const *parameter) {
    double values[4];
    struct rm_parameter_reading reading;
    double const one = test_held(&parameter->sequence) ? 0.0 : rm_parameter_read_f64(parameter);
    return strlen(parameter->owner) + strlen(parameter->group) + strlen(parameter->conversion.unit) + (one > 1.0) +
           (test_held(&parameter->sequence) ? 0 : rm_parameter_read(parameter, values, sizeof values, &reading)) +
           test_sum((uint8_t const *)parameter + parameter->values_offset, parameter->value_bytes);
}

static inline uint64_t test_walk_group(struct rm_group const *group) {
    uint64_t seen = 0;
    return test_held(&group->sequence) ? 0 : rm_group_enter(group, &seen) + rm_group_leave(group, seen);
}

static inline uint64_t test_walk_setpoints(struct rm_setpoints const *setpoints) {
    double values[64] = {0};
    struct rm_setpoints_place place = {0};
    struct rm_setpoint_reading reading = {0};
    uint64_t const vector_bytes = rm_setpoint_vector_bytes(setpoints->actuator_count);
    return rm_setpoints_copy(setpoints, vector_bytes, &place, &reading, values, 64) + (values[0] > 0.0) +
           reading.number +
           test_sum((uint8_t const *)setpoints + setpoints->vectors_offset,
                    RM_SETPOINT_BUFFERS * setpoints->vector_bytes);
}

static inline uint64_t test_walk_state(struct rm_state const *state) {
    uint8_t bytes[4096];
    struct rm_state_reading reading = {0};
    uint64_t const room = state->capacity < sizeof bytes ? state->capacity : sizeof bytes;
    if (test_held(&state->sequence) || !rm_state_copy(state, bytes, room, &reading))
        return 0;
    return reading.steps + test_sum(bytes, reading.bytes);
}

/** Returns a sum over what it read. The caller must use it, or the compiler reads nothing. */
static inline uint64_t test_walk_object(struct rm_object const *object, void const *memory) {
    uint64_t const sum =
        strlen(object->name) + strlen(object->unit) + strlen(object->description) + test_sum(memory, object->bytes);
    struct rm_stream const *stream = memory;
    struct rm_clock_reading reading;
    switch (object->kind) {
    case RM_OBJECT_STREAM:
        return sum + test_walk_stream(&(struct rm_stream_view){
                         .header = stream,
                         .slot = (struct rm_slot const *)((uint8_t const *)memory + stream->slots_offset),
                         .mask = stream->capacity - 1,
                         .period = stream->period,
                     });
    case RM_OBJECT_ROWS:
        return sum + test_walk_rows(memory, object);
    case RM_OBJECT_IMAGES:
        return sum + test_walk_images(memory);
    case RM_OBJECT_PARAMETER:
        return sum + test_walk_parameter(memory);
    case RM_OBJECT_COUNTERS:
        return sum + test_sum(memory, object->shape[0] * sizeof(uint64_t));
    case RM_OBJECT_CLOCK:
        return sum + (test_held(memory) ? 0 : rm_clock_read(memory, &reading));
    case RM_OBJECT_HISTOGRAM:
        return sum + test_sum(memory, sizeof(struct rm_histogram));
    case RM_OBJECT_TEXT:
        return sum + test_sum(memory, object->shape[0]);
    case RM_OBJECT_GROUP:
        return sum + test_walk_group(memory);
    case RM_OBJECT_SETPOINTS:
        return sum + test_walk_setpoints(memory);
    case RM_OBJECT_REQUESTS:
        return sum + test_end(memory, sizeof(struct rm_requests));
    case RM_OBJECT_REPLIES:
        return sum + test_end(memory, sizeof(struct rm_replies));
    case RM_OBJECT_GRANT:
        return sum + strlen(((struct rm_grant const *)memory)->application) + test_sum(memory, sizeof(struct rm_grant));
    case RM_OBJECT_INTENDED:
        return sum + test_sum(memory, object->shape[0] * sizeof(struct rm_intended));
    case RM_OBJECT_STANDBY_STATE:
        return sum + rm_standby_state_look(memory, &(struct rm_standby_state_reading){0});
    case RM_OBJECT_STANDBY_ORDERS:
        return sum + rm_standby_orders_look(memory, &(struct rm_standby_orders_reading){0});
    case RM_OBJECT_STATE:
        return sum + test_walk_state(memory);
    default:
        return sum;
    }
}

#endif
