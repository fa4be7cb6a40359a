// SPDX-License-Identifier: Apache-2.0
/** The loop closes, is driven by hand, and does what it is for: it takes an orbit and its lines away, and goes where it
 * is wanted. Argument: feedback.so. */
#include "rig.h"

#include <stdio.h>

static void test_states_and_closing(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    cycles(test, 10);
    assert_int_equal(state_of(test), FEEDBACK_OFF);
    assert_int_equal((int)reading(test, FEEDBACK_ENABLE_CONDITIONS, 0), FEEDBACK_NO_MATRIX);
    solve(test);
    assert_int_equal(state_of(test), FEEDBACK_READY);
    assert_true(reading(test, FEEDBACK_GENERATION, 0) == 1.0);
    double const before = rms_nm(test, X);
    assert_true(before > 1000.0);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        assert_true(test->setpoint[c] == 0.0);
    set(test, FEEDBACK_LOOP, 1);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    for (uint32_t c = 0; c < CORRECTORS; ++c) /* it begins where they stand */
        assert_true(test->setpoint[c] == 0.0);
    cycles(test, 3000);
    assert_true(rms_nm(test, X) < 0.02 * before);
    assert_true(rms_nm(test, Y) < 100.0);
    set(test, FEEDBACK_LOOP, 2);
    double held[CORRECTORS];
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_HOLD);
    memcpy(held, test->setpoint, sizeof held);
    cycles(test, 50);
    assert_memory_equal(held, test->setpoint, sizeof held);
    set(test, FEEDBACK_LOOP, 1);
    assert_true(largest_step(test, 300) < 0.01);
    set(test, FEEDBACK_LOOP, 0);
    cycle(test);
    assert_int_equal(state_of(test), FEEDBACK_READY);
    assert_int_equal((int)reading(test, FEEDBACK_CAUSE, 0), 0);
}

static void test_line_is_taken_out(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    test->machine.wrongs.sine_nm = 20000.0;
    test->machine.wrongs.sine_hz = 50.0;
    set(test, FEEDBACK_RESONATORS, 0);
    close_loop(test);
    double without = 0.0, with = 0.0;
    for (uint32_t i = 0; i < 400; ++i, cycle(test))
        without = fmax(without, rms_nm(test, X));
    set(test, FEEDBACK_RESONATORS, 1);
    cycle(test);
    solve(test);
    cycles(test, 20000);
    for (uint32_t i = 0; i < 400; ++i, cycle(test))
        with = fmax(with, rms_nm(test, X));
    assert_true(without > 5000.0);
    assert_true(with < 0.03 * without);
}

static void test_order_leaves_no_trace(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    static double first[600][CORRECTORS];
    struct feedback_machine const begin = test->machine;
    for (uint32_t run = 0; run < 2; ++run) {
        test->machine = begin;
        test->machine.wrongs.backwards = run == 1;
        struct rm_error error;
        rm_host_program_close(test->program);
        open_feedback(test, one_family);
        assert_int_equal(rm_host_program_init(test->program, &error), RM_OK);
        cycles(test, 20);
        solve(test);
        set(test, FEEDBACK_LOOP, 1);
        for (uint32_t i = 0; i < 600; ++i) {
            test->machine.wrongs.leap_nm[3] = i > 300 && i < 310 ? 1e6 : 0.0;
            cycle(test);
            if (run == 0)
                memcpy(first[i], test->setpoint, sizeof first[i]);
            else
                assert_memory_equal(first[i], test->setpoint, sizeof first[i]);
        }
    }
    assert_true(first[599][0] != 0.0);
}

