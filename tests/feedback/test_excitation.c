// SPDX-License-Identifier: Apache-2.0
/** What is excited, on and off, and what the stream then tells: sensitivity as predicted; the mains are followed.
 * Argument: feedback.so. */
#include "rig.h"

#include <complex.h>

/** S at one frequency, from what the stream tells. */
static double measured(struct feedback_test *test, double hz, uint32_t at) {
    double sums[4] = {0};
    set(test, FEEDBACK_EXCITE_AT, at);
    set(test, FEEDBACK_EXCITE_NUMBER, at == 0 ? 1 : 2);
    set(test, FEEDBACK_EXCITE_LOW, hz);
    set(test, FEEDBACK_EXCITE_AMPLITUDE, at == 0 ? 5000.0 : 0.05);
    set(test, FEEDBACK_EXCITE, FEEDBACK_SINE);
    cycles(test, 3000);
    uint32_t const length = (uint32_t)lrint(20.0 / hz * TURN_RATE / PERIOD);
    for (uint32_t i = 0; i < length; ++i) {
        cycle(test);
        double const phase = 2.0 * M_PI * hz * i * PERIOD / TURN_RATE;
        float const *orbit = test->program->stream[FEEDBACK_ORBIT];
        sums[0] += cos(phase) * orbit[9];
        sums[1] += sin(phase) * orbit[9];
        sums[2] += cos(phase) * orbit[10];
        sums[3] += sin(phase) * orbit[10];
    }
    set(test, FEEDBACK_EXCITE, FEEDBACK_QUIET);
    return hypot(sums[2], sums[3]) / hypot(sums[0], sums[1]);
}

/** S of the law for the machine as it is: with P(z) = (1 − a) z⁻² / (1 − a z⁻¹), and Smith's predictor around K. */
static double predicted(double hz) {
    double const rate = TURN_RATE / PERIOD, a = exp(-2.0 * M_PI * 1000.0 / rate), k = 2.0 * M_PI * 80.0 / rate;
    double complex const z = cexp(-2.0 * I * M_PI * hz / rate); /* z⁻¹ */
    double complex const undelayed = (1.0 - a) * z / (1.0 - a * z), plant = undelayed * z;
    double complex const c = k / (1.0 - z);
    double complex const controller = c / (1.0 + c * (undelayed - plant));
    return cabs(1.0 / (1.0 + controller * plant));
}

static void test_excitation_measures_sensitivity(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    set(test, FEEDBACK_RESONATORS, 0);
    close_loop(test);
    static double const hz[] = {20.0, 60.0, 150.0, 400.0, 1500.0, 3000.0};
    for (size_t i = 0; i < sizeof hz / sizeof hz[0]; ++i) {
        double const is = measured(test, hz[i], 0), should = predicted(hz[i]);
        if (fabs(is - should) > 0.02)
            fail_msg("at %g Hz S is %g, not %g", hz[i], is, should);
    }
    double const out[CORRECTORS] = {0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1}; /* alone, an actuator is a channel */
    put(test, FEEDBACK_ACTUATOR_MASK, 0, out, CORRECTORS);
    cycle(test);
    solve(test);
    double const is = measured(test, 60.0, 1), should = predicted(60.0);
    if (fabs(is - should) > 0.03)
        fail_msg("at an actuator S is %g, not %g", is, should);
}

static void test_excitation_while_off(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    cycles(test, 10);
    solve(test);
    set(test, FEEDBACK_EXCITE_AT, 1);
    set(test, FEEDBACK_EXCITE_NUMBER, 5);
    set(test, FEEDBACK_EXCITE_AMPLITUDE, 0.25);
    set(test, FEEDBACK_EXCITE, FEEDBACK_CONSTANT);
    cycles(test, 100);
    assert_true(test->setpoint[5] == 0.25);
    assert_true(test->setpoint[4] == 0.0);
    set(test, FEEDBACK_EXCITE, FEEDBACK_QUIET);
    cycles(test, 5);
    assert_true(test->setpoint[5] == 0.0);
}

/** The mains are off by 0.1 %: resonators that do not follow leave more than those that do. */
static void test_mains_are_followed(void **state) {
    struct feedback_test *test = *state;
    open_feedback(test, one_family);
    test->machine.wrongs.sine_nm = 20000.0;
    test->machine.wrongs.sine_hz = 50.05;
    close_loop(test);
    set(test, FEEDBACK_TRACK, 1);
    cycles(test, 100000);
    double const hz = reading(test, FEEDBACK_MAINS_HZ, 0);
    if (!(fabs(hz - 50.05) < 0.01))
        fail_msg("the mains are at 50.05 Hz, not at %g Hz", hz);
}

int main(int count, char **argument) {
    if (!take_module(count, argument))
        return 2;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_excitation_measures_sensitivity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_excitation_while_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mains_are_followed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
