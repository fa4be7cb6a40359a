// SPDX-License-Identifier: Apache-2.0
/** The turn gate's edges. One turn is 1000 ticks, one second a million turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/turn_gate.h"

enum { VOTES = 8, TICKS_PER_TURN = 1000, AHEAD = 2048, SILENCE = 1 << 18 };

static uint64_t const TSC = 1ull << 40;
static uint64_t const SECOND = 1000000000;
static rm_turn const START = 50000000;

struct bench {
    struct rm_turn_gate gate;
    rm_counter counters[RM_CLOCK_COUNTERS];
    struct rm_gate_vote vote[VOTES];
    struct rm_gate_vote *votes[VOTES];
};

/** Anchored at `turn`; all instruments have sent it. */
static void begin(struct bench *bench, rm_turn turn, uint32_t quorum) {
    memset(bench, 0, sizeof *bench);
    struct rm_gate_config const config = {
        .turn_rate_hz = 1e6,
        .tsc_hz = 1e9,
        .ahead_turns = AHEAD,
        .silence_turns = SILENCE,
        .quorum = quorum,
    };
    rm_turn_gate_init(&bench->gate, &config, bench->counters);
    rm_turn_gate_burst(&bench->gate, TSC);
    rm_turn_gate_first(&bench->gate, turn, TSC);
    for (int i = 0; i < VOTES; ++i) {
        bench->votes[i] = &bench->vote[i];
        bench->vote[i].seen_tsc = TSC;
        rm_gate_vote_accepted(&bench->vote[i], turn);
    }
}

static enum rm_gate_outcome refuse(struct bench *bench, uint32_t index, rm_turn turn, uint64_t tsc) {
    bench->vote[index].seen_tsc = tsc;
    return rm_turn_gate_refused(&bench->gate, turn, tsc, &bench->vote[index], bench->votes, VOTES);
}

/** A whole vote; returns what its last refusal came to, those before being refusals only. */
static enum rm_gate_outcome vote(struct bench *bench, uint32_t index, rm_turn turn, uint64_t tsc) {
    for (int i = 1; i < RM_GATE_VOTE_RUN; ++i)
        assert_int_equal(refuse(bench, index, turn, tsc), RM_GATE_REFUSED);
    return refuse(bench, index, turn, tsc);
}

static void expect_window(struct rm_turn_gate const *gate, rm_turn lowest, rm_turn highest) {
    assert_true(rm_turn_gate_accepts(gate, lowest, 1));
    assert_true(rm_turn_gate_accepts(gate, highest, 1));
    assert_false(rm_turn_gate_accepts(gate, lowest - 1, 1));
    assert_false(rm_turn_gate_accepts(gate, highest + 1, 1));
}

static void nothing_is_accepted_before_the_first(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    struct rm_turn_gate gate;
    rm_turn_gate_init(&gate, &bench.gate.config, bench.counters);
    rm_turn_gate_burst(&gate, TSC);
    assert_false(gate.clock.anchored);
    assert_false(rm_turn_gate_accepts(&gate, START, 1));
    struct rm_clock_reading reading;
    rm_turn_gate_reading(&gate, &reading);
    assert_false(reading.anchored);
}

static void the_window_has_exact_edges(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    expect_window(&bench.gate, START - SILENCE, START + AHEAD);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_ANCHORS), 1);
    rm_turn_gate_first(&bench.gate, 7, TSC); /* only the first anchors */
    expect_window(&bench.gate, START - SILENCE, START + AHEAD);
    rm_turn_gate_burst(&bench.gate, TSC + 100 * TICKS_PER_TURN);
    expect_window(&bench.gate, START + 100 - SILENCE, START + 100 + AHEAD);

    begin(&bench, SILENCE - 1, 0);
    assert_true(rm_turn_gate_accepts(&bench.gate, 0, 1));
    assert_false(rm_turn_gate_accepts(&bench.gate, RM_TURN_NONE, 1));
    begin(&bench, RM_TURN_END - 1, 0);
    expect_window(&bench.gate, RM_TURN_END - 1 - SILENCE, RM_TURN_END - 1 + AHEAD);
}

static void in_silence_the_window_grows_upwards(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    uint64_t const silence = 3 * SECOND;
    rm_turn_gate_burst(&bench.gate, TSC + silence);
    expect_window(&bench.gate, START + SILENCE / 2 - SILENCE, START + silence / TICKS_PER_TURN + AHEAD);
    assert_int_equal(rm_turn_gate_now(&bench.gate, TSC + silence), START + SILENCE / 2);
    begin(&bench, 5, 0);
    rm_turn_gate_burst(&bench.gate, TSC + silence);
    assert_true(rm_turn_gate_accepts(&bench.gate, 0, 1));
}

