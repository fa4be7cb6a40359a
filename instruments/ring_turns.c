// SPDX-License-Identifier: Apache-2.0
#include "ring_turns.h"

#include "event_targets.h"
#include "responses.h"

enum rm_code rm_ring_turns_make(struct rm_ring_config const *ring, struct rm_event_schedule *schedule,
                                struct rm_beam *beam, struct rm_machine_lanes *lanes, struct rm_ring_turns *turns,
                                struct rm_error *error) {
    *turns = (struct rm_ring_turns){.ring = ring, .schedule = schedule, .beam = beam, .lanes = lanes};
    schedule->apply = rm_event_targets_apply;
    schedule->state = turns;
    return rm_bad_readings_make(ring, &turns->bad, error);
}

void rm_ring_turns_free(struct rm_ring_turns *turns) { rm_bad_readings_free(&turns->bad); }

static bool has_machine(struct rm_ring_turns const *turns) {
    return turns->lanes != NULL && turns->lanes->machine != NULL;
}

/** The next turn at which something happens, at most `index`. */
static uint64_t next_stop(struct rm_ring_turns const *turns, uint64_t index) {
    rm_turn const event = turns->schedule->next;
    uint64_t stop = index;
    if (event < turns->ring->first_turn)
        return turns->next;
    if (event != RM_TURN_NONE && event - turns->ring->first_turn < stop)
        stop = event - turns->ring->first_turn;
    return stop < turns->next ? turns->next : stop;
}

/** Events happen between the turn before and theirs. */
static void make_turns_until(struct rm_ring_turns *turns, uint64_t stop) {
    rm_turn const turn = turns->ring->first_turn + stop;
    bool const happens = rm_event_schedule_waits(turns->schedule, turn);
    if (happens && has_machine(turns) && stop > turns->next)
        rm_machine_lanes_advance(turns->lanes, stop - 1);
    if (happens)
        rm_event_schedule_serve(turns->schedule, turn);
    if (has_machine(turns))
        rm_machine_lanes_advance(turns->lanes, stop);
    turns->next = stop + 1;
}

void rm_ring_turns_reach(struct rm_ring_turns *turns, uint64_t index) {
    while (turns->next <= index)
        make_turns_until(turns, next_stop(turns, index));
}

static union rm_lane const *read_good(struct rm_ring_turns *turns, uint32_t first, uint32_t count) {
    struct rm_ring_turns_supplies const *supplies = &turns->supplies;
    uint64_t const index = turns->index;
    union rm_lane const *lanes = rm_beam_turn(turns->beam, turns->ring->first_turn + index, first, count);
    if (supplies->chains != NULL && turns->ring->supplies.response_count != 0)
        rm_responses_add_at(supplies->chains, turns->beam, supplies->reach(supplies->state, index), first, count);
    if (has_machine(turns))
        rm_machine_lanes_add(turns->lanes, turns->beam, lanes, first, count);
    rm_readouts_apply(turns->readouts, turns->beam, lanes, turns->ring->first_turn + index, first, count);
    return lanes;
}

static union rm_lane const *read_one(void *state, uint32_t instrument) { return read_good(state, instrument, 1); }

union rm_lane const *rm_ring_turns_read(struct rm_ring_turns *turns, uint64_t index, uint32_t first, uint32_t count) {
    struct rm_bad_readings_source const source = {read_one, turns};
    rm_ring_turns_reach(turns, index);
    turns->index = index;
    return rm_bad_readings_send(&turns->bad, turns->ring->first_turn + index, first, count,
                                read_good(turns, first, count), &source);
}
