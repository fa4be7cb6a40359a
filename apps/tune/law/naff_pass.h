// SPDX-License-Identifier: Apache-2.0
/** What is hot of NAFF, once per instruction set, the same bits from each: a pass over all turns.
 *
 * Turns go side by side in lanes. A lane's phasor is multiplied by the same factor from block to block: over N turns it
 * is off by less than N/32 · 2^−52. Sums are per lane, and added in one order in the end. No instruction set fuses
 * multiplication and addition.
 */
#ifndef TUNE_NAFF_PASS_H
#define TUNE_NAFF_PASS_H

#include <stdint.h>

enum {
    TUNE_NAFF_LANES = 32,
};

/** e^(2πi ν t) of the first block's turns, and what takes it to the next block. */
struct tune_naff_phasors {
    double re[TUNE_NAFF_LANES], im[TUNE_NAFF_LANES];
    double step_re, step_im;
    /** Turn of lane 0 in the first block. */
    double first;
};

/** Per lane: Σ u cos, Σ u sin, Σ u t cos, Σ u t sin. */
struct tune_naff_moments {
    double cosine[TUNE_NAFF_LANES], sine[TUNE_NAFF_LANES], cosine_t[TUNE_NAFF_LANES], sine_t[TUNE_NAFF_LANES];
};

/** Moments of u[padded]. */
typedef void tune_naff_pass(double const *u, uint32_t padded, struct tune_naff_phasors const *phasors,
                            struct tune_naff_moments *moments);

tune_naff_pass tune_naff_scalar, tune_naff_avx2, tune_naff_avx512;

#endif
