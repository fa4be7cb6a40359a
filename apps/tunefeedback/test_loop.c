// SPDX-License-Identifier: Apache-2.0
/** The loop around a machine of two numbers: enable conditions and what follows from each, targets, limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop.h"

enum { RATE_HZ = 100, HOLD_STEPS = 200, RETURN_STEPS = 10, PUSH_STEPS = 50 };

static double const MATRIX[2][2] = {{0.003, -0.0002}, {-0.002, 0.0008}};

struct test {
    struct tunefeedback_file file;
    struct tunefeedback_loop loop;
    struct tunefeedback_given given;
    struct rm_tune tune;
    /** Tunes without the families' offsets. */
    double natural[2];
};

static struct test test_make(void) {
    struct test test = {
        .file = {.integral_hz = 1.0,
                 .target_speed_per_s = 0.01,
                 .enable = {.trusted = 3,
                            .last = 5,
                            .sigma = 1e-4,
                            .far = 0.01,
                            .hold_s = (double)HOLD_STEPS / RATE_HZ,
                            .return_s = (double)RETURN_STEPS / RATE_HZ,
                            .limit_s = (double)PUSH_STEPS / RATE_HZ}},
        .given = {.gain = 1.0, .supplies_follow = true},
        .tune = {.sigma = {1e-6, 1e-6}, .amplitude = {1e3, 2e3}},
        .natural = {0.3, 0.17},
    };
    assert_true(tunefeedback_invert(MATRIX, test.file.inverse));
    tunefeedback_loop_begin(&test.loop, &test.file, RATE_HZ);
    for (int family = 0; family < 2; ++family) {
        test.loop.integrator.low_a[family] = -10.0;
        test.loop.integrator.high_a[family] = 10.0;
        test.loop.integrator.step_a[family] = 1.0;
    }
    return test;
}

static void steps(struct test *test, int count) {
    for (; count > 0; --count) {
        double const *const offset = test->loop.integrator.offset_a;
        for (int plane = 0; plane < 2; ++plane)
            test->tune.tune[plane] = test->natural[plane] + MATRIX[plane][0] * offset[0] + MATRIX[plane][1] * offset[1];
        test->given.tune = &test->tune;
        tunefeedback_loop_step(&test->loop, &test->file, &test->given);
    }
}

/** Steps whose records are missing. */
static void steps_without(struct test *test, int count) {
    for (; count > 0; --count) {
        test->given.tune = NULL;
        tunefeedback_loop_step(&test->loop, &test->file, &test->given);
    }
}

static void assert_state(struct test const *test, enum tunefeedback_state state, uint32_t missing) {
    assert_int_equal(test->loop.states.state, state);
    assert_int_equal(test->loop.missing, missing);
}

static struct test closed(void) {
    struct test test = test_make();
    steps(&test, 5);
    assert_state(&test, TUNEFEEDBACK_READY, 0);
    test.given.closed = true;
    steps(&test, 1);
    assert_state(&test, TUNEFEEDBACK_ON, 0);
    return test;
}

static void assert_tunes(struct test const *test, double x, double y, double within) {
    assert_true(fabs(test->tune.tune[0] - x) < within && fabs(test->tune.tune[1] - y) < within);
}

static void test_is_off_until_there_are_tunes(void **state) {
    (void)state;
    struct test test = test_make();
    steps_without(&test, 3);
    assert_state(&test, TUNEFEEDBACK_OFF, TUNEFEEDBACK_NO_TUNE | TUNEFEEDBACK_QUALITY);
    steps(&test, 2);
    assert_int_equal(test.loop.states.state, TUNEFEEDBACK_OFF);
    steps(&test, 1);
    assert_state(&test, TUNEFEEDBACK_READY, 0);
    assert_true(test.loop.integrator.offset_a[0] == 0.0);
}

