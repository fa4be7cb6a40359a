// SPDX-License-Identifier: Apache-2.0
/** What it is connected to: slow families, the gate of top-up, insertion devices, the RF, another system. Argument:
 * feedback.so. */
#include "rig.h"

static void test_unloading(void **state) {
    struct feedback_test *test = *state;
    span_fast_by_slow(&test->machine);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        if (!is_fast(c))
            test->machine.pole[c] = exp(-2.0 * M_PI * 100.0 * PERIOD / TURN_RATE);
    open_feedback(test, two_families);
    set(test, FEEDBACK_UNLOAD, 0);
    disturb(test, 2.0);
    close_loop(test);
    double const loaded = fabs(test->setpoint[0]);
    assert_true(loaded > 0.5);
    set(test, FEEDBACK_UNLOAD, 1);
    double transient = 0.0;
    for (uint32_t i = 0; i < 20000; ++i) {
        cycle(test);
        for (uint32_t row = 0; row < ROWS; ++row)
            transient = fmax(transient, fabs(test->machine.orbit[row]));
    }
    if (!(transient < 1000.0))
        fail_msg("the orbit moved by %g nm", transient);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        if (is_fast(c))
            assert_true(fabs(test->setpoint[c]) < 0.02);
    assert_true(fabs(test->setpoint[2]) + fabs(test->setpoint[3]) > 0.1);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

static void test_gate_is_ridden_out(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, all_kinds);
    close_loop(test);
    test->machine.flags = 1 << 3;
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), FEEDBACK_GATED);
    cycles(test, 29);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    test->machine.flags = 0;
    cycle(test);
    set(test, FEEDBACK_GATE, 0);
    test->machine.flags = 1 << 3;
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
}

/** Largest orbit, x, while the gap goes from 0 to 10 in some 25 ms. */
static double close_gap(struct feedback_test *test) {
    double largest = 0.0;
    for (uint32_t i = 0; i <= 250; ++i) {
        test->machine.gap = (float)(i / 25.0);
        for (uint32_t row = 0; row < ROWS; ++row)
            test->machine.wrongs.disturbance[row] = 0.05 * (double)test->machine.gap * test->machine.response[row][2];
        cycle(test);
        largest = fmax(largest, rms_nm(test, X));
    }
    return largest;
}

static void test_feed_forward(void **state) {
    struct feedback_test *test = *state;
    struct feedback_machine const begin = test->machine;
    open_feedback(test, one_family);
    close_loop(test);
    double const without = close_gap(test);
    rm_host_program_close(test->program);
    test->machine = begin;
    open_feedback(test, all_kinds);
    close_loop(test);
    double const with = close_gap(test);
    if (!(with < 0.3 * without))
        fail_msg("%g nm with a table, %g without", with, without);
    cycles(test, 200);
    assert_true(fabs(test->setpoint[2] + 0.5) < 0.02);
}

static void test_rf_takes_the_dispersion(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, all_kinds);
    set(test, FEEDBACK_RF, 1);
    close_loop(test);
    for (uint32_t row = 0; row < ROWS; ++row) /* an energy that is off */
        test->machine.wrongs.disturbance[row] = -0.5 * test->machine.response[row][5];
    cycles(test, 200);
    double const soon = test->setpoint[5];
    assert_true(soon < 0.4); /* at most ten times a second */
    cycles(test, 15000);
    assert_true(fabs(test->setpoint[5] - 0.5) < 0.02);
    assert_true(fabs(reading(test, FEEDBACK_RF_OFFSET, 0) - test->setpoint[5]) < 1e-9);
    for (uint32_t c = 0; c < 5; ++c)
        assert_true(fabs(test->setpoint[c]) < 0.05);
    assert_true(rms_nm(test, X) < 300.0);
}

static void test_shadow_of_another_system(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, all_kinds);
    set(test, FEEDBACK_SHADOW, 1);
    test->machine.ruled = true;
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        test->machine.other[c] = 0.1 * c;
    for (uint32_t row = 0; row < ROWS; ++row) { /* which the other system has taken away already, all but a little */
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            test->machine.wrongs.disturbance[row] -= 0.1 * c * test->machine.response[row][c];
        test->machine.wrongs.disturbance[row] += 0.01 * test->machine.response[row][1];
    }
    cycles(test, 100);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    cycles(test, 20000);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    assert_int_equal(test->result, RM_STEP_QUIET);
    assert_true(reading(test, FEEDBACK_SHADOW_RMS, 0) > 0.0);
    assert_true(reading(test, FEEDBACK_SHADOW_RMS, 0) < 0.02); /* states do not drift */
    test->machine.ruled = false;
    set(test, FEEDBACK_SHADOW, 0);
    cycle(test);
    for (uint32_t c = 0; c < CORRECTORS; ++c) /* takes over where that left it */
        assert_true(test->setpoint[c] == test->machine.other[c]);
    assert_true(largest_step(test, 2000) < 0.02);
    assert_int_equal(test->result, RM_STEP_SEND);
    assert_true(rms_nm(test, X) < 300.0);
}

int main(int count, char **argument) {
    if (!take_module(count, argument))
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_unloading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gate_is_ridden_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_feed_forward, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rf_takes_the_dispersion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shadow_of_another_system, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