static void a_vote_takes_sixteen_turns_that_agree(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 1);
    for (int i = 0; i < 100; ++i) /* never two that agree */
        assert_int_equal(refuse(&bench, 0, (uint64_t)i * (AHEAD + 1), TSC), RM_GATE_REFUSED);
    assert_int_equal(bench.vote[0].run, 1);
    rm_turn const last = 99 * (AHEAD + 1);
    for (uint64_t i = 1; i < RM_GATE_VOTE_RUN - 1; ++i)
        assert_int_equal(refuse(&bench, 0, last + i * AHEAD, TSC), RM_GATE_REFUSED);
    assert_int_equal(refuse(&bench, 0, last + 15 * AHEAD, TSC), RM_GATE_RESTARTED);
    assert_int_equal(bench.gate.turn_epoch, 1);
    expect_window(&bench.gate, 0 + 0, last + 15 * AHEAD + AHEAD);
}

static void an_accepted_turn_ends_the_vote(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 1);
    for (int i = 1; i < RM_GATE_VOTE_RUN; ++i)
        assert_int_equal(refuse(&bench, 0, 5, TSC), RM_GATE_REFUSED);
    rm_gate_vote_accepted(&bench.vote[0], START + 1);
    assert_int_equal(refuse(&bench, 0, 5, TSC), RM_GATE_REFUSED);
}

static void a_quorum_is_more_than_half(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    for (uint32_t i = 0; i < VOTES / 2; ++i)
        assert_int_equal(vote(&bench, i, 5, TSC), RM_GATE_REFUSED);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_QUORUM_VOTES), VOTES / 2);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_QUORUM_NEEDED), VOTES / 2 + 1);
    /* Votes are counted once in sixteen refusals: an instrument that is refused for ever costs little. */
    rm_counter_set(bench.counters, RM_CLOCK_QUORUM_NEEDED, 0);
    for (int i = 1; i < RM_GATE_VOTE_RUN; ++i)
        refuse(&bench, 0, 5, TSC);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_QUORUM_NEEDED), 0);
    refuse(&bench, 0, 5, TSC);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_QUORUM_NEEDED), VOTES / 2 + 1);
    /* One that wants something else is no help, and one that agrees within the window is. */
    assert_int_equal(vote(&bench, VOTES - 1, 5 + AHEAD + 1, TSC), RM_GATE_REFUSED);
    assert_int_equal(vote(&bench, VOTES - 2, 5 + AHEAD, TSC), RM_GATE_RESTARTED);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_QUORUM_VOTES), 0);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_ANCHORS), 2);
    for (int i = 0; i < VOTES; ++i) {
        assert_int_equal(bench.vote[i].run, 0);
        assert_false(bench.vote[i].known);
    }
    assert_int_equal(bench.gate.newest, 5 + AHEAD);
    expect_window(&bench.gate, 0, 5 + 2 * AHEAD);
}

static void the_silent_have_no_vote(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    assert_int_equal(vote(&bench, 0, 5, TSC), RM_GATE_REFUSED);
    /* A second and a tick later only two are left: instrument 0, whose vote is stale with it, is none of them. */
    uint64_t const later = TSC + SECOND + 1;
    assert_int_equal(refuse(&bench, 1, 5, later), RM_GATE_REFUSED);
    bench.vote[2].seen_tsc = later;
    for (int i = 2; i < RM_GATE_VOTE_RUN; ++i)
        assert_int_equal(refuse(&bench, 1, 5, later), RM_GATE_REFUSED);
    assert_int_equal(refuse(&bench, 1, 5, later), RM_GATE_REFUSED);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_QUORUM_NEEDED), 2);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_QUORUM_VOTES), 1);
    assert_int_equal(vote(&bench, 2, 5, later), RM_GATE_RESTARTED);
}

