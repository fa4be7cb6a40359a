// SPDX-License-Identifier: Apache-2.0
/** The streamed matrix product: y = A e, a column at a time, in whatever order the elements of e come.
 *
 *     feedback_product_begin(sum, product);
 *     feedback_product_add(product, sum, row, error);     // as each row of the orbit comes
 *     …
 *     feedback_product_end(product, sum, ahead, low, high, setpoint);   // setpoint = A e + ahead, within limits
 *
 * ## Why integers
 * Sums of floating-point numbers depend on their order, and the order in which datagrams arrive is not known. Sums of
 * integers do not: so the errors are whole numbers of nm (BPMs send whole nm), the weights whole multiples of a
 * quantum per output, and the sums are exact in 64 bits. The same recording gives the same setpoints bit by bit,
 * in any order, scalar, with AVX2 and with AVX-512.
 *
 * ## Ranges
 * |error| < 2^22 nm (4.19 mm; beyond, it is cut there and counted by the caller), |weight| < 2^30 of the output's
 * quantum, at most 1024 rows: |sum| < 2^62. An output's quantum is its largest weight / (2^30 − 1): quantised weights
 * are off by less than 2^-30 of the largest.
 *
 * ## Layout
 * Outputs are in one order, the horizontal ones before the vertical. A row touches a range of outputs: of an uncoupled
 * matrix those of its plane. Ranges begin and end at multiples of 16 outputs (padding has weights 0): one cache line of
 * weights.
 */
#ifndef FEEDBACK_PRODUCT_H
#define FEEDBACK_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/simd.h>

enum {
    FEEDBACK_ROWS_MAX = 1024,
    /** Most outputs, padding included. */
    FEEDBACK_OUTPUTS_MAX = 2048,

    FEEDBACK_OUTPUT_BLOCK = 16,
    /** Largest error, nm. */
    FEEDBACK_ERROR_MOST = (1 << 22) - 1,
};

/** Outputs that one row touches. */
struct feedback_range {
    /** Both are multiples of FEEDBACK_OUTPUT_BLOCK. */
    uint32_t first, count;
};

struct feedback_product {
    /** Both are padded. */
    uint32_t rows, outputs;
    /** The instruction set, as rm_simd_choose gave it. */
    enum rm_simd simd;
    /** [row] the outputs that it touches. */
    struct feedback_range *range;
    /** [row] weights of its range, in quanta; 64-byte aligned. */
    int32_t **column;
    /** [output] unit per (nm · weight); 0 where all weights are 0. */
    double *quantum;

    void *memory;
};

/** Makes room for so many rows and outputs; all weights 0. False without memory. */
bool feedback_product_make(struct feedback_product *product, uint32_t rows, uint32_t outputs,
                           struct feedback_range const *range, enum rm_simd simd);
void feedback_product_free(struct feedback_product *product);

/** Quantises `weight[row * stride + output]`, unit per nm. What lies outside of a row's range must be 0 and is not
 * looked at. */
void feedback_product_set(struct feedback_product *product, double const *weight, uint32_t stride);

/** Clears sum[outputs], which is 64-byte aligned. Until feedback_product_end its order is that of the processor's
 * multiplication: of each block first the even outputs, then the odd ones. */
void feedback_product_begin(struct feedback_product const *product, int64_t *sum);
void feedback_product_add(struct feedback_product const *product, int64_t *sum, uint32_t row, int32_t error_nm);

/** Brings a row's weights near while there is time: for the last rows of a cycle, whose weights may have left the cache
 * since the cycle before. */
void feedback_product_near(struct feedback_product const *product, uint32_t row);

/** value = scale · A e + ahead, and setpoint = value cut to [low, high]. Arrays of `outputs`. `scale` is the loop's
 * gain (soft start). Returns how many were cut; `cut` (or NULL) gets value − setpoint. An `ahead` that is no number
 * gives a setpoint that is none, and is not counted. */
uint32_t feedback_product_end(struct feedback_product const *product, int64_t const *sum, double scale,
                              double const *ahead, double const *low, double const *high, double *setpoint,
                              double *cut);

#endif
