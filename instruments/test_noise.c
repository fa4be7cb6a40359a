// SPDX-License-Identifier: Apache-2.0
/** The normal numbers: against the error function at every share down to 2^-63, and by counting, in the tails too. */
#include "noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lane_sums.h"

/** Share of all normal numbers above `z`. */
static double share_above(double z) { return 0.5 * erfc(z / sqrt(2)); }

/** Bits of the share p ≤ 1/2, in the 63 of rm_noise_normal_of. */
static double normal_at(double p, uint32_t sign) {
    double const scaled = p * 0x1p32;
    uint32_t const bits = (uint32_t)fmin(floor(scaled), 0x7FFFFFFF);
    uint32_t const more = (uint32_t)fmin((scaled - bits) * 0x1p32, 0xFFFFFFFF);
    return (double)rm_noise_normal_of(bits | sign, more);
}

static void normal_numbers_are_exact_to_9_sigma(void **state) {
    (void)state;
    for (int hundredths = 100; hundredths <= 6000; ++hundredths) {
        double const p = pow(2, -hundredths / 100.0), z = normal_at(p, 0);
        double const density = exp(-z * z / 2) / sqrt(2 * M_PI);
        assert_true(fabs(share_above(z) - p) < 5e-5 * density + 0x1p-62);
        assert_true(normal_at(p, 0x80000000u) == -z);
    }
    assert_true(normal_at(0x1p-62, 0) > 8.8);
    assert_true(rm_noise_normal_of(0, 0) > 9 && rm_noise_normal_of(0, 0) < 9.3f);
    assert_true(fabs((double)rm_noise_normal_of(0x7FFFFFFFu, 0xFFFFFFFFu)) < 5e-5);
}

/** Not more than five standard deviations from what is expected of a count. */
static void expect_count(double found, double expected) { assert_true(fabs(found - expected) < 5 * sqrt(expected)); }

static void normal_numbers_are_as_many_as_the_law_says(void **state) {
    (void)state;
    enum { DRAWS = 1 << 20, SIGMAS = 4 };
    double above[SIGMAS + 1] = {0}, below[SIGMAS + 1] = {0}, sum = 0, squares = 0;
    for (uint64_t key = 0; key < DRAWS; ++key) {
        double const z = rm_noise_normal(key);
        sum += z;
        squares += z * z;
        for (int s = 1; s <= SIGMAS; ++s) {
            above[s] += z > s;
            below[s] += z < -s;
        }
    }
    assert_true(fabs(sum / DRAWS) < 5 / sqrt(DRAWS));
    assert_true(fabs(squares / DRAWS - 1) < 5 * sqrt(2.0 / DRAWS));
    for (int s = 1; s <= SIGMAS; ++s) {
        expect_count(above[s], DRAWS * share_above(s));
        expect_count(below[s], DRAWS * share_above(s));
    }
}

/** Of all draws only those are made whose first bits are 0: one in 2^24. */
static void tails_are_the_normal_laws_to_7_sigma(void **state) {
    (void)state;
    enum { DRAWS = 1 << 20 };
    double const all = 0x1p-24;
    double above[3] = {0};
    double const sigma[3] = {5.5, 6, 6.5};
    uint32_t beyond_seven = 0;
    for (uint64_t key = 0; key < DRAWS; ++key) {
        uint64_t const random = rm_noise_u64(key);
        double const z = (double)rm_noise_normal_of((uint32_t)(random >> 56), (uint32_t)random);
        assert_true(z > 5.28);
        for (int s = 0; s < 3; ++s)
            above[s] += z > sigma[s];
        beyond_seven += z > 7;
    }
    for (int s = 0; s < 3; ++s)
        expect_count(above[s], DRAWS * share_above(sigma[s]) / all);
    assert_in_range(beyond_seven, 1, 60); /* 23 are expected */
}

/** Whatever the instruction set: lanes are vectors of what one number is. */
static void lanes_have_these_numbers(void **state) {
    (void)state;
    enum { LANES = 80, BASE = 100, SPREAD = 1000 };
    float *memory = aligned_alloc(64, (4 + RM_MOTION_COLUMNS) * LANES * sizeof *memory);
    float const column[RM_MOTION_COLUMNS] = {0};
    assert_non_null(memory);
    memset(memory, 0, (4 + RM_MOTION_COLUMNS) * LANES * sizeof *memory);
    struct rm_lane_sums const sums = {LANES,
                                      memory,
                                      memory + LANES,
                                      memory + 4 * LANES,
                                      (uint32_t *)(memory + 2 * LANES),
                                      (int32_t *)(memory + 3 * LANES)};
    for (uint32_t l = 0; l < LANES; ++l) {
        sums.base[l] = BASE;
        sums.spread[l] = SPREAD;
        sums.key[l] = l * 2654435761u;
    }
    for (uint64_t turn = 0; turn < 500; ++turn) {
        uint64_t const random = turn < 2 ? turn : rm_noise_u64(turn);
        rm_lane_sums_turn(&sums, 0, LANES, column, random);
        for (uint32_t l = 0; l < LANES; ++l) {
            float const normal = rm_noise_normal_of(rm_noise_u32(sums.key[l] + (uint32_t)random),
                                                    sums.key[l] + (uint32_t)(random >> 32));
            float const value = BASE + SPREAD * normal;
            assert_int_equal(sums.value[l], (int32_t)(value + copysignf(0.5f, value)));
        }
    }
    free(memory);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(normal_numbers_are_exact_to_9_sigma),
        cmocka_unit_test(normal_numbers_are_as_many_as_the_law_says),
        cmocka_unit_test(tails_are_the_normal_laws_to_7_sigma),
        cmocka_unit_test(lanes_have_these_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