static void an_outage_is_no_restart(void **state) {
    (void)state;
    uint64_t const outage = 60 * 1000000;
    struct bench bench;
    begin(&bench, START, 2);
    assert_int_equal(vote(&bench, 0, START + outage, TSC), RM_GATE_REFUSED);
    assert_int_equal(vote(&bench, 1, START + outage, TSC), RM_GATE_STEPPED);
    assert_int_equal(bench.gate.turn_epoch, 0);
    expect_window(&bench.gate, START + outage - SILENCE, START + outage + AHEAD);

    begin(&bench, START, 2); /* a turn more than a minute */
    vote(&bench, 0, START + outage + 1, TSC);
    assert_int_equal(vote(&bench, 1, START + outage + 1, TSC), RM_GATE_RESTARTED);
    begin(&bench, START, 2); /* backwards */
    vote(&bench, 0, START - SILENCE - 1, TSC);
    assert_int_equal(vote(&bench, 1, START - SILENCE - 1, TSC), RM_GATE_RESTARTED);
    begin(&bench, START, 2); /* the clock was anchored by another role */
    bench.vote[1].known = false;
    vote(&bench, 0, START + 10000, TSC);
    assert_int_equal(vote(&bench, 1, START + 10000, TSC), RM_GATE_RESTARTED);
    assert_int_equal(bench.gate.turn_epoch, 1);
}

/** Instrument `index` sends `turn`, which is accepted. */
static void accept(struct bench *bench, uint32_t index, rm_turn turn, uint64_t tsc) {
    bench->vote[index].seen_tsc = tsc;
    rm_gate_vote_accepted(&bench->vote[index], turn);
}

static enum rm_gate_outcome early(struct bench *bench, uint64_t tsc) {
    return rm_turn_gate_early(&bench->gate, tsc, bench->votes, VOTES);
}

static void a_majority_of_early_turns_steps_the_clock(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    rm_turn const ahead = START + RM_TURN_CLOCK_CAPTURE + 1;
    assert_int_equal(bench.gate.observable, ahead - 1);
    for (uint32_t i = 0; i < VOTES / 2; ++i)
        accept(&bench, i, ahead + 3, TSC);
    accept(&bench, VOTES - 1, ahead - 1, TSC);
    assert_int_equal(early(&bench, TSC), RM_GATE_REFUSED);
    assert_int_equal(rm_turn_gate_now(&bench.gate, TSC), START);
    assert_int_equal(bench.gate.newest, START);
    accept(&bench, VOTES - 1, ahead, TSC);
    assert_int_equal(early(&bench, TSC), RM_GATE_STEPPED);
    assert_int_equal(rm_turn_gate_now(&bench.gate, TSC), ahead); /* what more than half have reached */
    assert_int_equal(bench.gate.newest, ahead);
    assert_int_equal(bench.gate.turn_epoch, 0);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_ANCHORS), 1); /* none was refused */
}

/** One refusal each is enough; those that have not spoken since are not asked. */
/** A ring that waits for its loop sends a whole cycle at once: no turn of it is early, or the rate is never measured. */
static void a_clock_that_follows_takes_whole_cycles(void **state) {
    (void)state;
    enum { CYCLE_TURNS = 4 * RM_TURN_CLOCK_CAPTURE, SLOWER = 3 };
    struct bench bench;
    begin(&bench, START, 0);
    bench.gate.config.follows = true;
    rm_turn_gate_init(&bench.gate, &bench.gate.config, bench.counters);
    rm_turn_gate_first(&bench.gate, START, TSC);
    uint64_t tsc = TSC;
    for (rm_turn turn = START + CYCLE_TURNS; turn < START + SECOND / TICKS_PER_TURN; turn += CYCLE_TURNS) {
        tsc += SLOWER * CYCLE_TURNS * TICKS_PER_TURN;
        rm_turn_gate_burst(&bench.gate, tsc);
        assert_true(rm_turn_gate_accepts(&bench.gate, turn, 1));
        assert_true(turn <= bench.gate.observable);
        rm_turn_gate_observe(&bench.gate, turn, tsc);
        assert_int_equal(rm_turn_gate_now(&bench.gate, tsc), turn);
    }
    assert_float_equal(bench.gate.clock.ticks_per_turn, SLOWER * TICKS_PER_TURN, TICKS_PER_TURN / 10.0);
}

static void those_that_have_spoken_step_the_clock(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    uint64_t const later = TSC + 100 * TICKS_PER_TURN;
    rm_turn_gate_burst(&bench.gate, later);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(refuse(&bench, i, START + 20000, later), RM_GATE_REFUSED);
        assert_int_equal(early(&bench, later), RM_GATE_REFUSED); /* two of eight are few */
    }
    assert_int_equal(refuse(&bench, 2, START + 20001, later), RM_GATE_REFUSED);
    assert_int_equal(early(&bench, later), RM_GATE_STEPPED);
    expect_window(&bench.gate, START + 20000 - SILENCE, START + 20000 + AHEAD);
    assert_int_equal(bench.gate.turn_epoch, 0);
    assert_int_equal(rm_counter_get(bench.counters, RM_CLOCK_ANCHORS), 2);
}

