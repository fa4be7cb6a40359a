// SPDX-License-Identifier: Apache-2.0
/** The wanted orbit on its way to another one: all rows together, the one that has furthest to go at `speed`, so that a
 * closed bump stays closed on its way. */
#ifndef FEEDBACK_GOLDEN_H
#define FEEDBACK_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>

struct feedback_golden {
    uint32_t rows;
    /** Largest step of a row, nm per cycle. */
    double most;
    /** [row] the orbit wanted now, nm. */
    double *now;
    /** [row] the same, rounded to whole nm. */
    int32_t *whole;
};

/** Takes `wanted` over at once. */
void feedback_golden_begin(struct feedback_golden *golden, double const *wanted);

/** Goes on towards `wanted` by the way of so many cycles: UINT32_MAX while the loop is open, as nothing moves by it then,
 * and a loop that is closed in the next moment is to begin with the orbit that is wanted. */
void feedback_golden_approach(struct feedback_golden *golden, double const *wanted, uint32_t cycles);

#endif
