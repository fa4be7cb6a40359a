// SPDX-License-Identifier: Apache-2.0
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driven.h"
#include "test_series.h"

enum { TURNS = 2048, BINS = TURNS / 2 + 1, FITS = 200 };

static struct tune_band const band = {300, 600, 1.0, 0.0};
static double const TUNE = 450.3 / TURNS, RMS = 2.0;
static struct tune_spectrum spectrum;
static float periodogram[BINS];

/** An oscillator that noise drives goes on from window to window; white noise of each turn is added. */
static void periodogram_make(double damping, double noise, uint32_t windows) {
    double complex const turn = cexp(-damping + I * TWO_PI * TUNE);
    double const drive = RMS * sqrt(1.0 - exp(-2.0 * damping));
    double complex state = RMS * (draw_normal() + I * draw_normal());
    for (uint32_t k = 0; k < BINS; ++k)
        periodogram[k] = 0.0f;
    for (uint32_t window = 0; window < windows; ++window) {
        for (uint32_t n = 0; n < TURNS; ++n) {
            state = state * turn + drive * (draw_normal() + I * draw_normal());
            spectrum.series[n] = (float)(creal(state) + noise * draw_normal());
        }
        tune_spectrum_transform(&spectrum);
        for (uint32_t k = 0; k < BINS; ++k)
            periodogram[k] +=
                (spectrum.bin[k].re * spectrum.bin[k].re + spectrum.bin[k].im * spectrum.bin[k].im) / (float)windows;
    }
}

struct driven_scatter {
    double tune, damping, rms;
    int fits;
};

/** Root mean squares of the errors over the sigmas that came with them. */
static struct driven_scatter scatter_of(double width_bins, uint32_t windows) {
    struct driven_scatter scatter = {.tune = 0.0};
    double const damping = width_bins * TWO_PI / 2.0 / TURNS;
    double tune = 0.0, damping_error = 0.0, rms = 0.0, tune_sigma = 0.0, damping_sigma = 0.0, rms_sigma = 0.0;
    for (int i = 0; i < FITS; ++i) {
        struct tune_driven driven;
        periodogram_make(damping, 1.0, windows);
        if (!tune_driven_fit(periodogram, TURNS, windows, band, &driven))
            continue;
        ++scatter.fits;
        tune += (driven.tune - TUNE) * (driven.tune - TUNE);
        damping_error += (driven.damping_per_turn - damping) * (driven.damping_per_turn - damping);
        rms += (driven.rms - RMS) * (driven.rms - RMS);
        tune_sigma += driven.tune_sigma * driven.tune_sigma;
        damping_sigma += driven.damping_sigma * driven.damping_sigma;
        rms_sigma += driven.rms_sigma * driven.rms_sigma;
    }
    scatter.tune = sqrt(tune / tune_sigma);
    scatter.damping = sqrt(damping_error / damping_sigma);
    scatter.rms = sqrt(rms / rms_sigma);
    return scatter;
}

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.6g is not %.6g ± %.2g", value, expected, within);
}

/** A scatter of 200 fits is known to 5 %. */
static void test_errors_are_what_scatters(void **state) {
    (void)state;
    static struct {
        double width_bins;
        uint32_t windows;
    } const cases[] = {{2.5, 1}, {12.0, 1}, {5.0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct driven_scatter const scatter = scatter_of(cases[i].width_bins, cases[i].windows);
        assert_in_range(scatter.fits, FITS - 4, FITS);
        assert_near(scatter.tune, 1.0, 0.2);
        assert_near(scatter.damping, 1.0, 0.25);
        assert_near(scatter.rms, 1.0, 0.2);
    }
}

/** √(λ/T)/2π of the tune, where the line is far above its noise. */
static void test_error_of_the_tune_is_what_is_stated(void **state) {
    (void)state;
    struct tune_driven driven;
    double const damping = 8.0 * TWO_PI / 2.0 / TURNS;
    periodogram_make(damping, 0.05, 16);
    assert_true(tune_driven_fit(periodogram, TURNS, 16, band, &driven));
    assert_near(driven.tune_sigma / (sqrt(damping / (16.0 * TURNS)) / TWO_PI), 1.0, 0.25);
    assert_near(driven.tune, TUNE, 5.0 * driven.tune_sigma);
    assert_near(driven.rms, RMS, 5.0 * driven.rms_sigma);
    assert_near(driven.damping_per_turn, damping, 5.0 * driven.damping_sigma);
    assert_true(driven.is_resolved);
}

static void test_a_line_narrower_than_its_window_is_not_resolved(void **state) {
    (void)state;
    struct tune_driven driven;
    periodogram_make(0.3 * TWO_PI / 2.0 / TURNS, 1.0, 1);
    assert_true(!tune_driven_fit(periodogram, TURNS, 1, band, &driven) || !driven.is_resolved);
    assert_true(!isnan(driven.tune) || !driven.is_resolved);
}

static void test_what_is_no_line_is_not_fitted(void **state) {
    (void)state;
    struct tune_driven driven;
    for (uint32_t k = 0; k < BINS; ++k)
        periodogram[k] = 0.0f;
    assert_false(tune_driven_fit(periodogram, TURNS, 1, band, &driven));
    for (uint32_t k = 0; k < BINS; ++k)
        periodogram[k] = 7.0f;
    assert_false(tune_driven_fit(periodogram, TURNS, 1, band, &driven));
    periodogram[400] = NAN;
    assert_false(tune_driven_fit(periodogram, TURNS, 1, band, &driven));
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
        cmocka_unit_test(test_errors_are_what_scatters),
        cmocka_unit_test(test_error_of_the_tune_is_what_is_stated),
        cmocka_unit_test(test_a_line_narrower_than_its_window_is_not_resolved),
        cmocka_unit_test(test_what_is_no_line_is_not_fitted),
    };
    return cmocka_run_group_tests(tests, spectrum_open, spectrum_close);
}
