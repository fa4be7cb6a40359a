// SPDX-License-Identifier: Apache-2.0
/** What is hot of a product, once per instruction set, the same bits from each.
 *
 * A processor multiplies 32-bit numbers to 64-bit ones at every other place of a vector. So of each block of
 * FEEDBACK_OUTPUT_BLOCK outputs the sums of the even ones come first, then those of the odd ones: weights, in their
 * plain order, are multiplied as they are loaded, and once more shifted by a place. The end puts sums back in order.
 */
#ifndef FEEDBACK_PRODUCT_PASS_H
#define FEEDBACK_PRODUCT_PASS_H

#include "product.h"

/** The end's arguments, as feedback_product_end has them. */
struct feedback_ending {
    uint32_t outputs;
    int64_t const *sum;
    double const *quantum;
    double scale;
    double const *ahead, *low, *high;
    double *setpoint, *cut;
};

typedef void feedback_add_pass(int64_t *sum, int32_t const *weight, uint32_t count, int32_t error);
typedef uint32_t feedback_end_pass(struct feedback_ending const *ending);

feedback_add_pass feedback_add_scalar, feedback_add_avx2, feedback_add_avx512;
feedback_end_pass feedback_end_scalar, feedback_end_avx2, feedback_end_avx512;

#endif