/** More than a minute away it takes the votes; and so it does where nothing was accepted before. */
static void a_leap_out_of_the_world_takes_a_vote(void **state) {
    (void)state;
    struct bench bench;
    for (int k = 0; k < 2; ++k) {
        begin(&bench, START, 0);
        for (uint32_t i = 0; i < VOTES; ++i) {
            bench.vote[i].known = k == 0;
            refuse(&bench, i, START + (k == 0 ? 60 * 1000000 + 1 : 20000), TSC);
        }
        assert_int_equal(early(&bench, TSC), RM_GATE_REFUSED);
        assert_int_equal(rm_turn_gate_now(&bench.gate, TSC), START);
    }
}

static void a_liar_is_suspect_once_the_others_have_spoken(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    uint64_t const first = TSC + 10 * TICKS_PER_TURN, second = TSC + 11 * TICKS_PER_TURN;
    refuse(&bench, 0, START + 20000, first);
    assert_int_equal(early(&bench, first), RM_GATE_REFUSED);
    assert_false(bench.vote[0].suspect);
    for (uint32_t i = 1; i < 4; ++i)
        accept(&bench, i, START + 11, second);
    refuse(&bench, 0, START + 20001, second);
    assert_int_equal(early(&bench, second), RM_GATE_REFUSED);
    assert_true(bench.vote[0].suspect);
    assert_int_equal(rm_turn_gate_now(&bench.gate, second), START + 11);
    /* Back among the others it is heard again. */
    for (uint32_t i = 0; i < VOTES; ++i)
        accept(&bench, i, START + 12, TSC + 12 * TICKS_PER_TURN);
    rm_turn_gate_review(&bench.gate, TSC + 12 * TICKS_PER_TURN, bench.votes, VOTES);
    assert_false(bench.vote[0].suspect);
}

static void half_and_half_change_nothing(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    for (uint64_t burst = 1; burst < 5; ++burst) {
        uint64_t const tsc = TSC + burst * TICKS_PER_TURN;
        rm_turn_gate_burst(&bench.gate, tsc);
        for (uint32_t i = 0; i < VOTES; ++i)
            accept(&bench, i, START + burst + (i < VOTES / 2 ? 1000 : 0), tsc);
        assert_int_equal(early(&bench, tsc), RM_GATE_REFUSED);
        rm_turn_gate_review(&bench.gate, tsc, bench.votes, VOTES);
        assert_int_equal(rm_turn_gate_now(&bench.gate, tsc), START + burst);
        for (uint32_t i = 0; i < VOTES; ++i)
            assert_false(bench.vote[i].outlier);
    }
}

/** How a review of these leads ends: a bit for each outlier. */
static uint32_t outliers(int64_t const *phase_errors, uint32_t count) {
    struct bench bench;
    begin(&bench, START, 0);
    for (uint32_t i = 0; i < count; ++i)
        accept(&bench, i, START + (uint64_t)phase_errors[i], TSC);
    rm_turn_gate_review(&bench.gate, TSC, bench.votes, count);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < count; ++i)
        bits |= (uint32_t)bench.vote[i].outlier << i;
    return bits;
}

static void who_leads_more_than_half_is_not_heard(void **state) {
    (void)state;
    assert_int_equal(outliers((int64_t[]){2000}, 1), 0);
    assert_int_equal(outliers((int64_t[]){0, 2000}, 2), 0);
    assert_int_equal(outliers((int64_t[]){2000, -200000}, 2), 0);
    assert_int_equal(outliers((int64_t[]){0, 2000, 0}, 3), 2);
    assert_int_equal(outliers((int64_t[]){0, RM_GATE_FAR, 0}, 3), 0);
    assert_int_equal(outliers((int64_t[]){0, RM_GATE_FAR + 1, 0}, 3), 2);
    assert_int_equal(outliers((int64_t[]){0, -200000, 0}, 3), 0); /* to be late is natural */
    assert_int_equal(outliers((int64_t[]){-20000, -20000, 0}, 3), 4);
    assert_int_equal(outliers((int64_t[]){-20000, -20000, 0, 0}, 4), 0);
    assert_int_equal(outliers((int64_t[]){0, 0, 2000, 2000, 5}, 5), 12);
}

