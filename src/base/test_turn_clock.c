// SPDX-License-Identifier: Apache-2.0
/** The turn clock against arrivals made up here, so that the true turn of every TSC is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/turn_clock.h"

static double const TSC_HZ = 2.5e9;
static double const TURN_HZ = 1.157e6;

enum { BURST_TURNS = 4 }; /**< the clock sees one arrival per burst */

static rm_turn const FIRST_TURN = 1000000;
static uint64_t const FIRST_TSC = 1000000000000;

/** A machine: turn T arrives at FIRST_TSC + (T - FIRST_TURN) · ticks_per_turn + delay. */
struct machine {
    double ticks_per_turn;
    double jitter_ticks; /**< delays are spread below this, most of them well above 0 */
    uint64_t seed;
    rm_turn turn; /**< next to arrive */
};

struct test {
    struct rm_turn_clock clock;
    struct machine machine;
};

static double random_part(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

/** The TSC at which `turn` arrives when nothing delays it. */
static uint64_t prompt_tsc(struct machine const *machine, rm_turn turn) {
    return FIRST_TSC + (uint64_t)llrint((double)(turn - FIRST_TURN) * machine->ticks_per_turn);
}

/** One in some hundred arrivals comes at once; the others come up to jitter_ticks later. */
static uint64_t delay(struct machine *machine) {
    return (uint64_t)(machine->jitter_ticks * pow(random_part(&machine->seed), 0.25) * 0.5 +
                      machine->jitter_ticks * random_part(&machine->seed) * 0.5);
}

static void start(struct test *test, double true_turn_hz, double jitter_ticks) {
    test->machine = (struct machine){
        .ticks_per_turn = TSC_HZ / true_turn_hz,
        .jitter_ticks = jitter_ticks,
        .seed = 88172645463325252ull,
        .turn = FIRST_TURN,
    };
    rm_turn_clock_init(&test->clock, TURN_HZ, TSC_HZ);
    assert_false(test->clock.anchored);
    rm_turn_clock_step(&test->clock, FIRST_TURN, FIRST_TSC);
    assert_true(test->clock.anchored);
}

static void run(struct test *test, uint64_t turns) {
    rm_turn const end = test->machine.turn + turns;
    for (; test->machine.turn < end; test->machine.turn += BURST_TURNS) {
        rm_turn const turn = test->machine.turn;
        rm_turn_clock_observe(&test->clock, turn, prompt_tsc(&test->machine, turn) + delay(&test->machine));
    }
}

static uint64_t turns_of(double seconds) { return (uint64_t)(seconds * TURN_HZ); }

/** How far the clock's idea of an undelayed arrival lies from the truth, turns; positive: the clock is late. */
static double phase_error(struct test const *test) {
    rm_turn const turn = test->machine.turn;
    double const ticks = (double)(int64_t)(prompt_tsc(&test->machine, turn) - test->clock.tsc);
    return (double)(turn - test->clock.turn) - ticks * test->clock.turns_per_tick;
}

static double rate_error(struct test const *test) {
    return test->clock.ticks_per_turn / test->machine.ticks_per_turn - 1.0;
}

static void assert_within(double value, double limit) {
    if (!(fabs(value) <= limit))
        fail_msg("%g is not within %g", value, limit);
}

static void assert_on_time(struct test const *test, double turns, double rate) {
    assert_within(phase_error(test), turns);
    assert_within(rate_error(test), rate);
    double const exact = 1.0 / test->clock.ticks_per_turn;
    assert_within(test->clock.turns_per_tick / exact - 1.0, 1e-12);
}

static void test_constant_delay(void **state) {
    (void)state;
    struct test test;
    start(&test, TURN_HZ, 0.0);
    run(&test, turns_of(0.2));
    assert_on_time(&test, 0.01, 1e-9);
    assert_within(test.clock.residual_ticks, 2.0);
    /* In the middle of a turn and at its very beginning, before and after the fit's own point. */
    for (rm_turn turn = FIRST_TURN; turn < test.machine.turn + 1000; turn += 997)
        assert_int_equal(rm_turn_clock_predict(&test.clock, prompt_tsc(&test.machine, turn) + 1000), turn);
}

static void test_before_turn_zero(void **state) {
    (void)state;
    struct rm_turn_clock clock;
    rm_turn_clock_init(&clock, TURN_HZ, TSC_HZ);
    rm_turn_clock_step(&clock, 3, FIRST_TSC);
    assert_int_equal(rm_turn_clock_predict(&clock, FIRST_TSC), 3);
    assert_int_equal(rm_turn_clock_predict(&clock, FIRST_TSC - 100), 2);
    assert_int_equal(rm_turn_clock_predict(&clock, FIRST_TSC - 100 * 2160), 0);
}

/** The fit follows the promptest arrivals, not the mean: half a jitter of ten turns would be seen. */
static void test_jitter(void **state) {
    (void)state;
    struct test test;
    double const turn_ticks = TSC_HZ / TURN_HZ;
    start(&test, TURN_HZ, 10.0 * turn_ticks);
    run(&test, turns_of(0.5));
    for (int i = 0; i < 50; ++i) {
        run(&test, turns_of(0.01));
        assert_on_time(&test, 1.5, 1e-4);
    }
    assert_true(test.clock.residual_ticks < turn_ticks);
}

static void learns(double true_turn_hz) {
    struct test test;
    start(&test, true_turn_hz, 0.5 * TSC_HZ / TURN_HZ);
    run(&test, turns_of(0.1));
    assert_on_time(&test, 1.0, 1e-4);
    run(&test, turns_of(0.5));
    assert_on_time(&test, 0.5, 1e-5);
}

static void test_nominal_rate_off(void **state) {
    (void)state;
    learns(TURN_HZ * (1.0 + 1e-4));
    learns(TURN_HZ * (1.0 - 1e-4));
    learns(TURN_HZ * 1.01);
    learns(TURN_HZ * 0.99);
    learns(TURN_HZ / 10.0);
    learns(TURN_HZ * 2.0);
}

/** So few turns per second that 10 ms of them are no window. */
static void test_low_rate(void **state) {
    (void)state;
    struct test test = {.machine = {.ticks_per_turn = TSC_HZ / 100.0, .seed = 1, .turn = FIRST_TURN}};
    rm_turn_clock_init(&test.clock, 1000.0, TSC_HZ); // nominally ten times faster
    rm_turn_clock_step(&test.clock, FIRST_TURN, FIRST_TSC);
    run(&test, 4000);
    assert_on_time(&test, 0.01, 1e-6);
}

/** An instrument that counts `offset` turns apart shows up in every tenth burst; its claims grow by `drift` each time.
 */
static void run_with_a_wild_one(int64_t offset, int64_t drift) {
    struct test test;
    start(&test, TURN_HZ, 0.5 * TSC_HZ / TURN_HZ);
    run(&test, turns_of(0.2));
    for (int i = 0; i < 20000; ++i) {
        rm_turn const wild = test.machine.turn + (uint64_t)offset;
        rm_turn_clock_observe(&test.clock, wild, prompt_tsc(&test.machine, test.machine.turn));
        offset += drift;
        run(&test, 10 * BURST_TURNS);
        assert_within(phase_error(&test), 1.0);
    }
    assert_on_time(&test, 0.5, 1e-5);
}

static void test_wild_instrument(void **state) {
    (void)state;
    run_with_a_wild_one(2000, 0);
    run_with_a_wild_one(-2000, 0);
    run_with_a_wild_one(50000000, 1);
    run_with_a_wild_one(-900000, -3);
}

/** Once learnt, a clock that saw one wild turn goes on closing windows and following a change of the rate. */
static void test_wild_turn_leaves_it_following(void **state) {
    (void)state;
    struct test test;
    start(&test, TURN_HZ, 0.0);
    run(&test, turns_of(0.2));
    rm_turn_clock_observe(&test.clock, test.machine.turn + 1000000000, prompt_tsc(&test.machine, test.machine.turn));
    rm_turn const before = test.clock.turn;
    run(&test, turns_of(0.05));
    assert_true(test.clock.turn > before + turns_of(0.02));
}

/** The receiver stands still, then works off what waited at `speed` times the turn rate. */
static void stall(struct test *test, double seconds, double speed) {
    rm_turn const first = test->machine.turn;
    uint64_t const resumed = prompt_tsc(&test->machine, first) + (uint64_t)(seconds * TSC_HZ);
    double const step = test->machine.ticks_per_turn / speed;
    for (;; test->machine.turn += BURST_TURNS) {
        rm_turn const turn = test->machine.turn;
        uint64_t const at = resumed + (uint64_t)((double)(turn - first) * step);
        if (at <= prompt_tsc(&test->machine, turn))
            return;
        rm_turn_clock_observe(&test->clock, turn, at);
        assert_within(phase_error(test), 1.0);
    }
}

static void test_stall_with_catch_up(void **state) {
    (void)state;
    double const seconds[] = {50e-6, 200e-6, 1e-3, 5e-3, 50e-3};
    double const speed[] = {1.3, 3.0, 20.0};
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0] * 3; ++i) {
        struct test test;
        start(&test, TURN_HZ, 0.2 * TSC_HZ / TURN_HZ);
        run(&test, turns_of(0.3));
        /* Stalls that begin at every part of a window. */
        for (int part = 0; part < 60; ++part) {
            stall(&test, seconds[i / 3], speed[i % 3]);
            assert_on_time(&test, 1.0, 1e-4);
            run(&test, turns_of(0.01) / 7 * (uint64_t)(part % 20));
            assert_on_time(&test, 1.0, 1e-4);
        }
    }
}

