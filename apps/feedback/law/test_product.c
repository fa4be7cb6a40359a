// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "product.h"

enum { ROWS = 40, OUTPUTS = 96, SIMDS = 3, LINE = 64 };

static enum rm_simd const simds[SIMDS] = {RM_SIMD_SCALAR, RM_SIMD_AVX2, RM_SIMD_AVX512};

struct rig {
    struct feedback_product product;
    struct feedback_range range[ROWS];
    double weight[ROWS * OUTPUTS];
    int32_t error[ROWS];
    _Alignas(LINE) int64_t sum[OUTPUTS];
    double ahead[OUTPUTS], low[OUTPUTS], high[OUTPUTS], setpoint[OUTPUTS], cut[OUTPUTS];
};

static uint64_t seed = 1;

/** −1 to 1. */
static double noise(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed & ~(uint64_t)0x7ff) * 0x1p-63;
}

/** Rows touch the first or the last two thirds of the outputs by turns, or all of them. */
static void fill(struct rig *rig) {
    memset(rig, 0, sizeof *rig);
    for (uint32_t row = 0; row < ROWS; ++row) {
        rig->range[row] = (struct feedback_range){row % 3 == 0 ? 0 : row % 3 * 16, row % 3 == 0 ? OUTPUTS : 64};
        rig->error[row] = (int32_t)(noise() * 1e5);
        for (uint32_t i = 0; i < rig->range[row].count; ++i)
            rig->weight[row * OUTPUTS + rig->range[row].first + i] = noise() * 1e-6;
    }
    for (uint32_t i = 0; i < OUTPUTS; ++i) {
        rig->ahead[i] = noise();
        rig->low[i] = -10;
        rig->high[i] = 10;
    }
}

static void make(struct rig *rig, enum rm_simd simd) {
    assert_true(feedback_product_make(&rig->product, ROWS, OUTPUTS, rig->range, simd));
    feedback_product_set(&rig->product, rig->weight, OUTPUTS);
}

/** Rows in the order `first`, `first + step`, … */
static uint32_t run(struct rig *rig, uint32_t first, uint32_t step, double scale) {
    feedback_product_begin(&rig->product, rig->sum);
    for (uint32_t i = 0; i < ROWS; ++i) {
        uint32_t const row = (first + i * step) % ROWS;
        feedback_product_add(&rig->product, rig->sum, row, rig->error[row]);
    }
    return feedback_product_end(&rig->product, rig->sum, scale, rig->ahead, rig->low, rig->high, rig->setpoint,
                                rig->cut);
}

static struct rig rigs[2];

static void test_is_the_product(void **state) {
    (void)state;
    struct rig *const rig = &rigs[0];
    fill(rig);
    make(rig, RM_SIMD_BEST);
    assert_int_equal(run(rig, 0, 1, 0.5), 0);
    for (uint32_t i = 0; i < OUTPUTS; ++i) {
        double sum = 0, errors = 0;
        for (uint32_t row = 0; row < ROWS; ++row) {
            sum += rig->weight[row * OUTPUTS + i] * rig->error[row];
            errors += abs(rig->error[row]);
        }
        assert_true(fabs(rig->setpoint[i] - (0.5 * sum + rig->ahead[i])) <= 1e-6 * 0x1p-30 * errors + 1e-15);
        assert_true(rig->cut[i] == 0);
    }
    feedback_product_free(&rig->product);
}

static void assert_same(struct rig const *a, struct rig const *b) {
    assert_memory_equal(a->setpoint, b->setpoint, sizeof a->setpoint);
    assert_memory_equal(a->cut, b->cut, sizeof a->cut);
}

/** Every order and every instruction set against scalar in plain order. */
static void compare_all(void) {
    struct rig *const plain = &rigs[0], *const other = &rigs[1];
    make(plain, RM_SIMD_SCALAR);
    uint32_t const cuts = run(plain, 0, 1, 0.37);
    for (int i = 0; i < SIMDS; ++i) {
        *other = *plain;
        make(other, simds[i]);
        for (uint32_t order = 0; order < 3; ++order) {
            memset(other->setpoint, 0, sizeof other->setpoint);
            assert_int_equal(run(other, 7 * order, (uint32_t[]){1, 3, ROWS - 1}[order], 0.37), cuts);
            assert_same(plain, other);
        }
        feedback_product_free(&other->product);
    }
    feedback_product_free(&plain->product);
}

static void test_gives_the_same_bits_in_any_order_from_any_instruction_set(void **state) {
    (void)state;
    for (int round = 0; round < 50; ++round) {
        fill(&rigs[0]);
        for (uint32_t i = 0; i < OUTPUTS; i += 5)
            rigs[0].low[i] = rigs[0].ahead[i] + 0.1;
        compare_all();
    }
}

