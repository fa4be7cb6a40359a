// SPDX-License-Identifier: Apache-2.0
#include "standby/link/segment.h"

#include <stdio.h>
#include <string.h>

#include "base/timebase.h"
#include "fabric/standby_writer.h"

/** Between two lines on standard error. */
#define SAY_NS 1000000000ull

void rm_peer_segment_vector(struct rm_peer_segment *segment, enum rm_peer_vector_of of, double const *values,
                            uint32_t count, rm_turn turn) {
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(segment->vector[of]);
    for (uint32_t i = 0; i < count; ++i)
        rm_setpoints_put(vector, i, values[i]);
    rm_setpoints_commit(vector, 0, turn, rm_tsc());
}

void rm_peer_segment_step(struct rm_peer_segment *segment, uint32_t application,
                          struct rm_peer_records const *records) {
    uint64_t const tsc = rm_tsc();
    for (uint32_t i = 0; i < records->count; ++i) {
        struct rm_peer_record const *const from = &records->record[i];
        if (from->stream >= segment->application[application].stream_count)
            continue; // of another build, whose applications tell more
        struct rm_record record = {.turn = records->turn, .tag = from->tag};
        memcpy(record.lane, from->lane, sizeof record.lane);
        rm_owner_stream_put(segment->owner, segment->application[application].stream[from->stream], &record, tsc);
    }
}

rm_turn rm_peer_segment_newest(struct rm_peer_segment const *segment, uint32_t application) {
    if (segment->application[application].stream_count == 0)
        return RM_TURN_NONE;
    struct rm_stream const *const decision =
        rm_owner_memory(segment->owner, segment->application[application].stream[0]);
    return atomic_load_explicit(&decision->head, memory_order_relaxed); // our own
}

void rm_peer_segment_state(struct rm_peer_segment *segment, uint32_t application, struct rm_peer_offer const *offer,
                           void const *bytes) {
    struct rm_state *const state = segment->application[application].state;
    if (state == NULL || offer->bytes > segment->application[application].state_capacity)
        return;
    memcpy(rm_state_begin(state), bytes, offer->bytes);
    rm_state_commit(
        state, &(struct rm_state_reading){
                   .turn = offer->turn, .steps = offer->steps, .bytes = offer->bytes, .checksum = offer->checksum});
}

static void number_show(struct rm_peer_segment *segment, enum rm_peer_parameter index, double value,
                        struct rm_stamp stamp) {
    if (segment->shown[index] == value)
        return;
    segment->shown[index] = value;
    rm_parameter_write_f64(segment->parameter[index], value, stamp);
}

static void why_show(struct rm_peer_segment *segment, struct rm_peer_link const *link, uint64_t now_ns,
                     struct rm_stamp stamp) {
    char why[RM_PEER_WHY_BYTES];
    memset(why, 0, sizeof why);
    rm_peer_link_why(link, now_ns, why);
    if (strcmp(why, segment->why_shown) != 0) {
        memcpy(segment->why_shown, why, sizeof why);
        rm_parameter_write(segment->why, why, sizeof why, stamp);
    }
    /* What comes and goes on a starved host is no hundred lines. */
    if (strcmp(why, segment->why_said) == 0 || (segment->said_ns != 0 && now_ns - segment->said_ns < SAY_NS))
        return;
    memcpy(segment->why_said, why, sizeof why);
    segment->said_ns = now_ns;
    fprintf(stderr, "ringmaster-standby: %s\n", why[0] == '\0' ? "the pair has a standby that could take over" : why);
}

static void followed_show(struct rm_peer_segment *segment, struct rm_peer_link const *link, struct rm_stamp stamp) {
    for (uint32_t i = 0; i < link->setup.application_count; ++i) {
        rm_turn const followed =
            link->status_ns != 0 && i < link->status.count ? link->status.progress[i].followed : RM_TURN_NONE;
        if (segment->application[i].shown == followed)
            continue;
        segment->application[i].shown = followed;
        int64_t const turn = followed < RM_TURN_END ? (int64_t)followed : -1;
        rm_parameter_write(segment->application[i].followed, &turn, sizeof turn, stamp);
    }
}

void rm_peer_segment_show(struct rm_peer_segment *segment, struct rm_peer_link const *link) {
    rm_standby_orders_publish(segment->orders, &link->orders);
    followed_show(segment, link, rm_stamp_now());
}

void rm_peer_segment_show_people(struct rm_peer_segment *segment, struct rm_peer_link const *link, uint64_t differences,
                                 uint64_t now_ns) {
    for (unsigned i = 0; i < RM_LINK_COUNTERS; ++i)
        rm_counter_set(segment->counters, i, link->counter[i]);
    struct rm_stamp const stamp = rm_stamp_now();
    int const own = link->has_server ? (int)link->state.role : -1, peer = rm_peer_link_role(link, now_ns);
    bool const ready = !link->orders.planned_only && ((own == RM_STANDBY_ACTIVE && peer == RM_STANDBY_READY) ||
                                                      (own == RM_STANDBY_READY && peer == RM_STANDBY_ACTIVE));
    number_show(segment, RM_PEER_PARAMETER_ROLE, own, stamp);
    number_show(segment, RM_PEER_PARAMETER_PEER_ROLE, peer, stamp);
    number_show(segment, RM_PEER_PARAMETER_READY, ready, stamp);
    number_show(segment, RM_PEER_PARAMETER_TERM, (double)link->state.term, stamp);
    number_show(segment, RM_PEER_PARAMETER_PEER_TERM, (double)link->status.term, stamp);
    number_show(segment, RM_PEER_PARAMETER_LAG, (double)rm_peer_link_lag(link), stamp);
    number_show(segment, RM_PEER_PARAMETER_DIFFERENCES, (double)differences, stamp);
    number_show(segment, RM_PEER_PARAMETER_ROUND_TRIP, (double)link->round_trip_ns * 1e-9, stamp);
    number_show(segment, RM_PEER_PARAMETER_ACKNOWLEDGE, (double)link->acknowledged, stamp);
    why_show(segment, link, now_ns, stamp);
}