static void test_step(void **state) {
    (void)state;
    struct test test;
    start(&test, TURN_HZ * 1.01, 0.0);
    run(&test, turns_of(0.2));
    double const learnt = test.clock.ticks_per_turn;
    /* The machine's counter begins anew. */
    uint64_t const now = prompt_tsc(&test.machine, test.machine.turn);
    rm_turn_clock_step(&test.clock, 5, now);
    assert_true(test.clock.ticks_per_turn == learnt);
    assert_int_equal(rm_turn_clock_predict(&test.clock, now), 5);
    assert_int_equal(rm_turn_clock_predict(&test.clock, now + (uint64_t)(100.5 * learnt)), 105);
    for (rm_turn turn = 5; turn < turns_of(0.1); turn += BURST_TURNS)
        rm_turn_clock_observe(&test.clock, turn, now + (uint64_t)llrint((double)(turn - 5) * learnt));
    assert_within(test.clock.ticks_per_turn / learnt - 1.0, 1e-6);
}

/** The receiver was away, and its clock is stepped to a turn that waited; those that follow are less and less late. */
static void step_to_late_turns(struct test *test) {
    uint64_t const late = (uint64_t)(1.6e-3 * TSC_HZ);
    rm_turn_clock_step(&test->clock, test->machine.turn, prompt_tsc(&test->machine, test->machine.turn) + late);
    for (uint64_t left = late; left > late / 64; left -= left / 64, test->machine.turn += BURST_TURNS)
        rm_turn_clock_observe(&test->clock, test->machine.turn, prompt_tsc(&test->machine, test->machine.turn) + left);
}

