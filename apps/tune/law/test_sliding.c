// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sliding.h"
#include "test_series.h"

enum { TURNS = 256, FIRST = 37, BINS = 21, PLANES = 3, LANES = TUNE_SLIDING_LANES };
enum { LONG = 9 * TURNS + 11, SIMDS = 3 };

static enum rm_simd const simds[SIMDS] = {RM_SIMD_SCALAR, RM_SIMD_AVX2, RM_SIMD_AVX512};
static int32_t series_nm[LONG][PLANES];

static void sliding_make(struct tune_sliding *sliding, enum rm_simd simd) {
    assert_true(tune_sliding_open(sliding, TURNS, FIRST, BINS, PLANES, TUNE_SLIDING_RANGE_MAX_NM, simd));
}

static void assert_same_sums(struct tune_sliding const *a, struct tune_sliding const *b) {
    assert_memory_equal(a->sum, b->sum, (size_t)a->groups * PLANES * 2 * LANES * sizeof(double));
}

/** nm signals, after a transient of 10 mm that ends before the last window. */
static void series_fill(void) {
    for (uint32_t n = 0; n < LONG; ++n)
        for (uint32_t plane = 0; plane < PLANES; ++plane) {
            double const size = n < LONG - TURNS && n > TURNS ? 1e7 : 3.0;
            series_nm[n][plane] = (int32_t)(size * (2.0 * draw_even() - 1.0));
        }
}

/** Knows the last window alone, at the same places. */
static void sliding_of_last_window(struct tune_sliding *sliding) {
    static int32_t const nothing[PLANES];
    for (uint32_t n = 0; n < (LONG - TURNS) % TURNS; ++n)
        tune_sliding_push(sliding, nothing, 1);
    tune_sliding_push(sliding, series_nm[LONG - TURNS], TURNS);
}

static void test_is_bit_by_bit_the_last_window(void **state) {
    (void)state;
    series_fill();
    for (int i = 0; i < SIMDS; ++i) {
        struct tune_sliding all, last;
        sliding_make(&all, simds[i]);
        sliding_make(&last, RM_SIMD_SCALAR);
        for (uint32_t n = 0; n < LONG;) {
            uint32_t const count = (uint32_t)fmin(1 + n % 7, LONG - n);
            tune_sliding_push(&all, series_nm[n], count);
            n += count;
        }
        sliding_of_last_window(&last);
        assert_same_sums(&all, &last);
        tune_sliding_clear(&all);
        sliding_of_last_window(&all);
        assert_same_sums(&all, &last);
        tune_sliding_close(&all);
        tune_sliding_close(&last);
    }
}

/** P(k, m), from what one nm at place m adds. */
static void phasors_read(struct tune_sliding *sliding, int64_t *phasor, uint32_t sums) {
    for (uint32_t m = 0; m < TURNS; ++m) {
        int32_t position[PLANES] = {1, 1, 1};
        int32_t const nothing[PLANES] = {0};
        tune_sliding_push(sliding, position, 1);
        for (uint32_t s = 0; s < sums; ++s)
            phasor[(size_t)m * sums + s] = (int64_t)sliding->sum[s];
        for (uint32_t n = 0; n < TURNS; ++n)
            tune_sliding_push(sliding, nothing, 1);
    }
}

/** The largest positions with the signs that make a bin's sum largest: exact in 64-bit integers, and so in doubles. */
static void test_is_exact_at_the_extremes(void **state) {
    (void)state;
    for (int i = 0; i < SIMDS; ++i) {
        struct tune_sliding sliding;
        sliding_make(&sliding, simds[i]);
        uint32_t const sums = sliding.groups * PLANES * 2 * LANES;
        int64_t *const phasor = calloc((size_t)TURNS * sums, sizeof *phasor);
        phasors_read(&sliding, phasor, sums);
        tune_sliding_clear(&sliding);
        uint32_t const greatest = 5;
        for (uint32_t m = 0; m < TURNS; ++m) {
            int32_t const side = phasor[(size_t)m * sums + greatest] < 0 ? -1 : 1;
            int32_t const position[PLANES] = {side * INT32_MAX, side * TUNE_SLIDING_RANGE_MAX_NM, -side};
            tune_sliding_push(&sliding, position, 1);
        }
        assert_int_equal(sliding.cut_turns[0], TURNS);
        assert_int_equal(sliding.cut_turns[1], 0);
        for (uint32_t s = 0; s < sums; ++s) {
            int64_t expected = 0;
            for (uint32_t m = 0; m < TURNS; ++m)
                expected += phasor[(size_t)m * sums + s] * sliding.history_nm[m * PLANES + s / (2 * LANES) % PLANES];
            assert_true((int64_t)sliding.sum[s] == expected && llabs(expected) <= INT64_C(1) << 53);
        }
        free(phasor);
        tune_sliding_close(&sliding);
    }
}

static void test_is_the_transform_of_the_window(void **state) {
    (void)state;
    series_fill();
    struct tune_sliding sliding;
    sliding_make(&sliding, RM_SIMD_BEST);
    tune_sliding_push(&sliding, series_nm[0], LONG);
    for (uint32_t plane = 0; plane < PLANES; ++plane) {
        struct tune_bin bin[BINS];
        tune_sliding_bins(&sliding, plane, bin);
        for (uint32_t i = 0; i < BINS; ++i) {
            double re = 0.0, im = 0.0;
            for (uint32_t n = 0; n < TURNS; ++n) {
                re += series_nm[LONG - TURNS + n][plane] * cos(TWO_PI * (FIRST + i) * n / TURNS);
                im -= series_nm[LONG - TURNS + n][plane] * sin(TWO_PI * (FIRST + i) * n / TURNS);
            }
            assert_true(fabs((double)bin[i].re - re) < 1e-3 && fabs((double)bin[i].im - im) < 1e-3);
        }
    }
    tune_sliding_close(&sliding);
}

static void test_holds_a_lost_turn_and_counts_it(void **state) {
    (void)state;
    struct tune_sliding lossy, held;
    sliding_make(&lossy, RM_SIMD_BEST);
    sliding_make(&held, RM_SIMD_SCALAR);
    for (uint32_t n = 0; n < 3 * TURNS; ++n) {
        int32_t position[PLANES] = {(int32_t)n / 3 * 3, 7, (int32_t)n};
        tune_sliding_push(&held, position, 1);
        if (n % 3 == 1)
            position[0] = TUNE_TURN_LOST;
        tune_sliding_push(&lossy, position, 1);
    }
    assert_same_sums(&lossy, &held);
    assert_in_range(lossy.lost_turns[0], TURNS / 3, TURNS / 3 + 1);
    assert_int_equal(lossy.lost_turns[1], 0);
    int32_t const position[PLANES] = {0};
    for (uint32_t n = 0; n < TURNS; ++n)
        tune_sliding_push(&lossy, position, 1);
    assert_int_equal(lossy.lost_turns[0], 0);
    tune_sliding_close(&lossy);
    tune_sliding_close(&held);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_is_bit_by_bit_the_last_window),
        cmocka_unit_test(test_is_exact_at_the_extremes),
        cmocka_unit_test(test_is_the_transform_of_the_window),
        cmocka_unit_test(test_holds_a_lost_turn_and_counts_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
