// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "spectrum.h"
#include "test_series.h"

enum { TURNS = 512, BINS = TURNS / 2 + 1 };

static float row[BINS];

/** By its definition, in double precision. */
static double direct_square(double const *x, enum tune_window_kind kind, uint32_t k) {
    double re = 0.0, im = 0.0;
    for (uint32_t n = 0; n < TURNS; ++n) {
        double const angle = TWO_PI * k * (n - 0.5 * (TURNS - 1.0)) / TURNS;
        re += tune_window_weight(kind, TURNS, n) * x[n] * cos(angle);
        im -= tune_window_weight(kind, TURNS, n) * x[n] * sin(angle);
    }
    return re * re + im * im;
}

static void test_is_the_transform_of_either_window(void **state) {
    (void)state;
    double x[TURNS];
    struct tune_spectrum spectrum;
    assert_true(tune_spectrum_open(&spectrum, TURNS, 1));
    double sum = 0.0;
    for (uint32_t n = 0; n < TURNS; ++n)
        sum += x[n] = draw_normal() + cos(0.3 * n);
    for (uint32_t n = 0; n < TURNS; ++n)
        spectrum.series[n] = (float)(x[n] -= sum / TURNS);
    tune_spectrum_transform(&spectrum);
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        tune_spectrum_density(&spectrum, kind, row);
        for (uint32_t k = 0; k < BINS; k += k < 4 || k > BINS - 6 ? 1 : 17) {
            double const expected = 2.0 * direct_square(x, kind, k) / tune_window_squares(kind, TURNS);
            assert_true(fabs(row[k] - expected) <= 2e-5 * (1.0 + expected));
        }
    }
    tune_spectrum_close(&spectrum);
}

/** A closed orbit a million times the line leaves the line as it is. */
static void test_power_of_a_line_is_its_mean_square(void **state) {
    (void)state;
    struct tune_spectrum spectrum;
    assert_true(tune_spectrum_open(&spectrum, TURNS, 1));
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        for (uint32_t n = 0; n < TURNS; ++n)
            spectrum.series[n] = (float)(1e4 + 3.0 * cos(TWO_PI * 100 * n / TURNS + 0.4));
        tune_spectrum_transform(&spectrum);
        assert_true(fabs(spectrum.mean[0] - 1e4) < 1e-3);
        tune_spectrum_power(&spectrum, kind, row);
        assert_true(fabs(row[100] - 4.5) < 1e-2);
        assert_true(row[50] < 1e-6f && row[0] < 1e-6f);
        tune_spectrum_amplitudes(&spectrum.bin[80], TURNS, kind, 40, row);
        assert_true(fabs(row[20] - 3.0) < 3e-3 && row[0] < 1e-3f);
    }
    tune_spectrum_close(&spectrum);
}

static void test_density_of_noise_sums_to_its_mean_square(void **state) {
    (void)state;
    struct tune_spectrum spectrum;
    assert_true(tune_spectrum_open(&spectrum, TURNS, 1));
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        double sum = 0.0;
        enum { WINDOWS = 200 };
        for (int window = 0; window < WINDOWS; ++window) {
            for (uint32_t n = 0; n < TURNS; ++n)
                spectrum.series[n] = (float)(2.0 * draw_normal());
            tune_spectrum_transform(&spectrum);
            tune_spectrum_density(&spectrum, kind, row);
            for (uint32_t k = 0; k < BINS; ++k)
                sum += (double)row[k] / TURNS / WINDOWS;
        }
        assert_true(fabs(sum - 4.0) < 0.1);
    }
    tune_spectrum_close(&spectrum);
}

/** cos + i sin: all at +f, nothing at −f; and the means of both are taken off. */
static void test_quadratures_are_one_complex_series(void **state) {
    (void)state;
    struct tune_spectrum spectrum;
    assert_true(tune_spectrum_open(&spectrum, TURNS, 2));
    for (int sign = -1; sign <= 1; sign += 2) {
        for (uint32_t n = 0; n < TURNS; ++n) {
            spectrum.series[2 * n] = (float)(7.0 + cos(TWO_PI * 77 * n / TURNS));
            spectrum.series[2 * n + 1] = (float)(-3.0 + sign * sin(TWO_PI * 77 * n / TURNS));
        }
        tune_spectrum_transform(&spectrum);
        assert_true(fabs(spectrum.mean[0] - 7.0) < 1e-6 && fabs(spectrum.mean[1] + 3.0) < 1e-6);
        assert_true(fabs(hypot((double)spectrum.bin[77].re, (double)spectrum.bin[77].im) - (sign > 0 ? TURNS : 0)) <
                    1e-3);
        for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
            tune_spectrum_power(&spectrum, kind, row);
            assert_true(fabs(row[77] - (sign > 0 ? 2.0 : 0.0)) < 1e-4 && row[0] < 1e-6f);
        }
    }
    tune_spectrum_close(&spectrum);
}

static void test_the_mean_is_the_same_from_any_instruction_set(void **state) {
    (void)state;
    struct tune_spectrum spectrum;
    double mean[RM_SIMD_AVX512 + 1];
    assert_true(tune_spectrum_open(&spectrum, 250, 1));
    for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd) {
        spectrum.simd = simd;
        for (uint32_t n = 0; n < 250; ++n)
            spectrum.series[n] = (float)(1e5 + cos(n * n));
        tune_spectrum_transform(&spectrum);
        mean[simd] = spectrum.mean[0];
        assert_true(mean[simd] == mean[RM_SIMD_SCALAR]);
    }
    tune_spectrum_close(&spectrum);
}

static void test_any_even_length_will_do(void **state) {
    (void)state;
    static uint32_t const lengths[] = {64, 250, 1000, 4098};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        struct tune_spectrum spectrum;
        assert_true(tune_spectrum_open(&spectrum, lengths[i], 1));
        for (uint32_t n = 0; n < lengths[i]; ++n)
            spectrum.series[n] = (float)cos(TWO_PI * 12 * n / lengths[i]);
        tune_spectrum_transform(&spectrum);
        assert_true(fabs((double)spectrum.bin[12].re - 0.5 * lengths[i]) < 1e-5 * lengths[i]);
        tune_spectrum_close(&spectrum);
        assert_null(spectrum.series);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_is_the_transform_of_either_window),
        cmocka_unit_test(test_power_of_a_line_is_its_mean_square),
        cmocka_unit_test(test_density_of_noise_sums_to_its_mean_square),
        cmocka_unit_test(test_quadratures_are_one_complex_series),
        cmocka_unit_test(test_the_mean_is_the_same_from_any_instruction_set),
        cmocka_unit_test(test_any_even_length_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
