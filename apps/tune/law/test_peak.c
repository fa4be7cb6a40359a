// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "peak.h"
#include "test_series.h"

enum { TURNS = 1024, WINDOWS = 400 };

static struct tune_band const band = {100, 400, 1.0, 0.0};
static struct tune_spectrum spectrum;

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.12g is not %.12g ± %.1e", value, expected, within);
}

/** Noise of this size, and a line on it. */
static void window_make(double noise, double tune, double amplitude, double phase_rad) {
    for (uint32_t n = 0; n < TURNS; ++n)
        spectrum.series[n] = (float)(noise * draw_normal() + amplitude * cos(TWO_PI * tune * n + phase_rad));
    tune_spectrum_transform(&spectrum);
}

static void test_a_tone_is_found_wherever_it_lies(void **state) {
    (void)state;
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        for (int step = 0; step < 41; ++step) {
            double const bins = 101.0 + 7.13 * step;
            struct tune_peak peak;
            window_make(0.0, bins / TURNS, 3.0, 0.7);
            assert_true(tune_peak_find(spectrum.bin, TURNS, kind, band, &peak));
            assert_near(peak.tune * TURNS, bins, 2e-5);
            assert_near(peak.amplitude, 3.0, 2e-4);
            assert_near(peak.phase_rad, 0.7, 2e-4);
        }
}

struct scatter {
    double tune, amplitude, tune_sigma, amplitude_sigma, floor;
};

/** Of the error: root mean squares; of what is published: means. */
static struct scatter scatter_of(enum tune_window_kind kind, double noise) {
    struct scatter scatter = {.tune = 0.0};
    for (int window = 0; window < WINDOWS; ++window) {
        struct tune_peak peak;
        double const tune = (230.0 + draw_even()) / TURNS;
        window_make(noise, tune, 1.0, TWO_PI * draw_even());
        assert_true(tune_peak_find(spectrum.bin, TURNS, kind, band, &peak));
        scatter.tune += (peak.tune - tune) * (peak.tune - tune) / WINDOWS;
        scatter.amplitude += (peak.amplitude - 1.0) * (peak.amplitude - 1.0) / WINDOWS;
        scatter.tune_sigma += peak.tune_sigma / WINDOWS;
        scatter.amplitude_sigma += peak.amplitude_sigma / WINDOWS;
        scatter.floor += peak.floor / WINDOWS;
    }
    scatter.tune = sqrt(scatter.tune);
    scatter.amplitude = sqrt(scatter.amplitude);
    return scatter;
}

/** A scatter of 400 windows is known to 3.5 %: limits are three times that from what is stated. */
static void test_scatter_is_what_is_published(void **state) {
    (void)state;
    static double const stated[] = {[TUNE_RECTANGULAR] = 1.02, [TUNE_HANN] = 1.53};
    double const noise = 0.3;
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        struct scatter const scatter = scatter_of(kind, noise);
        double const bound = tune_error_least(TUNE_RECTANGULAR, TURNS, 1.0, noise);
        assert_near(scatter.tune / bound, stated[kind], 0.11 * stated[kind]);
        assert_near(scatter.tune_sigma / scatter.tune, 1.0, 0.12);
        assert_near(scatter.floor / (TURNS * noise * noise), 1.0, 0.03);
        assert_near(scatter.amplitude_sigma, noise * sqrt(2.0 / TURNS), 0.02 * scatter.amplitude_sigma);
        assert_near(scatter.amplitude / scatter.amplitude_sigma, kind == TUNE_HANN ? 1.15 : 1.0, 0.25);
    }
    assert_near(tune_error_least(TUNE_HANN, TURNS, 1.0, 1.0) / tune_error_least(TUNE_RECTANGULAR, TURNS, 1.0, 1.0),
                1.5306, 1e-4);
}

/** 1 µm in 8192 turns: five times the error of an amplitude are 78 nm. */
static void test_noise_alone_is_below_five_of_its_errors(void **state) {
    (void)state;
    double highest = 0.0, error = 0.0;
    for (int window = 0; window < WINDOWS; ++window) {
        struct tune_peak peak;
        window_make(1000.0, 0.0, 0.0, 0.0);
        assert_true(tune_peak_find(spectrum.bin, TURNS, TUNE_RECTANGULAR, band, &peak));
        highest = fmax(highest, peak.signal_to_noise);
        error += peak.amplitude_sigma / WINDOWS;
    }
    assert_true(highest > 3.0 && highest < 7.0);
    assert_near(5.0 * error * sqrt(TURNS / 8192.0), 78.1, 2.0);
}

static void test_another_line_is_told(void **state) {
    (void)state;
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        struct tune_peak peak;
        for (uint32_t n = 0; n < TURNS; ++n)
            spectrum.series[n] =
                (float)(0.1 * draw_normal() + cos(TWO_PI * 200 * n / TURNS) + 0.5 * cos(TWO_PI * 300 * n / TURNS));
        tune_spectrum_transform(&spectrum);
        assert_true(tune_peak_find(spectrum.bin, TURNS, kind, band, &peak));
        assert_int_equal(peak.bin, 200);
        assert_int_equal(peak.other_bin, 300);
        assert_near(peak.other_ratio, 0.5, 0.05);
        assert_true(peak.other_signal_to_noise > 60.0);
    }
}

static void test_nothing_has_no_peak(void **state) {
    (void)state;
    struct tune_peak peak;
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        window_make(0.0, 0.0, 0.0, 0.0);
        assert_false(tune_peak_find(spectrum.bin, TURNS, kind, band, &peak));
        window_make(1.0, 0.2, 1.0, 0.0);
        spectrum.series[5] = NAN;
        tune_spectrum_transform(&spectrum);
        assert_false(tune_peak_find(spectrum.bin, TURNS, kind, band, &peak));
    }
}

/** At the ends of the band, of the spectrum too. */
static void test_a_peak_at_the_edge_is_a_peak(void **state) {
    (void)state;
    static struct tune_band const whole = {1, TURNS / 2 - 1, 1.0, 0.0};
    static double const places[] = {1.3, 3.9, 0.5 * TURNS - 1.6, 0.5 * TURNS - 3.5};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        struct tune_peak peak;
        window_make(1e-3, places[i] / TURNS, 1.0, 0.3);
        assert_true(tune_peak_find(spectrum.bin, TURNS, TUNE_HANN, whole, &peak));
        assert_near(peak.tune * TURNS, places[i], 0.2);
    }
}

static int spectrum_open(void **state) {
    (void)state;
    return tune_spectrum_open(&spectrum, TURNS, 1) ? 0 : -1;
}

static int spectrum_close(void **state) {
    (void)state;
    tune_spectrum_close(&spectrum);
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_a_tone_is_found_wherever_it_lies),
        cmocka_unit_test(test_scatter_is_what_is_published),
        cmocka_unit_test(test_noise_alone_is_below_five_of_its_errors),
        cmocka_unit_test(test_another_line_is_told),
        cmocka_unit_test(test_nothing_has_no_peak),
        cmocka_unit_test(test_a_peak_at_the_edge_is_a_peak),
    };
    return cmocka_run_group_tests(tests, spectrum_open, spectrum_close);
}
