// SPDX-License-Identifier: Apache-2.0
/** Detector `drift`: at this speed a limit is reached soon.
 *
 *     w(j)  = mean over the signals and the j-th block of L records
 *     β     = median of all (w(j) − w(i)) / (j − i), i < j, of the last DRIFT_BLOCKS blocks           (Theil-Sen)
 *     level = β / (high − w) where β > 0, β / (low − w) where β < 0, per second       in 1/s: one over the time to the limit
 *
 * The slope is robust: 29 % of the blocks may be anything (H. Theil, Indagationes Mathematicae 12, 1950; P. K. Sen, J.
 * Amer. Statist. Assoc. 63, 1379, 1968). A threshold of 0.1 1/s is a warning ten seconds ahead. At a limit, or beyond it,
 * the level is one over the time of a block, the largest that there is. The level is new once a block; the first comes
 * after DRIFT_BLOCKS of them. Filter: the blocks. Delay: DRIFT_BLOCKS L/2 steps for the slope.
 */
#ifndef PREMORTEM_DRIFT_H
#define PREMORTEM_DRIFT_H

#include <stdint.h>

enum { PREMORTEM_DRIFT_BLOCKS = 12 };

struct premortem_drift {
    double low, high;
    double blocks_per_second;
    /** L. */
    uint32_t steps;
    uint32_t in_block;
    double sum;
    /** The oldest block is at `next` when all have come. */
    uint32_t next, blocks;
    double block[PREMORTEM_DRIFT_BLOCKS];
    double level;
};

/** `low` and `high` are the limits, in the lanes' unit; one that is infinite is none. */
void premortem_drift_begin(struct premortem_drift *drift, uint32_t steps, double low, double high,
                           double steps_per_second);

/** Takes the value of a record, and returns the level; NaN before the first. */
double premortem_drift_take(struct premortem_drift *drift, double value);

#endif
