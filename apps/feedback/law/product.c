// SPDX-License-Identifier: Apache-2.0
#include "product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"
#include "product_pass.h"

enum { LINE_BYTES = 64, WEIGHT_MOST = (1 << 30) - 1 };

static size_t round_up_to_line(size_t bytes) { return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES; }

bool feedback_product_make(struct feedback_product *product, uint32_t rows, uint32_t outputs,
                           struct feedback_range const *range, enum rm_simd simd) {
    *product = (struct feedback_product){.rows = rows, .outputs = outputs, .simd = rm_simd_choose(simd)};
    size_t weights = 0;
    for (uint32_t row = 0; row < rows; ++row)
        weights += range[row].count;
    size_t const ranges = round_up_to_line(rows * sizeof *range),
                 columns = round_up_to_line(rows * sizeof *product->column);
    size_t const quanta = round_up_to_line(outputs * sizeof *product->quantum);
    size_t const bytes = ranges + columns + quanta + weights * sizeof(int32_t) + LINE_BYTES;
    product->memory = rm_zeroed(1, bytes);
    if (product->memory == NULL)
        return false;
    char *const memory = product->memory;
    product->range = (struct feedback_range *)memory;
    product->column = (int32_t **)(memory + ranges);
    product->quantum = (double *)(memory + ranges + columns);
    int32_t *next = (int32_t *)(memory + ranges + columns + quanta);
    for (uint32_t row = 0; row < rows; ++row) {
        product->range[row] = range[row];
        product->column[row] = next;
        next += range[row].count;
    }
    return true;
}

void feedback_product_free(struct feedback_product *product) {
    free(product->memory);
    *product = (struct feedback_product){0};
}

static bool range_touches_output(struct feedback_range const *range, uint32_t output) {
    return output - range->first < range->count;
}

/** Weights stand in plain order; sums do not (product_pass.h). */
static void set_output(struct feedback_product *product, double const *weight, uint32_t stride, uint32_t output) {
    double largest = 0;
    for (uint32_t row = 0; row < product->rows; ++row)
        if (range_touches_output(&product->range[row], output))
            largest = fmax(largest, fabs(weight[(size_t)row * stride + output]));
    double const quantum = largest / WEIGHT_MOST;
    product->quantum[output] = quantum;
    for (uint32_t row = 0; row < product->rows; ++row) {
        if (!range_touches_output(&product->range[row], output))
            continue;
        double const whole = quantum > 0 ? nearbyint(weight[(size_t)row * stride + output] / quantum) : 0;
        product->column[row][output - product->range[row].first] =
            (int32_t)fmin(fmax(whole, -WEIGHT_MOST), WEIGHT_MOST);
    }
}

void feedback_product_set(struct feedback_product *product, double const *weight, uint32_t stride) {
    for (uint32_t output = 0; output < product->outputs; ++output)
        set_output(product, weight, stride, output);
}

void feedback_product_begin(struct feedback_product const *product, int64_t *sum) {
    memset(sum, 0, product->outputs * sizeof *sum);
}

void feedback_product_near(struct feedback_product const *product, uint32_t row) {
    enum { WEIGHTS_OF_A_LINE = LINE_BYTES / sizeof(int32_t) };
    for (uint32_t i = 0; i < product->range[row].count; i += WEIGHTS_OF_A_LINE)
        __builtin_prefetch(product->column[row] + i);
}

void feedback_product_add(struct feedback_product const *product, int64_t *sum, uint32_t row, int32_t error_nm) {
    int32_t const above = error_nm > -FEEDBACK_ERROR_MOST ? error_nm : -FEEDBACK_ERROR_MOST;
    int32_t const error = above < FEEDBACK_ERROR_MOST ? above : FEEDBACK_ERROR_MOST;
    struct feedback_range const range = product->range[row];
    int32_t const *const weight = product->column[row];
    if (product->simd == RM_SIMD_AVX512)
        feedback_add_avx512(sum + range.first, weight, range.count, error);
    else if (product->simd == RM_SIMD_AVX2)
        feedback_add_avx2(sum + range.first, weight, range.count, error);
    else
        feedback_add_scalar(sum + range.first, weight, range.count, error);
}

uint32_t feedback_product_end(struct feedback_product const *product, int64_t const *sum, double scale,
                              double const *ahead, double const *low, double const *high, double *setpoint,
                              double *cut) {
    struct feedback_ending ending = {.outputs = product->outputs, .sum = sum, .quantum = product->quantum};
    ending.scale = scale;
    ending.ahead = ahead;
    ending.low = low;
    ending.high = high;
    ending.setpoint = setpoint;
    ending.cut = cut;
    if (product->simd == RM_SIMD_AVX512)
        return feedback_end_avx512(&ending);
    if (product->simd == RM_SIMD_AVX2)
        return feedback_end_avx2(&ending);
    return feedback_end_scalar(&ending);
}