/** What the tunes were is held, and a step decays with the loop's time constant. */
static void test_holds_what_there_was(void **state) {
    (void)state;
    struct test test = closed();
    steps(&test, 10);
    assert_tunes(&test, 0.3, 0.17, 1e-12);
    test.natural[0] += 2e-3;
    test.natural[1] -= 1e-3;
    int const tau = (int)(RATE_HZ / 6.28318);
    steps(&test, tau + 1);
    assert_true(fabs((test.tune.tune[0] - 0.3) / 2e-3 - exp(-1.0)) < 0.03);
    assert_true(fabs((test.tune.tune[1] - 0.17) / -1e-3 - exp(-1.0)) < 0.03);
    steps(&test, 20 * tau);
    assert_tunes(&test, 0.3, 0.17, 1e-8);
}

/** A tune of a window in which the beam has faded counts by its power, one below the deadband not at all. */
static void test_errors_are_weighted(void **state) {
    (void)state;
    struct test test = closed(), faded = test, idle = test;
    test.natural[0] += 1e-3;
    faded.natural[0] += 1e-3;
    faded.tune.amplitude[0] = 1e2;
    faded.loop.powers = faded.loop.most_powers = 1000000; /* of before */
    idle.natural[0] += 1e-3;
    idle.file.deadband = 1.1e-3;
    steps(&test, 1);
    steps(&faded, 1);
    steps(&idle, 1);
    double const whole = test.loop.integrator.offset_a[0];
    assert_true(whole < 0.0 && fabs(faded.loop.integrator.offset_a[0] / whole - 0.01) < 1e-4);
    assert_true(idle.loop.integrator.offset_a[0] == 0.0);
    test.tune.amplitude[0] = 1e5; /* more than the mean counts once */
    faded = test;
    faded.tune.amplitude[0] = 1e3;
    steps(&test, 1);
    steps(&faded, 1);
    assert_true(fabs(test.loop.integrator.offset_a[0] / faded.loop.integrator.offset_a[0] - 1.0) < 1e-9);
}

static void test_goes_to_a_target_at_its_speed(void **state) {
    (void)state;
    struct test test = closed();
    test.given.target[0] = 0.304;
    test.given.target[1] = 0.168;
    steps(&test, RATE_HZ / 5); /* 0.01 per s: half of the longer way */
    assert_true(fabs(test.loop.wanted[0] - 0.302) < 1e-9 && fabs(test.loop.wanted[1] - 0.169) < 1e-9);
    steps(&test, 5 * RATE_HZ);
    assert_tunes(&test, 0.304, 0.168, 1e-8);
    test.given.target[0] = test.given.target[1] = 0.0; /* stays */
    steps(&test, RATE_HZ);
    assert_tunes(&test, 0.304, 0.168, 1e-8);
}

/** Nothing moves in HOLD. */
static void test_beam_loss_holds_and_goes_on(void **state) {
    (void)state;
    struct test test = closed();
    test.natural[0] += 1e-3;
    steps(&test, 3);
    double const offset = test.loop.integrator.offset_a[0];
    test.tune.quality[0] = test.tune.quality[1] = RM_TUNE_NO_BEAM | RM_TUNE_NO_PEAK;
    steps(&test, 1);
    assert_state(&test, TUNEFEEDBACK_HOLD, TUNEFEEDBACK_NO_BEAM);
    steps(&test, HOLD_STEPS / 2);
    assert_int_equal(test.loop.missing, TUNEFEEDBACK_NO_BEAM | TUNEFEEDBACK_QUALITY);
    assert_true(test.loop.integrator.offset_a[0] == offset);
    test.tune.quality[0] = test.tune.quality[1] = 0;
    steps(&test, RETURN_STEPS + 1);
    assert_state(&test, TUNEFEEDBACK_HOLD, 0);
    steps(&test, 1);
    assert_state(&test, TUNEFEEDBACK_ON, 0);
    steps(&test, 5 * RATE_HZ);
    assert_tunes(&test, 0.3, 0.17, 1e-8);
    assert_int_equal(test.loop.states.cause, TUNEFEEDBACK_NO_BEAM);
}

