// SPDX-License-Identifier: Apache-2.0
/** What a level is compared with: the slow mean of before, which stands still while something happens.
 *
 *     b(n) = b(n−1) + (m(n) − b(n−1)) / min(n, S)
 *
 * It is the plain mean of the first S values, by then it is learned, and an exponential mean with S steps of time
 * constant from there on. It takes nothing while the level is over the warning: else a rise that is slow enough would be
 * its own baseline.
 */
#ifndef PREMORTEM_BASELINE_H
#define PREMORTEM_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

struct premortem_baseline {
    /** S, at least 1. */
    uint32_t steps;
    /** Values taken, S at most. */
    uint32_t taken;

    double value;
};

static inline bool premortem_baseline_is_learned(struct premortem_baseline const *baseline) {
    return baseline->taken >= baseline->steps;
}

static inline void premortem_baseline_take(struct premortem_baseline *baseline, double value) {
    baseline->taken += baseline->taken < baseline->steps;
    baseline->value += (value - baseline->value) / baseline->taken;
}

#endif
