// SPDX-License-Identifier: Apache-2.0
/** What is hot of the sliding transform, once per instruction set, the same bits from each: it adds whole numbers.
 *
 * Eight neighbouring bins k, k + 1, … have the phasors e^(−2πi k m/N) · e^(−2πi j m/N), j = 0 … 7. The second factors
 * are the same for all groups of a turn. Their products are rounded to whole numbers: a function of k and m alone, as
 * each instruction set multiplies and subtracts in this order, without fused steps.
 */
#ifndef TUNE_SLIDING_PASS_H
#define TUNE_SLIDING_PASS_H

#include "sliding.h"

/** Of one to TUNE_SLIDING_BLOCK turns that follow each other. */
struct tune_sliding_block {
    uint32_t turns, groups, planes;
    double *sum;
    /** x(n) − x(n − N): [turn][plane]. */
    double const *step;
    /** The table e^(−2πi m/N); per turn the place of the first group, and how far the next one is. */
    double const *phasor;
    uint32_t first[TUNE_SLIDING_BLOCK], stride[TUNE_SLIDING_BLOCK], window;
    /** S e^(−2πi j m/N). */
    double base_re[TUNE_SLIDING_BLOCK][TUNE_SLIDING_LANES], base_im[TUNE_SLIDING_BLOCK][TUNE_SLIDING_LANES];
};

typedef void tune_sliding_pass(struct tune_sliding_block const *block);

tune_sliding_pass tune_sliding_scalar, tune_sliding_avx2, tune_sliding_avx512;

/** The place in the table of the group after this one. */
static inline uint32_t sliding_next_place(uint32_t place, uint32_t stride, uint32_t window) {
    uint32_t const next = place + stride;
    return next >= window ? next - window : next;
}

#endif
