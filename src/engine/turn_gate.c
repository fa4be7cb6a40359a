// SPDX-License-Identifier: Apache-2.0
#include "engine/turn_gate.h"

#include "base/timebase.h"

static double const LIVE_SECONDS = 1.0;    /**< an instrument that sent within this time counts for the quorum */
static double const LOST_SECONDS = 0.25;   /**< after this time without a believed arrival the clock steps */
static double const OUTAGE_SECONDS = 60.0; /**< a quorum further ahead than this has not been out, but restarted */

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
    gate->due = predicted;
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

static bool sends(struct rm_turn_gate const *gate, struct rm_gate_vote const *vote, uint64_t tsc) {
    return vote->seen_tsc != 0 && (double)(tsc - vote->seen_tsc) <= LIVE_SECONDS * gate->config.tsc_hz;
}

struct tally {
    uint32_t live;   /**< instruments that send */
    uint32_t agree;  /**< those of them that vote for the turn */
    uint32_t onward; /**< those of the latter that sent turns not far below it before */
};

static struct tally count_votes(struct rm_turn_gate const *gate, rm_turn turn, uint64_t tsc,
                                struct rm_gate_vote *const *votes, uint32_t count) {
    uint64_t const outage_turns = (uint64_t)(OUTAGE_SECONDS * gate->config.turn_rate_hz);
    struct tally tally = {0};
    for (uint32_t i = 0; i < count; ++i) {
        struct rm_gate_vote const *vote = votes[i];
        if (!sends(gate, vote, tsc))
            continue;
        ++tally.live;
        if (vote->run < RM_GATE_VOTE_RUN || distance(vote->turn, turn) > gate->config.ahead_turns)
            continue;
        ++tally.agree;
        tally.onward += vote->known && vote->turn - vote->accepted <= outage_turns;
    }
    return tally;
}

enum rm_gate_outcome rm_turn_gate_refused(struct rm_turn_gate *gate, rm_turn turn, uint64_t tsc,
                                          struct rm_gate_vote *mine, struct rm_gate_vote *const *votes,
                                          uint32_t count) {
    mine->run = mine->run > 0 && distance(turn, mine->turn) <= gate->config.ahead_turns ? mine->run + 1 : 1;
    mine->turn = turn;
    if (mine->run % RM_GATE_VOTE_RUN != 0)
        return RM_GATE_REFUSED;
    struct tally const tally = count_votes(gate, turn, tsc, votes, count);
    uint32_t const needed = gate->config.quorum != 0 ? gate->config.quorum : tally.live / 2 + 1;
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_VOTES, tally.agree);
    rm_counter_set(gate->counters, RM_CLOCK_QUORUM_NEEDED, needed);
    if (tally.agree < needed)
        return RM_GATE_REFUSED;
    anchor(gate, turn, tsc);
    for (uint32_t i = 0; i < count; ++i)
        votes[i]->run = 0;
    if (tally.onward >= needed)
        return RM_GATE_STEPPED;
    ++gate->machine_epoch;
    for (uint32_t i = 0; i < count; ++i)
        votes[i]->known = false;
    return RM_GATE_RESTARTED;
}

void rm_turn_gate_observe(struct rm_turn_gate *gate, rm_turn newest, uint64_t tsc) {
    if (newest > gate->newest)
        gate->newest = newest;
    bool const closed = rm_turn_clock_observe(&gate->clock, newest, tsc);
    if (closed && (double)(tsc - gate->clock.believed_tsc) > LOST_SECONDS * gate->config.tsc_hz)
        rm_turn_clock_step(&gate->clock, newest, tsc);
}

void rm_turn_gate_early(struct rm_turn_gate *gate, rm_turn oldest, uint64_t tsc, struct rm_gate_vote *const *votes,
                        uint32_t count) {
    uint32_t live = 0, early = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bool const counts = sends(gate, votes[i], tsc);
        live += counts;
        early += counts && votes[i]->known && votes[i]->accepted > gate->observable;
    }
    if (early <= live / 2)
        return;
    if (oldest > gate->newest)
        gate->newest = oldest;
    rm_turn_clock_step(&gate->clock, oldest, tsc);
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