/** A clock that had the rate keeps it, though it is stepped again and again, and has the phase as soon as something is
 * prompt. */
static void test_steps_to_late_turns(void **state) {
    (void)state;
    struct test test;
    start(&test, TURN_HZ, 0.2 * TSC_HZ / TURN_HZ);
    for (int part = 0; part < 40; ++part) {
        run(&test, turns_of(0.2) + turns_of(0.01) / 40 * (uint64_t)part);
        for (int step = 0; step < 3; ++step) {
            step_to_late_turns(&test);
            run(&test, turns_of(0.005));
        }
        assert_on_time(&test, 1.2, 1e-3);
    }
}

/** A machine that goes on at another rate: each time that nothing is believed for a quarter of a second, the clock is
 * stepped to it. */
static void test_another_rate(void **state) {
    (void)state;
    struct test test;
    start(&test, TURN_HZ, 0.0);
    run(&test, turns_of(0.3));
    rm_turn const turn = test.machine.turn;
    uint64_t const tsc = prompt_tsc(&test.machine, turn);
    test.machine = (struct machine){.ticks_per_turn = TSC_HZ / (0.9 * TURN_HZ), .seed = 1, .turn = FIRST_TURN};
    test.clock.sure_tsc -= tsc - FIRST_TSC; /* the machine above begins its time anew */
    for (int step = 0; step < 4; ++step) {
        rm_turn_clock_step(&test.clock, test.machine.turn, prompt_tsc(&test.machine, test.machine.turn));
        run(&test, turns_of(0.25));
    }
    assert_on_time(&test, 0.5, 1e-5);
}

/** What the engine relies on to step a clock that has lost the machine: windows end although nothing is believed. */
static void test_lost(void **state) {
    (void)state;
    struct test test;
    start(&test, TURN_HZ, 0.0);
    run(&test, turns_of(0.2));
    uint64_t const believed = test.clock.believed_tsc;
    int closed = 0;
    for (rm_turn turn = test.machine.turn; turn < test.machine.turn + turns_of(0.1); turn += BURST_TURNS)
        closed += rm_turn_clock_observe(&test.clock, turn + 100000, prompt_tsc(&test.machine, turn));
    assert_int_equal(test.clock.believed_tsc, believed);
    assert_in_range(closed, 8, 12); // 10 ms each
}