/** One has taken the clock 1000 turns along since the last review; or it spoke before a stall, and the others after. */
static void who_moved_the_clock_has_it_moved_back(void **state) {
    (void)state;
    for (uint64_t before = 0; before < 2; ++before) {
        struct bench bench;
        begin(&bench, START, 0);
        accept(&bench, 0, START, TSC);
        uint64_t const later = TSC + before * 20000 * TICKS_PER_TURN;
        for (uint32_t i = 1; i < VOTES; ++i)
            accept(&bench, i, START - 1000, later);
        rm_turn_gate_review(&bench.gate, later, bench.votes, VOTES);
        assert_true(bench.vote[0].outlier);
        assert_int_equal(rm_turn_gate_now(&bench.gate, later), before ? START + 20000 : START - 1000);
    }
}

static void those_that_have_not_spoken_are_not_counted(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    rm_turn_gate_review(&bench.gate, TSC, bench.votes, VOTES);
    uint64_t const later = TSC + 5000 * TICKS_PER_TURN;
    accept(&bench, 0, START + 7000, later);
    for (uint32_t i = 1; i < VOTES / 2; ++i)
        accept(&bench, i, START + 5000, later);
    rm_turn_gate_review(&bench.gate, later, bench.votes, VOTES);
    assert_false(bench.vote[0].outlier); /* half of those that send are not more than half */
    accept(&bench, VOTES / 2, START + 5000, later);
    rm_turn_gate_review(&bench.gate, later, bench.votes, VOTES);
    assert_true(bench.vote[0].outlier);
}

static void the_lost_clock_steps_to_the_median(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    uint64_t tsc = TSC;
    rm_turn turn = START;
    for (; turn < START + 40000; ++turn, tsc += TICKS_PER_TURN)
        rm_turn_gate_observe(&bench.gate, turn, tsc);
    /* From here on everything is 1000 turns late, and one still more; after a quarter of a second that is the truth. */
    tsc += 1000 * TICKS_PER_TURN;
    for (int i = 0; i < 270000; ++i, ++turn, tsc += TICKS_PER_TURN) {
        for (uint32_t k = 0; k < VOTES; ++k)
            accept(&bench, k, turn - (k == 0 ? 100000 : 0), tsc);
        rm_turn_gate_observe(&bench.gate, turn, tsc);
        if (i % 10000 == 0)
            rm_turn_gate_review(&bench.gate, tsc, bench.votes, VOTES);
        if (i == 240000)
            assert_in_range(rm_turn_gate_now(&bench.gate, tsc), turn + 999, turn + 1001);
    }
    assert_in_range(rm_turn_gate_now(&bench.gate, tsc), turn - 1, turn + 1);
}

static void the_newest_turn_never_falls(void **state) {
    (void)state;
    struct bench bench;
    begin(&bench, START, 0);
    rm_turn_gate_observe(&bench.gate, START + 10, TSC + 10 * TICKS_PER_TURN);
    rm_turn_gate_observe(&bench.gate, START + 3, TSC + 11 * TICKS_PER_TURN);
    assert_int_equal(bench.gate.newest, START + 10);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(nothing_is_accepted_before_the_first),
        cmocka_unit_test(the_window_has_exact_edges),
        cmocka_unit_test(in_silence_the_window_grows_upwards),
        cmocka_unit_test(a_vote_takes_sixteen_turns_that_agree),
        cmocka_unit_test(an_accepted_turn_ends_the_vote),
        cmocka_unit_test(a_quorum_is_more_than_half),
        cmocka_unit_test(the_silent_have_no_vote),
        cmocka_unit_test(an_outage_is_no_restart),
        cmocka_unit_test(a_majority_of_early_turns_steps_the_clock),
        cmocka_unit_test(a_clock_that_follows_takes_whole_cycles),
        cmocka_unit_test(those_that_have_spoken_step_the_clock),
        cmocka_unit_test(a_leap_out_of_the_world_takes_a_vote),
        cmocka_unit_test(a_liar_is_suspect_once_the_others_have_spoken),
        cmocka_unit_test(half_and_half_change_nothing),
        cmocka_unit_test(who_leads_more_than_half_is_not_heard),
        cmocka_unit_test(who_moved_the_clock_has_it_moved_back),
        cmocka_unit_test(those_that_have_not_spoken_are_not_counted),
        cmocka_unit_test(the_lost_clock_steps_to_the_median),
        cmocka_unit_test(the_newest_turn_never_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
