// SPDX-License-Identifier: Apache-2.0
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "response.h"
#include "test_series.h"

enum { TURNS = 8192 };

static double const TUNE = 0.3117, RIPPLE = 1e-6, REVOLUTION_HZ = 1.157e6;

/** Tune from TURNS turns around turn `middle`, where the windowed integral is greatest: by its definition. */
static double measured_tune(enum tune_window_kind kind, double middle, double ripple_per_turn) {
    static double complex turn[TURNS];
    static double weight[TURNS];
    double const spread = tune_window_spread(kind, TURNS);
    for (uint32_t n = 0; n < TURNS; ++n) {
        double const t = middle + n - 0.5 * (TURNS - 1.0);
        double const swing = RIPPLE * sin(TWO_PI * ripple_per_turn * t) / ripple_per_turn;
        turn[n] = cexp(I * (TWO_PI * TUNE * n + swing));
        weight[n] = tune_window_weight(kind, TURNS, n);
    }
    double tune = TUNE + 3e-5;
    for (int i = 0; i < 6; ++i) {
        double complex sum = 0.0, slope = 0.0;
        for (uint32_t n = 0; n < TURNS; ++n) {
            double const t = n - 0.5 * (TURNS - 1.0);
            double complex const term = weight[n] * turn[n] * cexp(-I * TWO_PI * tune * t);
            sum += term;
            slope += t * term;
        }
        tune += cimag(slope / sum) / (TWO_PI * spread);
    }
    return tune - TUNE;
}

static void assert_near(double value, double expected, double within) {
    if (fabs(value - expected) > within)
        fail_msg("%.6f is not %.6f ± %.1e", value, expected, within);
}

static void test_is_that_of_a_simulated_ripple(void **state) {
    (void)state;
    static double const ripple_hz[] = {50, 100, 150, 300, 400};
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        for (size_t i = 0; i < sizeof ripple_hz / sizeof *ripple_hz; ++i) {
            double const per_turn = ripple_hz[i] / REVOLUTION_HZ;
            double const expected = tune_response(kind, per_turn * TURNS);
            assert_near(measured_tune(kind, 0.0, per_turn) / RIPPLE, expected, 1e-3);
            assert_near(measured_tune(kind, 0.25 / per_turn, per_turn) / RIPPLE, 0.0, 1e-3);
        }
}

static void test_mains_ripple_is_attenuated_as_published(void **state) {
    (void)state;
    double const window_s = TURNS / REVOLUTION_HZ;
    assert_near(tune_response(TUNE_RECTANGULAR, 50 * window_s), 0.88, 0.005);
    assert_near(tune_response(TUNE_RECTANGULAR, 100 * window_s), 0.59, 0.005);
    assert_near(tune_response(TUNE_HANN, 50 * window_s), 0.94, 0.005);
    assert_near(tune_response(TUNE_HANN, 100 * window_s), 0.77, 0.005);
}

static void test_is_smooth_where_its_formula_divides_by_nothing(void **state) {
    (void)state;
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        for (int step = 0; step < 2000; ++step) {
            double const periods = 1e-3 * step;
            assert_near(tune_response(kind, periods), tune_response(kind, periods + 1e-7), 1e-6);
            assert_true(tune_response(kind, periods) == tune_response(kind, -periods));
        }
    assert_true(tune_response(TUNE_HANN, 0.0) == 1.0);
}

static void test_corrects_within_the_main_lobe_alone(void **state) {
    (void)state;
    static double const zero[] = {[TUNE_RECTANGULAR] = 1.4303, [TUNE_HANN] = 2.3619};
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        assert_near(tune_response(kind, zero[kind]), 0.0, 1e-4);
        assert_near(tune_response_correction(kind, 0.5, 0.1) * tune_response(kind, 0.5), 1.0, 1e-12);
        assert_true(isnan(tune_response_correction(kind, zero[kind] - 0.02, 0.1)));
        assert_true(isnan(tune_response_correction(kind, zero[kind] + 1.5, 0.0)));
    }
    assert_true(tune_response_delay_turns(TURNS) == 4095.5);
}

/** Sums of a window over its turns are what the formulas say. */
static void test_sums_of_windows(void **state) {
    (void)state;
    static uint32_t const lengths[] = {64, 65, 1000, TURNS};
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
            uint32_t const turns = lengths[i];
            double sum = 0.0, squares = 0.0, spread = 0.0;
            for (uint32_t n = 0; n < turns; ++n) {
                double const weight = tune_window_weight(kind, turns, n), t = n - 0.5 * (turns - 1.0);
                sum += weight;
                squares += weight * weight;
                spread += weight * t * t;
            }
            assert_near(tune_window_sum(kind, turns) / sum, 1.0, 1e-9);
            assert_near(tune_window_squares(kind, turns) / squares, 1.0, 1e-9);
            assert_near(tune_window_spread(kind, turns) / (spread / sum), 1.0, 1e-9);
        }
}

/** The kernel's slope is that of its value, near a whole bin too. */
static void test_kernel_has_its_slope(void **state) {
    (void)state;
    static double const places[] = {0.0, 5e-4, 2e-3, 0.3, 0.999, 1.0, 1.7, 8.4};
    double const step = 1e-5;
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
            double const ahead = tune_window_kernel(kind, TURNS, places[i] + step).value;
            double const behind = tune_window_kernel(kind, TURNS, places[i] - step).value;
            double const slope = tune_window_kernel(kind, TURNS, places[i]).slope;
            assert_near(slope / TURNS, (ahead - behind) / (2.0 * step) / TURNS, 1e-7);
        }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_is_that_of_a_simulated_ripple),
        cmocka_unit_test(test_mains_ripple_is_attenuated_as_published),
        cmocka_unit_test(test_is_smooth_where_its_formula_divides_by_nothing),
        cmocka_unit_test(test_corrects_within_the_main_lobe_alone),
        cmocka_unit_test(test_sums_of_windows),
        cmocka_unit_test(test_kernel_has_its_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
