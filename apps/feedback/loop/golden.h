// SPDX-License-Identifier: Apache-2.0
/** The wanted orbit on its way to another one: all rows together, the one that has furthest to go at `speed`, so that a
 * closed bump stays closed on its way. */
#ifndef FEEDBACK_GOLDEN_H
#define FEEDBACK_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>

struct feedback_golden {
    uint32_t rows;
    /** nm per cycle. */
    double most;
    /** [row] nm. */
    double *now;
    /** [row] the same in whole nm. */
    int32_t *whole;
};

/** As wanted, at once. */
void feedback_golden_begin(struct feedback_golden *golden, double const *wanted);

/** The way of so many cycles. */
void feedback_golden_approach(struct feedback_golden *golden, double const *wanted, uint32_t cycles);

#endif