/** Turns that waited in a queue come all at once; then the machine goes on at its rate. How far the clock was ahead of
 * the newest turn at most, after them. */
static int64_t furthest_ahead(double rate_range) {
    enum { QUEUED = 20000 };
    struct test test;
    start(&test, TURN_HZ, 0.0);
    if (rate_range > 0)
        test.clock.rate_range = rate_range;
    uint64_t const now = prompt_tsc(&test.machine, FIRST_TURN + QUEUED);
    rm_turn_clock_step(&test.clock, FIRST_TURN, now);
    for (rm_turn turn = FIRST_TURN; turn < FIRST_TURN + QUEUED; turn += BURST_TURNS)
        rm_turn_clock_observe(&test.clock, turn, now + (turn - FIRST_TURN) * 2);
    int64_t furthest = 0;
    for (rm_turn turn = FIRST_TURN + QUEUED; turn < FIRST_TURN + QUEUED + turns_of(0.1); turn += BURST_TURNS) {
        uint64_t const tsc = prompt_tsc(&test.machine, turn);
        rm_turn_clock_observe(&test.clock, turn, tsc);
        int64_t const ahead = (int64_t)(rm_turn_clock_predict(&test.clock, tsc) - turn);
        furthest = ahead > furthest ? ahead : furthest;
    }
    return furthest;
}

static void test_a_queue_of_old_turns(void **state) {
    (void)state;
    assert_in_range(furthest_ahead(1.03), 0, turns_of(0.1 * 0.03)); /* 3 % too fast at the most */
    assert_true(furthest_ahead(0) > 5000);                          /* taken for a fast machine, as it may be one */
}

/** A ring that waits for its loop: turns come in groups, with pauses of any length between them. */
static void test_following(void **state) {
    (void)state;
    struct rm_turn_clock clock;
    rm_turn_clock_init(&clock, TURN_HZ, TSC_HZ);
    rm_turn_clock_follow(&clock);
    uint64_t tsc = FIRST_TSC;
    rm_turn_clock_step(&clock, FIRST_TURN, tsc);
    double const slower = 4; /* the ring's rate is a quarter */
    for (rm_turn turn = FIRST_TURN; turn < FIRST_TURN + turns_of(1); turn += 120) {
        tsc += (uint64_t)(slower * 120 * TSC_HZ / TURN_HZ);
        rm_turn_clock_observe(&clock, turn + 119, tsc);
        assert_true(rm_turn_clock_predict(&clock, tsc) == turn + 119);
        assert_true(rm_turn_clock_predict(&clock, tsc + (uint64_t)TSC_HZ) == turn + 119); /* it stands */
        rm_turn_clock_observe(&clock, turn, tsc);
        assert_true(clock.turn == turn + 119); /* an older turn does not take it back */
    }
    assert_float_equal(clock.ticks_per_turn, slower * TSC_HZ / TURN_HZ, 0.01 * slower * TSC_HZ / TURN_HZ);
}

/** A rate measured elsewhere: a fit within its tolerance stays, one outside is given up for it and learnt again. */
static void test_bounded(void **state) {
    (void)state;
    struct test test;
    start(&test, TURN_HZ, 0.0);
    run(&test, turns_of(0.2));
    double const learnt = test.clock.ticks_per_turn;
    rm_turn_clock_bound(&test.clock, 1.2 * learnt, 0.25);
    assert_true(test.clock.ticks_per_turn == learnt);
    rm_turn_clock_bound(&test.clock, 2.0 * learnt, 0.25);
    assert_true(test.clock.ticks_per_turn == 2.0 * learnt);
    run(&test, turns_of(0.2)); /* which is not so: it goes as far towards the truth as it may */
    assert_within(test.clock.ticks_per_turn / (1.6 * learnt) - 1.0, 1e-9);
    rm_turn_clock_bound(&test.clock, learnt, 0.05);
    run(&test, turns_of(0.2));
    assert_on_time(&test, 0.01, 1e-9);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_following),
        cmocka_unit_test(test_a_queue_of_old_turns),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_constant_delay),
        cmocka_unit_test(test_before_turn_zero),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_nominal_rate_off),
        cmocka_unit_test(test_low_rate),
        cmocka_unit_test(test_wild_instrument),
        cmocka_unit_test(test_wild_turn_leaves_it_following),
        cmocka_unit_test(test_stall_with_catch_up),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_steps_to_late_turns),
        cmocka_unit_test(test_another_rate),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
