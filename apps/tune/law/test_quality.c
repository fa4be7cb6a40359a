// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quality.h"
#include "test_series.h"

enum { TURNS = 1024 };

static struct tune_band const band = {150, 350, 1.0, 0.0};
static struct tune_spectrum spectrum;
static struct tune_quality_limits limits;

static void series_make(double noise, double tune, double amplitude) {
    for (uint32_t n = 0; n < TURNS; ++n)
        spectrum.series[n] = (float)(noise * draw_normal() + amplitude * cos(TWO_PI * tune * n));
}

/** Of the series as it stands. */
static uint32_t reasons_of(double beam, struct tune_peak const *other_plane) {
    struct tune_series_look const look = tune_series_look(spectrum.series, TURNS, limits.full_scale);
    struct tune_peak peak;
    tune_spectrum_transform(&spectrum);
    bool const found = tune_peak_find(spectrum.bin, TURNS, TUNE_HANN, band, &peak);
    return tune_quality(&limits, &look, beam, TURNS, band, found ? &peak : NULL, other_plane);
}

static void test_a_good_window_has_no_reason(void **state) {
    (void)state;
    series_make(1.0, 0.2137, 1.0);
    assert_int_equal(reasons_of(100.0, NULL), 0);
}

static void test_no_beam_and_no_peak(void **state) {
    (void)state;
    series_make(1.0, 0.2137, 1.0);
    assert_int_equal(reasons_of(0.5, NULL), TUNE_NO_BEAM);
    series_make(1.0, 0.2137, 1.0);
    assert_int_equal(reasons_of(NAN, NULL), TUNE_NO_BEAM);
    series_make(1.0, 0.0, 0.0);
    assert_int_equal(reasons_of(100.0, NULL), TUNE_NO_PEAK);
    memset(spectrum.series, 0, TURNS * sizeof(float));
    assert_int_equal(reasons_of(100.0, NULL), TUNE_NO_PEAK | TUNE_FROZEN);
}

static void test_two_peaks(void **state) {
    (void)state;
    for (int step = 1; step < 3; ++step) {
        double const share = 0.2 * step;
        series_make(0.1, 0.2137, 1.0);
        for (uint32_t n = 0; n < TURNS; ++n)
            spectrum.series[n] += (float)(share * cos(TWO_PI * 0.3 * n));
        assert_int_equal(reasons_of(100.0, NULL), share > 0.3 ? TUNE_TWO_PEAKS : 0);
    }
}

/** 50 Hz times what the revolution makes of it. */
static void test_a_known_line_near_the_tune(void **state) {
    (void)state;
    double const revolution_hz = 1.157e6;
    assert_true(fabs(tune_folded(1.157e6 + 50.0, revolution_hz) - 50.0 / revolution_hz) < 1e-12);
    assert_true(fabs(tune_folded(1.157e6 - 50.0, revolution_hz) - 50.0 / revolution_hz) < 1e-12);
    limits.known_line[0] = tune_folded(0.7863 * revolution_hz, revolution_hz);
    limits.known_lines = 1;
    series_make(0.1, 0.2137, 1.0);
    assert_int_equal(reasons_of(100.0, NULL), TUNE_KNOWN_LINE);
    series_make(0.1, 0.2137 + 5.0 / TURNS, 1.0);
    assert_int_equal(reasons_of(100.0, NULL), 0);
    limits.known_lines = 0;
}

static void test_at_the_edge_of_the_band(void **state) {
    (void)state;
    series_make(0.1, 349.9 / TURNS, 1.0);
    assert_int_equal(reasons_of(100.0, NULL), TUNE_AT_EDGE);
}

static void test_saturated_and_frozen(void **state) {
    (void)state;
    limits.full_scale = 1e4;
    series_make(0.1, 0.2137, 1.0);
    spectrum.series[500] = -1e4f;
    assert_true((reasons_of(100.0, NULL) & TUNE_SATURATED) != 0);
    series_make(0.1, 0.2137, 1.0);
    for (uint32_t n = 0; n < limits.frozen_turns; ++n)
        spectrum.series[n + 100] = 0.25f;
    assert_int_equal(reasons_of(100.0, NULL), 0);
    series_make(0.1, 0.2137, 1.0);
    for (uint32_t n = 0; n <= limits.frozen_turns; ++n)
        spectrum.series[n + 100] = 0.25f;
    assert_int_equal(reasons_of(100.0, NULL), TUNE_FROZEN);
}

/** Held at the reading before, and counted: a lost turn is no frozen one. */
static void test_lost_turns_are_held_and_counted(void **state) {
    (void)state;
    float series[8] = {NAN, 2.0f, NAN, NAN, INFINITY, 5.0f, 5.0f, NAN};
    static float const mended[8] = {2, 2, 2, 2, 2, 5, 5, 5};
    struct tune_series_look const look = tune_series_look(series, 8, INFINITY);
    assert_int_equal(look.lost_turns, 5);
    assert_int_equal(look.frozen_turns, 2);
    assert_memory_equal(series, mended, sizeof mended);
    float nothing[3] = {NAN, NAN, NAN};
    assert_int_equal(tune_series_look(nothing, 3, INFINITY).lost_turns, 3);
    assert_true(nothing[1] == 0.0f);
    for (uint32_t lost = 5; lost < 40; lost += 30) {
        series_make(0.1, 0.2137, 1.0);
        for (uint32_t n = 0; n < lost; ++n)
            spectrum.series[n * 25] = NAN;
        assert_int_equal(reasons_of(100.0, NULL), lost > limits.lost_turns ? TUNE_LOST_TURNS : 0);
    }
}

static void test_the_same_line_in_both_planes(void **state) {
    (void)state;
    struct tune_peak other = {.tune = 0.2137 + 0.5 / TURNS, .signal_to_noise = 30.0};
    series_make(0.1, 0.2137, 1.0);
    assert_int_equal(reasons_of(100.0, &other), TUNE_COUPLED);
    other.tune += 1.0 / TURNS;
    series_make(0.1, 0.2137, 1.0);
    assert_int_equal(reasons_of(100.0, &other), 0);
}

static void test_every_reason_has_a_word(void **state) {
    (void)state;
    for (int i = 0; i < TUNE_REASONS; ++i)
        assert_string_not_equal(tune_reason_word((enum tune_reason)(1 << i)), "unknown");
}

static int rig_open(void **state) {
    (void)state;
    limits = tune_quality_limits(TURNS);
    limits.beam = 1.0;
    return tune_spectrum_open(&spectrum, TURNS, 1) ? 0 : -1;
}

static int rig_close(void **state) {
    (void)state;
    tune_spectrum_close(&spectrum);
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_a_good_window_has_no_reason),
        cmocka_unit_test(test_no_beam_and_no_peak),
        cmocka_unit_test(test_two_peaks),
        cmocka_unit_test(test_a_known_line_near_the_tune),
        cmocka_unit_test(test_at_the_edge_of_the_band),
        cmocka_unit_test(test_saturated_and_frozen),
        cmocka_unit_test(test_lost_turns_are_held_and_counted),
        cmocka_unit_test(test_the_same_line_in_both_planes),
        cmocka_unit_test(test_every_reason_has_a_word),
    };
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
