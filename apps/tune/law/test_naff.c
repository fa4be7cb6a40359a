// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "naff.h"
#include "naff_pass.h"
#include "test_series.h"

enum { TURNS = 1024, MOST = 8192 };

static double x[MOST];

static void series_add(struct tune_line const *line, uint32_t turns) {
    for (uint32_t n = 0; n < turns; ++n)
        x[n] += line->amplitude * cos(TWO_PI * line->tune * n + line->phase_rad);
}

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.17g is not %.17g ± %.1e", value, expected, within);
}

/** A closed orbit, and a line anywhere between two bins. */
static void test_a_line_is_found_to_the_accuracy_of_doubles(void **state) {
    (void)state;
    static uint32_t const lengths[] = {TURNS, 1000, 250, MOST};
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
            struct tune_naff naff;
            assert_true(tune_naff_open(&naff, lengths[i], kind, RM_SIMD_BEST));
            for (int step = 0; step < 8; ++step) {
                double const beside = 0.13 * step;
                struct tune_line const line = {(floor(0.217 * lengths[i]) + beside) / lengths[i], 2.5, -2.0 + beside};
                struct tune_line found;
                for (uint32_t n = 0; n < lengths[i]; ++n)
                    x[n] = 1e3;
                series_add(&line, lengths[i]);
                tune_naff_take(&naff, x);
                assert_true(tune_naff_next(&naff, 0.0, 0.5, &found));
                assert_near((found.tune - line.tune) * lengths[i], 0.0, 1e-9);
                assert_near(found.amplitude, line.amplitude, 1e-9);
                assert_near(found.phase_rad, line.phase_rad, 1e-9);
            }
            tune_naff_close(&naff);
        }
}

static void test_lines_come_strongest_first(void **state) {
    (void)state;
    static struct tune_line const lines[] = {{0.2134, 3.0, 0.1}, {0.3071, 0.5, 1.0}, {0.1291, 0.02, -3.0}};
    enum { LINES = sizeof lines / sizeof *lines };
    struct tune_naff naff;
    assert_true(tune_naff_open(&naff, TURNS, TUNE_HANN, RM_SIMD_BEST));
    memset(x, 0, sizeof x);
    for (int i = 0; i < LINES; ++i)
        series_add(&lines[i], TURNS);
    tune_naff_take(&naff, x);
    for (int i = 0; i < LINES; ++i) {
        struct tune_line found;
        assert_true(tune_naff_next(&naff, 0.0, 0.5, &found));
        assert_near(found.tune, lines[i].tune, 1e-7);
        assert_near(found.amplitude, lines[i].amplitude, 1e-4);
    }
    tune_naff_take(&naff, x);
    struct tune_line found;
    assert_true(tune_naff_next(&naff, 0.3, 0.35, &found));
    assert_near(found.tune, lines[1].tune, 1e-6);
    tune_naff_close(&naff);
}

/** 300 windows: their scatter is known to 4 %. */
static void test_error_is_that_of_the_window(void **state) {
    (void)state;
    enum { WINDOWS = 300 };
    static double const most[] = {[TUNE_RECTANGULAR] = 1.15, [TUNE_HANN] = 1.7};
    static double const least[] = {[TUNE_RECTANGULAR] = 0.85, [TUNE_HANN] = 1.35};
    double const noise = 0.2, bound = sqrt(24.0 * noise * noise / (pow(TURNS, 3.0))) / TWO_PI;
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
        struct tune_naff naff;
        double squares = 0.0;
        assert_true(tune_naff_open(&naff, TURNS, kind, RM_SIMD_BEST));
        for (int window = 0; window < WINDOWS; ++window) {
            struct tune_line const line = {0.21 + draw_even() / TURNS, 1.0, TWO_PI * draw_even()};
            struct tune_line found;
            for (uint32_t n = 0; n < TURNS; ++n)
                x[n] = noise * draw_normal();
            series_add(&line, TURNS);
            tune_naff_take(&naff, x);
            assert_true(tune_naff_next(&naff, 0.0, 0.5, &found));
            squares += (found.tune - line.tune) * (found.tune - line.tune);
        }
        double const error = sqrt(squares / WINDOWS) / bound;
        assert_true(error > least[kind] && error < most[kind]);
        tune_naff_close(&naff);
    }
}

static void test_gives_the_same_bits_from_any_instruction_set(void **state) {
    (void)state;
    static enum rm_simd const simds[] = {RM_SIMD_SCALAR, RM_SIMD_AVX2, RM_SIMD_AVX512};
    enum { SIMDS = sizeof simds / sizeof *simds };
    static uint32_t const lengths[] = {TURNS, 250};
    for (size_t length = 0; length < 2; ++length) {
        struct tune_naff naff[SIMDS];
        for (uint32_t n = 0; n < lengths[length]; ++n)
            x[n] = cos(n) + draw_normal();
        for (int i = 0; i < SIMDS; ++i) {
            assert_true(tune_naff_open(&naff[i], lengths[length], TUNE_HANN, simds[i]));
            for (uint32_t n = 0; n < lengths[length]; ++n)
                naff[i].product[n] = x[n];
        }
        struct tune_naff_phasors phasors = {.step_re = cos(3.0), .step_im = sin(3.0), .first = -511.5};
        for (int lane = 0; lane < TUNE_NAFF_LANES; ++lane) {
            phasors.re[lane] = draw_normal();
            phasors.im[lane] = draw_normal();
        }
        struct tune_naff_moments moments[SIMDS];
        tune_naff_scalar(naff[0].product, naff[0].padded, &phasors, &moments[0]);
        if (rm_simd_best() >= RM_SIMD_AVX2) {
            tune_naff_avx2(naff[0].product, naff[0].padded, &phasors, &moments[1]);
            assert_memory_equal(&moments[1], &moments[0], sizeof *moments);
        }
        if (rm_simd_best() >= RM_SIMD_AVX512) {
            tune_naff_avx512(naff[0].product, naff[0].padded, &phasors, &moments[2]);
            assert_memory_equal(&moments[2], &moments[0], sizeof *moments);
        }
        for (int i = 0; i < SIMDS; ++i)
            tune_naff_close(&naff[i]);
    }
}

static void test_nothing_has_no_line(void **state) {
    (void)state;
    struct tune_naff naff;
    struct tune_line found;
    assert_true(tune_naff_open(&naff, TURNS, TUNE_RECTANGULAR, RM_SIMD_BEST));
    for (uint32_t n = 0; n < TURNS; ++n)
        x[n] = 5.0;
    tune_naff_take(&naff, x);
    assert_false(tune_naff_next(&naff, 0.0, 0.5, &found));
    x[3] = 6.0;
    tune_naff_take(&naff, x);
    assert_false(tune_naff_next(&naff, 0.4, 0.3, &found));
    tune_naff_close(&naff);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_a_line_is_found_to_the_accuracy_of_doubles),
        cmocka_unit_test(test_lines_come_strongest_first),
        cmocka_unit_test(test_error_is_that_of_the_window),
        cmocka_unit_test(test_gives_the_same_bits_from_any_instruction_set),
        cmocka_unit_test(test_nothing_has_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
