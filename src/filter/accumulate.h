// SPDX-License-Identifier: Apache-2.0
/** The inner loop of the decimator, once per instruction set. All give the same bits (see decimator.h).
 *
 * Each adds the complete group to every open output and moves the outputs down by one row:
 * sum[age] = sum[age + 1] + taps · group. Words 0–3 of a sum (turn and tag of a record) stay zero.
 */
#ifndef RM_FILTER_ACCUMULATE_H
#define RM_FILTER_ACCUMULATE_H

#include "filter/decimator.h"

void rm_accumulate_scalar(struct rm_decimator *decimator);

/** Needs RM_SIMD_AVX2. */
void rm_accumulate_avx2(struct rm_decimator *decimator);

/** Needs RM_SIMD_AVX512. */
void rm_accumulate_avx512(struct rm_decimator *decimator);

#endif