static void test_gives_the_same_bits_at_the_extremes(void **state) {
    (void)state;
    struct rig *const rig = &rigs[0];
    fill(rig);
    for (uint32_t row = 0; row < ROWS; ++row) {
        rig->error[row] = row % 2 ? INT32_MAX : INT32_MIN;
        for (uint32_t i = 0; i < rig->range[row].count; ++i)
            rig->weight[row * OUTPUTS + rig->range[row].first + i] = row % 2 ? 1e9 : -1e9;
    }
    for (uint32_t i = 0; i < OUTPUTS; ++i) {
        rig->ahead[i] = (double[]){0, -0.0, NAN, INFINITY, -INFINITY, 1e308, 0x1p-1074}[i % 7];
        rig->low[i] = i % 2 ? -INFINITY : -1;
        rig->high[i] = i % 3 ? INFINITY : 1;
    }
    compare_all();
    for (uint32_t row = 0; row < ROWS; ++row)
        rig->error[row] = 0;
    compare_all();
}

/** As many rows as there may be, each with the largest weight and the largest error, of either sign. */
static void test_holds_the_largest_sum(void **state) {
    (void)state;
    static struct feedback_range range[FEEDBACK_ROWS_MAX];
    static double weight[FEEDBACK_ROWS_MAX * FEEDBACK_OUTPUT_BLOCK];
    _Alignas(LINE) int64_t sum[FEEDBACK_OUTPUT_BLOCK];
    double const ahead[FEEDBACK_OUTPUT_BLOCK] = {0};
    double low[FEEDBACK_OUTPUT_BLOCK], high[FEEDBACK_OUTPUT_BLOCK], setpoint[FEEDBACK_OUTPUT_BLOCK];
    for (uint32_t i = 0; i < FEEDBACK_OUTPUT_BLOCK; ++i) {
        low[i] = -INFINITY;
        high[i] = INFINITY;
    }
    for (uint32_t row = 0; row < FEEDBACK_ROWS_MAX; ++row) {
        range[row] = (struct feedback_range){0, FEEDBACK_OUTPUT_BLOCK};
        for (uint32_t i = 0; i < FEEDBACK_OUTPUT_BLOCK; ++i)
            weight[row * FEEDBACK_OUTPUT_BLOCK + i] = i % 2 ? 1 : -1;
    }
    for (int i = 0; i < SIMDS; ++i) {
        struct feedback_product product;
        assert_true(feedback_product_make(&product, FEEDBACK_ROWS_MAX, FEEDBACK_OUTPUT_BLOCK, range, simds[i]));
        feedback_product_set(&product, weight, FEEDBACK_OUTPUT_BLOCK);
        feedback_product_begin(&product, sum);
        for (uint32_t row = 0; row < FEEDBACK_ROWS_MAX; ++row)
            feedback_product_add(&product, sum, row, INT32_MIN);
        feedback_product_end(&product, sum, 1, ahead, low, high, setpoint, NULL);
        double const expected = (double)FEEDBACK_ERROR_MOST * FEEDBACK_ROWS_MAX;
        for (uint32_t output = 0; output < FEEDBACK_OUTPUT_BLOCK; ++output)
            assert_true(fabs(setpoint[output] - (output % 2 ? -expected : expected)) <= expected * 1e-9);
        feedback_product_free(&product);
    }
}

static void test_cuts_counts_and_says_by_how_much(void **state) {
    (void)state;
    for (int i = 0; i < SIMDS; ++i) {
        struct rig *const rig = &rigs[0];
        fill(rig);
        rig->ahead[3] = 1e3;
        rig->ahead[95] = -1e3;
        rig->ahead[50] = NAN;
        make(rig, simds[i]);
        assert_int_equal(run(rig, 0, 1, 0), 2);
        assert_true(rig->setpoint[3] == 10 && rig->cut[3] == 990);
        assert_true(rig->setpoint[95] == -10 && rig->cut[95] == -990);
        assert_true(isnan(rig->setpoint[50]));
        assert_true(rig->setpoint[4] == rig->ahead[4] && rig->cut[4] == 0);
        feedback_product_free(&rig->product);
    }
}

static void test_leaves_what_a_row_does_not_touch(void **state) {
    (void)state;
    struct rig *const rig = &rigs[0];
    fill(rig);
    make(rig, RM_SIMD_BEST);
    feedback_product_begin(&rig->product, rig->sum);
    feedback_product_add(&rig->product, rig->sum, 1, 1000);
    feedback_product_end(&rig->product, rig->sum, 1, rig->ahead, rig->low, rig->high, rig->setpoint, NULL);
    for (uint32_t i = 0; i < OUTPUTS; ++i)
        assert_true((rig->setpoint[i] != rig->ahead[i]) == (i >= 16 && i < 80));
    feedback_product_free(&rig->product);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_is_the_product),
        cmocka_unit_test(test_gives_the_same_bits_in_any_order_from_any_instruction_set),
        cmocka_unit_test(test_gives_the_same_bits_at_the_extremes),
        cmocka_unit_test(test_holds_the_largest_sum),
        cmocka_unit_test(test_cuts_counts_and_says_by_how_much),
        cmocka_unit_test(test_leaves_what_a_row_does_not_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
