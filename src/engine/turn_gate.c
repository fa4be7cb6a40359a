// SPDX-License-Identifier: Apache-2.0
#include "engine/turn_gate.h"

#include "base/timebase.h"

static double const LIVE_SECONDS = 1.0;  /**< an instrument that sent within this time counts for the quorum */
static double const LOST_SECONDS = 0.25; /**< after this time without a believed arrival the clock steps */

void rm_turn_gate_init(struct rm_turn_gate *gate, struct rm_gate_config const *config, rm_counter *counters) {
    *gate = (struct rm_turn_gate){.config = *config, .counters = counters};
    rm_turn_clock_init(&gate->clock, config->turn_rate_hz, config->tsc_hz);
}

static rm_turn held(struct rm_turn_gate const *gate, rm_turn predicted) {
    rm_turn const last = gate->newest + gate->config.silence_turns / 2;
    return predicted < last ? predicted : last;
}

rm_turn rm_turn_gate_now(struct rm_turn_gate const *gate, uint64_t tsc) {
    return held(gate, rm_turn_clock_predict(&gate->clock, tsc));
}

void rm_turn_gate_burst(struct rm_turn_gate *gate, uint64_t tsc) {
    if (!gate->clock.anchored)
        return;
    rm_turn const predicted = rm_turn_clock_predict(&gate->clock, tsc);
    rm_turn const now = held(gate, predicted);
    gate->lowest = now > gate->config.silence_turns ? now - gate->config.silence_turns : 0;
    gate->span = predicted + gate->config.ahead_turns - gate->lowest;
    gate->observable = predicted + RM_TURN_CLOCK_CAPTURE;
}

static void anchor(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc) {
    rm_turn_clock_step(&gate->clock, turn, tsc);
    gate->newest = turn;
    rm_counter_add(gate->counters, RM_CLOCK_ANCHORS, 1);
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_VOTES, 0);
    rm_turn_gate_burst(gate, tsc);
}

void rm_turn_gate_first(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc) {
    if (!gate->clock.anchored)
        anchor(gate, turn, tsc);
}

static uint64_t distance(rm_turn a, rm_turn b) { return a > b ? a - b : b - a; }

bool rm_turn_gate_refused(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc, struct rm_gate_vote *mine,
                          struct rm_gate_vote *const *votes, uint32_t count) {
    uint64_t const agreement = gate->config.ahead_turns;
    mine->run = mine->run > 0 && distance(turn, mine->turn) <= agreement ? mine->run + 1 : 1;
    mine->turn = turn;
    if (mine->run % RM_GATE_VOTE_RUN != 0)
        return false;
    uint64_t const live_ticks = (uint64_t)(LIVE_SECONDS * gate->config.tsc_hz);
    uint32_t live = 0, agree = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (votes[i]->seen_tsc == 0 || tsc - votes[i]->seen_tsc > live_ticks)
            continue;
        ++live;
        agree += votes[i]->run >= RM_GATE_VOTE_RUN && distance(votes[i]->turn, turn) <= agreement;
    }
    uint32_t const needed = gate->config.quorum != 0 ? gate->config.quorum : live / 2 + 1;
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_VOTES, agree);
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_NEEDED, needed);
    if (agree < needed)
        return false;
    ++gate->machine_epoch;
    anchor(gate, turn, tsc);
    for (uint32_t i = 0; i < count; ++i)
        votes[i]->run = 0;
    return true;
}

bool rm_turn_gate_observe(struct rm_turn_gate *gate, rm_turn newest, uint64_t tsc) {
    if (newest > gate->newest)
        gate->newest = newest;
    bool const closed = rm_turn_clock_observe(&gate->clock, newest, tsc);
    if (closed && (double)(tsc - gate->clock.believed_tsc) > LOST_SECONDS * gate->config.tsc_hz)
        rm_turn_clock_step(&gate->clock, newest, tsc);
    return closed;
}

void rm_turn_gate_reading(struct rm_turn_gate const *gate, struct rm_clock_reading *reading) {
    *reading = (struct rm_clock_reading){
        .anchored = gate->clock.anchored,
        .machine_epoch = gate->machine_epoch,
        .turn = gate->clock.turn,
        .turn_tsc = gate->clock.tsc,
        .ticks_per_turn = gate->clock.ticks_per_turn,
        .residual_ticks = gate->clock.residual_ticks,
        .tsc_hz = gate->config.tsc_hz,
        .tai_tsc = rm_tsc(),
        .tai_ns = rm_tai_ns(),
    };
}
