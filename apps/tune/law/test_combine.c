// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "combine.h"
#include "peak.h"
#include "test_series.h"

enum { TURNS = 1024, BPMS = 168 };

static double const TUNE = 0.2137, ROOT_2J = 3.0, PHASE_RAD = 0.9;

static struct tune_bpm bpm[BPMS];
static struct tune_weight weight[BPMS];
static float *series[BPMS];
static struct tune_spectrum spectrum;

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.12g is not %.12g ± %.1e", value, expected, within);
}

/** Phase advance of a ring with a tune of 14 and a bit; β from 1 to 20 m. */
static void ring_make(double noise) {
    for (int j = 0; j < BPMS; ++j)
        bpm[j] = (struct tune_bpm){10.5 + 9.5 * cos(0.7 * j), TWO_PI * 14.3 * j / BPMS + 0.2 * sin(0.7 * j), noise};
}

static void turns_make(double noise) {
    for (int j = 0; j < BPMS; ++j)
        for (int n = 0; n < TURNS; ++n)
            series[j][n] =
                (float)(ROOT_2J * sqrt(bpm[j].beta_m) * cos(TWO_PI * TUNE * n + PHASE_RAD + bpm[j].phase_rad) +
                        noise * draw_normal());
}

static struct tune_peak peak_of(struct tune_combination const *combination) {
    struct tune_peak peak;
    struct tune_band const band = {150, 350, combination->image_re, combination->image_im};
    tune_combine((float const *const *)series, weight, BPMS, TURNS, spectrum.series, RM_SIMD_BEST);
    tune_spectrum_transform(&spectrum);
    assert_true(tune_peak_find(spectrum.bin, TURNS, TUNE_RECTANGULAR, band, &peak));
    return peak;
}

/** Of one, a pair and all: the same line, as large, and its noise by the root of Σ β/σ². */
static void test_one_a_pair_and_all_see_the_same_line(void **state) {
    (void)state;
    static int const used[] = {1, 2, BPMS};
    double const noise = 0.5;
    for (size_t i = 0; i < sizeof used / sizeof *used; ++i) {
        ring_make(noise);
        double beta = 0.0;
        for (int j = 0; j < BPMS; ++j) {
            bpm[j].noise = j < used[i] ? noise : 0.0;
            beta += j < used[i] ? bpm[j].beta_m : 0.0;
        }
        struct tune_combination const combination = tune_weights_make(bpm, BPMS, weight);
        turns_make(noise);
        struct tune_peak const peak = peak_of(&combination);
        assert_int_equal(combination.used, used[i]);
        assert_near(combination.noise, noise / sqrt(beta), 1e-9);
        assert_near(peak.amplitude, ROOT_2J, 6.0 * peak.amplitude_sigma);
        assert_near(remainder(peak.phase_rad - PHASE_RAD, TWO_PI), 0.0, 12.0 * peak.amplitude_sigma / ROOT_2J);
        assert_near(peak.tune, TUNE, 6.0 * peak.tune_sigma);
        assert_near(peak.amplitude_sigma / (combination.noise * sqrt(2.0 / TURNS)), 1.0, 0.25);
    }
}

/** 168 BPMs with the same β: a thirteenth of the noise of one. */
static void test_noise_falls_with_the_root_of_their_number(void **state) {
    (void)state;
    ring_make(1.0);
    for (int j = 0; j < BPMS; ++j)
        bpm[j].beta_m = 8.0;
    double const all = tune_weights_make(bpm, BPMS, weight).noise;
    double const one = tune_weights_make(bpm, 1, weight).noise;
    assert_near(one / all, sqrt(BPMS), 1e-9);
    assert_near(78.1 / (one / all), 6.0, 0.05);
}

static void test_the_image_is_what_is_stated(void **state) {
    (void)state;
    ring_make(1.0);
    struct tune_combination const all = tune_weights_make(bpm, BPMS, weight);
    assert_true(hypot(all.image_re, all.image_im) < 0.1);
    struct tune_combination const one = tune_weights_make(bpm, 1, weight);
    assert_near(hypot(one.image_re, one.image_im), 1.0, 1e-9);
    bpm[1] = (struct tune_bpm){bpm[0].beta_m, bpm[0].phase_rad + TWO_PI / 4.0, 1.0}; /* position and angle */
    struct tune_combination const pair = tune_weights_make(bpm, 2, weight);
    assert_near(hypot(pair.image_re, pair.image_im), 0.0, 1e-9);
}

/** Without noise, where the image is greatest, the tune is still exact: its leakage is known. */
static void test_the_image_does_not_move_the_tune(void **state) {
    (void)state;
    ring_make(1.0);
    turns_make(0.0);
    for (int used = 1; used < 4; ++used) {
        for (int j = 0; j < BPMS; ++j)
            bpm[j].noise = j < used ? 1.0 : 0.0;
        struct tune_combination const combination = tune_weights_make(bpm, BPMS, weight);
        struct tune_peak const peak = peak_of(&combination);
        assert_near((peak.tune - TUNE) * TURNS, 0.0, 1e-4);
        assert_near(peak.amplitude, ROOT_2J, 1e-3);
    }
}

static void test_what_is_no_bpm_has_no_weight(void **state) {
    (void)state;
    ring_make(1.0);
    bpm[0].beta_m = NAN;
    bpm[1].phase_rad = INFINITY;
    bpm[2].noise = NAN;
    bpm[3].beta_m = -1.0;
    bpm[4].noise = 0.0;
    assert_int_equal(tune_weights_make(bpm, 6, weight).used, 1);
    for (int j = 0; j < 5; ++j)
        assert_true(weight[j].re == 0.0f && weight[j].im == 0.0f);
    assert_int_equal(tune_weights_make(bpm, 5, weight).used, 0);
    float const *const none[5] = {NULL};
    float zero[16];
    tune_combine(none, weight, 5, 8, zero, RM_SIMD_BEST);
    assert_true(zero[3] == 0.0f && zero[15] == 0.0f);
}

static void test_gives_the_same_bits_from_any_instruction_set(void **state) {
    (void)state;
    enum { SOME = TURNS - 5 };
    float expected[2 * SOME], found[2 * SOME];
    ring_make(1.0);
    turns_make(1.0);
    tune_weights_make(bpm, BPMS, weight);
    tune_combine((float const *const *)series, weight, BPMS, SOME, expected, RM_SIMD_SCALAR);
    for (enum rm_simd simd = RM_SIMD_AVX2; simd <= RM_SIMD_AVX512; ++simd) {
        tune_combine((float const *const *)series, weight, BPMS, SOME, found, simd);
        assert_memory_equal(found, expected, sizeof found);
    }
}

static int rig_open(void **state) {
    (void)state;
    for (int j = 0; j < BPMS; ++j)
        series[j] = calloc(TURNS, sizeof(float));
    return tune_spectrum_open(&spectrum, TURNS, 2) ? 0 : -1;
}

static int rig_close(void **state) {
    (void)state;
    for (int j = 0; j < BPMS; ++j)
        free(series[j]);
    tune_spectrum_close(&spectrum);
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_one_a_pair_and_all_see_the_same_line),
        cmocka_unit_test(test_noise_falls_with_the_root_of_their_number),
        cmocka_unit_test(test_the_image_is_what_is_stated),
        cmocka_unit_test(test_the_image_does_not_move_the_tune),
        cmocka_unit_test(test_gives_the_same_bits_from_any_instruction_set),
        cmocka_unit_test(test_what_is_no_bpm_has_no_weight),
    };
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
