// SPDX-License-Identifier: Apache-2.0
/** The turn gate at the ends of what turns there are: whatever it is told, none of its sums overflows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/turn_gate.h"

enum { VOTES = 3, AHEAD = 2048, SILENCE = 1 << 18 };

static uint64_t const TSC = 1ull << 40;
static uint64_t const STEP_TICKS = 1000000; // 1000 turns

struct bench {
    struct rm_turn_gate gate;
    rm_counter counters[RM_CLOCK_COUNTERS];
    struct rm_gate_vote vote[VOTES];
    struct rm_gate_vote *votes[VOTES];
    uint64_t random;
};

static uint64_t next_random(struct bench *bench) {
    bench->random = bench->random * 6364136223846793005ull + 1442695040888963407ull;
    return bench->random >> 16;
}

static void begin(struct bench *bench, rm_turn turn, uint64_t seed) {
    *bench = (struct bench){.random = seed};
    struct rm_gate_config const config = {
        .turn_rate_hz = 1e6,
        .tsc_hz = 1e9,
        .ahead_turns = AHEAD,
        .silence_turns = SILENCE,
    };
    rm_turn_gate_init(&bench->gate, &config, bench->counters);
    rm_turn_gate_first(&bench->gate, turn, TSC);
    for (int i = 0; i < VOTES; ++i)
        bench->votes[i] = &bench->vote[i];
}

/** Near an end, or near what is due. */
static rm_turn any_turn(struct bench *bench) {
    uint64_t const away = next_random(bench) % 4096;
    switch (next_random(bench) % 4) {
    case 0:
        return away;
    case 1:
        return RM_TURN_END - 1 - away;
    case 2:
        return RM_TURN_END / 2 + away;
    default:
        return bench->gate.due + away < RM_TURN_END ? bench->gate.due + away : RM_TURN_END - 1;
    }
}

static void tell(struct bench *bench, struct rm_gate_vote *vote, rm_turn turn, uint64_t tsc) {
    vote->seen_tsc = tsc;
    if (!rm_turn_gate_accepts(&bench->gate, turn, 1)) {
        uint64_t const runs = next_random(bench) % (2 * RM_GATE_VOTE_RUN);
        for (uint64_t i = 0; i < runs; ++i)
            rm_turn_gate_refused(&bench->gate, turn, tsc, vote, bench->votes, VOTES);
        return;
    }
    rm_gate_vote_accepted(vote, turn);
    if (turn <= bench->gate.observable)
        rm_turn_gate_observe(&bench->gate, turn, tsc);
    else
        rm_turn_gate_early(&bench->gate, tsc, bench->votes, VOTES);
}

/** In arithmetic that does not overflow. `farthest`: no turn that was told, and no silence, leads further. */
static void expect_no_overflow(struct bench const *bench, uint64_t tsc, rm_turn farthest) {
    struct rm_turn_gate const *const gate = &bench->gate;
    assert_in_range(gate->due, 0, farthest);
    assert_in_range(gate->newest, 0, farthest);
    assert_in_range(gate->lowest, 0, gate->due);
    assert_true((__int128)gate->lowest + gate->span == (__int128)gate->due + AHEAD);
    assert_true((__int128)gate->observable == (__int128)gate->due + RM_TURN_CLOCK_CAPTURE);
    assert_in_range(rm_turn_gate_now(gate, tsc), 0, farthest);
    for (int i = 0; i < VOTES; ++i) {
        int64_t const phase = bench->vote[i].seen_tsc == 0 ? 0 : rm_turn_gate_phase(gate, bench->votes[i]);
        assert_true(phase >= -((int64_t)1 << 40) && phase <= (int64_t)1 << 40);
    }
}

static void whatever_it_is_reported_nothing_overflows(void **state) {
    (void)state;
    rm_turn const starts[] = {0, SILENCE - 1, RM_TURN_END / 2, RM_TURN_END - SILENCE, RM_TURN_END - 1};
    uint64_t anchors = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        struct bench bench;
        begin(&bench, starts[seed % 5], seed);
        uint64_t tsc = TSC;
        for (int i = 0; i < 500; ++i) {
            tsc += next_random(&bench) % 100 == 0 ? 1000 * STEP_TICKS : next_random(&bench) % STEP_TICKS;
            rm_turn_gate_burst(&bench.gate, tsc);
            rm_turn const turn = any_turn(&bench);
            uint64_t const speakers = next_random(&bench) % 4 == 0 ? 1 : VOTES;
            for (uint64_t j = 0; j < speakers; ++j)
                tell(&bench, &bench.vote[(j + seed) % VOTES], turn, tsc);
            rm_turn_gate_review(&bench.gate, tsc, bench.votes, VOTES);
            rm_turn_gate_burst(&bench.gate, tsc);
            /* The rate is at most 64 times the nominal one. */
            expect_no_overflow(&bench, tsc, RM_TURN_END + 64 * (tsc - TSC) / 1000 + AHEAD);
        }
        anchors += rm_counter_get(bench.counters, RM_CLOCK_ANCHORS);
    }
    assert_in_range(anchors, 1000, UINT64_MAX); // it was led from end to end
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(whatever_it_is_reported_nothing_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
