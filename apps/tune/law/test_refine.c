// SPDX-License-Identifier: Apache-2.0
/** A refined peak: exact where there is no noise, the same in noise, and with the same phase in the middle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "refine.h"
#include "test_series.h"

enum { TURNS = 2048 };

static struct tune_spectrum spectrum;
static struct tune_refine refine;
static float window[TURNS];

static int set_up(void **state) {
    (void)state;
    return tune_spectrum_open(&spectrum, TURNS, 1) && tune_refine_open(&refine, TURNS, TUNE_HANN) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    tune_spectrum_close(&spectrum);
    tune_refine_close(&refine);
    return 0;
}

/** The peak of a line of amplitude 1. */
static struct tune_peak peak_of(double tune, double noise) {
    struct tune_peak peak;
    for (uint32_t n = 0; n < TURNS; ++n)
        spectrum.series[n] = window[n] = (float)(cos(TWO_PI * tune * n + 0.7) + noise * draw_normal());
    tune_spectrum_transform(&spectrum);
    struct tune_band const band = {.first = 100, .last = 900, .image_re = 1.0};
    assert_true(tune_peak_find(spectrum.bin, TURNS, TUNE_HANN, band, &peak));
    return peak;
}

static double middle(struct tune_peak const *peak) {
    return remainder(peak->phase_rad + TWO_PI * peak->tune * 0.5 * (TURNS - 1.0), TWO_PI);
}

static void test_a_line_without_noise_is_exact(void **state) {
    (void)state;
    double worst_peak = 0.0;
    for (int i = 0; i < 20; ++i) {
        double const tune = 0.2137 + i * 0.137 / TURNS;
        struct tune_peak const before = peak_of(tune, 0.0);
        struct tune_peak after = before;
        tune_refine_peak(&refine, window, &after);
        assert_true(fabs(after.tune - tune) < 1e-12);
        assert_true(fabs(remainder(middle(&after) - middle(&before), TWO_PI)) < 1e-9);
        assert_true(after.amplitude == before.amplitude && after.tune_sigma == before.tune_sigma);
        worst_peak = fmax(worst_peak, fabs(before.tune - tune));
    }
    assert_true(worst_peak > 1e-11); /* else there was nothing to refine */
}

static void test_in_noise_it_stays_within_the_error(void **state) {
    (void)state;
    for (int i = 0; i < 50; ++i) {
        struct tune_peak const before = peak_of(0.2137, 0.5);
        struct tune_peak after = before;
        tune_refine_peak(&refine, window, &after);
        assert_true(fabs(after.tune - before.tune) < 0.5 * before.tune_sigma);
        assert_true(fabs(after.tune - 0.2137) < 6.0 * before.tune_sigma);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_a_line_without_noise_is_exact),
        cmocka_unit_test(test_in_noise_it_stays_within_the_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
