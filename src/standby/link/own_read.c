// SPDX-License-Identifier: Apache-2.0
#include "standby/link/own.h"

enum { LOOKS = 100 };

bool rm_peer_own_state(struct rm_peer_own const *own, struct rm_standby_state_reading *reading) {
    for (int i = 0; i < LOOKS && own->state != NULL; ++i)
        if (rm_standby_state_look(own->state, reading))
            return true;
    return false;
}

bool rm_peer_own_vector(struct rm_peer_own *own, enum rm_peer_vector_of of, double *values, rm_turn *turn) {
    size_t const count = own->config->supply_count;
    struct rm_setpoint_reading reading;
    if (own->vector[of] == NULL ||
        !rm_setpoints_copy(own->vector[of], rm_setpoint_vector_bytes(count), &own->place[of], &reading, values, count))
        return false;
    *turn = reading.input_turn;
    return true;
}

static void record_add(struct rm_peer_records *records, uint32_t stream, struct rm_record const *record) {
    struct rm_peer_record *const to = &records->record[records->count++];
    to->stream = (uint16_t)stream;
    to->tag = record->tag;
    for (int lane = 0; lane < RM_LANES; ++lane)
        to->lane[lane] = record->lane[lane];
}

/** All records of a step; its decision, which was read, is the last. */
static void records_read(struct rm_peer_own_application const *application, struct rm_record const *decision,
                         struct rm_peer_records *records) {
    struct rm_record record;
    records->turn = decision->turn;
    records->count = 0;
    for (uint32_t i = 1; i < application->stream_count; ++i)
        if (rm_stream_read(&application->stream[i], decision->turn, &record) == RM_READ_OK)
            record_add(records, i, &record);
    record_add(records, 0, decision);
}

/** The newest step, without the one before it. */
static bool step_newest(struct rm_peer_own_application *application, struct rm_stream_look const *look,
                        struct rm_peer_records *records, rm_turn *previous) {
    struct rm_record decision;
    if (rm_stream_read(&application->stream[0], look->head, &decision) != RM_READ_OK)
        return false;
    application->turn_epoch = look->turn_epoch;
    records_read(application, &decision, records);
    *previous = RM_TURN_NONE;
    return true;
}

bool rm_peer_own_step(struct rm_peer_own *own, uint32_t application, rm_turn after, struct rm_peer_records *records,
                      rm_turn *previous) {
    struct rm_peer_own_application *const it = &own->application[application];
    struct rm_stream_look look;
    struct rm_record decision;
    if (it->stream_count == 0)
        return false;
    rm_stream_look(&it->stream[0], &look);
    if (look.head == RM_TURN_NONE)
        return false;
    if (after == RM_TURN_NONE || look.turn_epoch != it->turn_epoch || after > look.head)
        return step_newest(it, &look, records, previous);
    rm_turn const period = it->stream[0].period;
    /* Turns without a step are passed over, as many as there are: a stream keeps an end of them. */
    for (rm_turn turn = after - after % period + period; turn <= look.head; turn += period) {
        enum rm_read const result = rm_stream_read(&it->stream[0], turn, &decision);
        if (result == RM_READ_LAPPED || result == RM_READ_BEFORE)
            return step_newest(it, &look, records, previous);
        if (result != RM_READ_OK)
            continue;
        records_read(it, &decision, records);
        *previous = after;
        return true;
    }
    return false;
}

rm_turn rm_peer_own_followed(struct rm_peer_own const *own, uint32_t application) {
    struct rm_peer_own_application const *const it = &own->application[application];
    return it->stream_count == 0 ? RM_TURN_NONE : rm_stream_head(&it->stream[0]);
}

bool rm_peer_own_in_step(struct rm_peer_own const *own, uint32_t application) {
    struct rm_parameter const *const in_step = own->application[application].in_step;
    return in_step != NULL && rm_parameter_read_f64(in_step) > 0.5; // a NaN is not
}

uint64_t rm_peer_own_differences(struct rm_peer_own const *own) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < own->application_count; ++i)
        if (own->application[i].follow != NULL)
            sum += rm_counter_get(own->application[i].follow, RM_FOLLOW_DIFFERENCES);
    return sum;
}