/** After `hold_s` it is a person's. */
static void test_opens_when_it_held_for_too_long(void **state) {
    (void)state;
    struct test test = closed();
    steps_without(&test, 1);
    assert_state(&test, TUNEFEEDBACK_HOLD, TUNEFEEDBACK_NO_TUNE);
    steps_without(&test, HOLD_STEPS - 1);
    assert_int_equal(test.loop.states.state, TUNEFEEDBACK_HOLD);
    steps_without(&test, 1);
    assert_int_equal(test.loop.states.state, TUNEFEEDBACK_FAULT);
    steps(&test, 100);
    assert_state(&test, TUNEFEEDBACK_FAULT, 0);
    test.given.closed = false;
    steps(&test, 1);
    assert_state(&test, TUNEFEEDBACK_READY, 0);
    test.given.closed = true;
    steps(&test, 1);
    assert_state(&test, TUNEFEEDBACK_ON, 0);
}

/** n of m: one bad window of five moves nothing and opens nothing; three do. */
static void test_a_bad_tune_is_not_used(void **state) {
    (void)state;
    struct test test = closed();
    test.natural[0] += 1e-3;
    test.tune.quality[1] = RM_TUNE_TWO_PEAKS;
    steps(&test, 2);
    assert_state(&test, TUNEFEEDBACK_ON, 0);
    assert_true(test.loop.integrator.offset_a[0] == 0.0 && test.loop.trusted == 3);
    steps(&test, 1);
    assert_state(&test, TUNEFEEDBACK_HOLD, TUNEFEEDBACK_QUALITY);
}

static void test_sigma_and_distance_are_conditions(void **state) {
    (void)state;
    struct test test = closed();
    test.tune.sigma[1] = 2e-4;
    steps(&test, 3);
    assert_state(&test, TUNEFEEDBACK_HOLD, TUNEFEEDBACK_SIGMA);
    test = closed();
    test.natural[1] -= 0.011;
    steps(&test, 3);
    assert_state(&test, TUNEFEEDBACK_HOLD, TUNEFEEDBACK_FAR);
    test.natural[1] += 0.011;
    test.given.supplies_follow = false;
    steps(&test, 5);
    assert_state(&test, TUNEFEEDBACK_HOLD, TUNEFEEDBACK_SUPPLIES);
}

/** Without being closed a target that is far, or behind the coupling line, is not ready. */
static void test_a_far_target_is_not_begun(void **state) {
    (void)state;
    struct test test = test_make();
    test.given.target[0] = 0.32;
    test.given.target[1] = 0.17;
    steps(&test, 5);
    assert_state(&test, TUNEFEEDBACK_OFF, TUNEFEEDBACK_FAR);
    test.natural[0] = 0.176;
    test.natural[1] = 0.170;
    test.given.target[0] = 0.17;
    test.given.target[1] = 0.18;
    steps(&test, 5);
    assert_state(&test, TUNEFEEDBACK_OFF, TUNEFEEDBACK_FAR);
}

static void test_an_excursion_is_kept_and_told(void **state) {
    (void)state;
    struct test test = closed();
    test.loop.integrator.high_a[0] = 0.2;
    test.natural[0] -= 3e-3;
    steps(&test, RATE_HZ / 2);
    assert_true(test.loop.integrator.offset_a[0] <= 0.2);
    steps(&test, PUSH_STEPS);
    assert_state(&test, TUNEFEEDBACK_HOLD, TUNEFEEDBACK_LIMIT);
    double const offset = test.loop.integrator.offset_a[0];
    test.natural[0] += 5e-3; /* the drift has gone back: away from the limit is free */
    steps(&test, RETURN_STEPS + 5 * RATE_HZ);
    assert_state(&test, TUNEFEEDBACK_ON, 0);
    assert_true(test.loop.integrator.offset_a[0] < offset);
    assert_tunes(&test, 0.3, 0.17, 1e-6);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_is_off_until_there_are_tunes), cmocka_unit_test(test_holds_what_there_was),
        cmocka_unit_test(test_errors_are_weighted),          cmocka_unit_test(test_goes_to_a_target_at_its_speed),
        cmocka_unit_test(test_beam_loss_holds_and_goes_on),  cmocka_unit_test(test_opens_when_it_held_for_too_long),
        cmocka_unit_test(test_a_bad_tune_is_not_used),       cmocka_unit_test(test_sigma_and_distance_are_conditions),
        cmocka_unit_test(test_a_far_target_is_not_begun),    cmocka_unit_test(test_an_excursion_is_kept_and_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