static void test_masks_do_not_bump(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    close_loop(test);
    double const out[4] = {0, 0, 0, 0}, in[4] = {1, 1, 1, 1};
    put(test, FEEDBACK_BPM_MASK, 8, out, 4);
    expect_stable(test, reading(test, FEEDBACK_GENERATION, 0));
    double const stays = test->setpoint[3];
    put(test, FEEDBACK_ACTUATOR_MASK, 3, out, 1);
    cycle(test);
    solve(test);
    double const kept = test->setpoint[3];
    assert_true(fabs(kept - stays) < 0.02);
    expect_stable(test, 0.0);
    assert_true(test->setpoint[3] == kept);
    assert_int_equal((int)reading(test, FEEDBACK_ACTUATOR_STATE, 3), FEEDBACK_ACTUATOR_MASKED);
    put(test, FEEDBACK_BPM_MASK, 8, in, 4);
    put(test, FEEDBACK_ACTUATOR_MASK, 3, in, 1);
    expect_stable(test, reading(test, FEEDBACK_GENERATION, 0));
    set(test, FEEDBACK_MODES, 4);
    cycle(test);
    solve(test);
    assert_true(largest_step(test, 300) < 0.02);
    set(test, FEEDBACK_TIKHONOV, 0.1);
    cycle(test);
    solve(test);
    assert_true(largest_step(test, 300) < 0.02);
}

static void test_golden_bump(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    close_loop(test);
    double golden[ROWS]; /* an orbit that correctors can make */
    for (uint32_t row = 0; row < ROWS; ++row)
        golden[row] = 2.0 * test->machine.response[row][3] + test->machine.response[row][9];
    put(test, FEEDBACK_GOLDEN, 0, golden, ROWS);
    cycles(test, 40);
    assert_true(fabs(test->machine.orbit[0]) < 0.9 * fabs(golden[0])); /* on its way */
    cycles(test, 2000);
    for (uint32_t row = 0; row < ROWS; ++row)
        assert_true(fabs(test->machine.orbit[row] - golden[row]) < 200.0);
}

/** The orbit that there is, far from the one before, is taken as the golden one, and the loop closes in the next cycle. */
static void test_golden_of_an_open_loop_is_there_at_once(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 20.0);
    cycles(test, 10);
    solve(test);
    double golden[ROWS];
    for (uint32_t row = 0; row < ROWS; ++row)
        golden[row] = test->machine.orbit[row];
    assert_true(rms_nm(test, X) > 30000.0);
    put(test, FEEDBACK_GOLDEN, 0, golden, ROWS);
    cycle(test);
    set(test, FEEDBACK_LOOP, 1);
    cycles(test, 100);
    assert_int_equal(state_of(test), FEEDBACK_ON);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        assert_true(fabs(test->setpoint[c]) < 0.005);
}

static void test_shadow_sends_nothing(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    disturb(test, 0.5);
    set(test, FEEDBACK_SHADOW, 1);
    cycles(test, 20);
    solve(test);
    set(test, FEEDBACK_LOOP, 1);
    for (uint32_t i = 0; i < 500; ++i) {
        cycle(test);
        assert_int_equal(test->result, RM_STEP_QUIET);
    }
    assert_int_equal(state_of(test), FEEDBACK_ON);
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        assert_true(test->machine.sent[c] == 0.0);
    assert_true(test->program->stream[FEEDBACK_ORBIT][4] > 0.0F); /* but it is told */
    set(test, FEEDBACK_SHADOW, 0);
    assert_true(largest_step(test, 1000) < 0.02);
    assert_int_equal(test->result, RM_STEP_SEND);
    assert_true(rms_nm(test, X) < 500.0);
}

static void test_missing_row_is_an_error(void **state) {
    struct feedback_test *test = *state;
    struct rm_error error = {0};
    open_feedback(test, one_family);
    snprintf(test->stream[4].lane[1].name, sizeof test->stream[4].lane[1].name, "zz");
    assert_int_equal(rm_host_program_init(test->program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "bpm05/y1"));
    snprintf(test->stream[4].lane[1].name, sizeof test->stream[4].lane[1].name, "y1");
    snprintf(test->stream[4].lane[1].unit, sizeof test->stream[4].lane[1].unit, "furlong");
    assert_int_equal(rm_host_program_init(test->program, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "furlong"));
}

int main(int count, char **argument) {
    if (!take_module(count, argument))
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_states_and_closing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_line_is_taken_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_leaves_no_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_masks_do_not_bump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_golden_bump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_golden_of_an_open_loop_is_there_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shadow_sends_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_row_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
