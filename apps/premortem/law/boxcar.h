// SPDX-License-Identifier: Apache-2.0
/** The mean of the newest records: the filter that all detectors share.
 *
 *     m(n) = (v(n) + v(n−1) + … + v(n−L+1)) / L
 *
 * Its delay is (L − 1)/2 steps. A step of height h is in the mean by h k/L after k steps, so a threshold θ ≤ h is reached
 * in the ⌈L θ/h⌉th of them. No rounding adds up: the sum is made anew every L values.
 */
#ifndef PREMORTEM_BOXCAR_H
#define PREMORTEM_BOXCAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /** Longest mean, in steps. */
    PREMORTEM_STEPS_MAX = 256,
};

struct premortem_boxcar {
    /** L, 1 to PREMORTEM_STEPS_MAX. */
    uint32_t length;
    /** Place of the next value, and how many have come, L at most. */
    uint32_t next, filled;
    /** Of all that `value` holds; and of those that came since the place was 0. */
    double sum, fresh;

    double value[PREMORTEM_STEPS_MAX];
};

static inline void premortem_boxcar_begin(struct premortem_boxcar *boxcar, uint32_t length) {
    boxcar->length = length;
    boxcar->next = boxcar->filled = 0;
    boxcar->sum = boxcar->fresh = 0.0;
}

/** Whether L values have come: before that the mean is of those that did. */
static inline bool premortem_boxcar_is_full(struct premortem_boxcar const *boxcar) {
    return boxcar->filled == boxcar->length;
}

/** Takes a value, a finite one, and returns the mean. `*gone`, unless NULL, is what left the mean for it: L steps old,
 * and the value itself while the mean is not full. */
static inline double premortem_boxcar_take(struct premortem_boxcar *boxcar, double value, double *gone) {
    bool const is_full = premortem_boxcar_is_full(boxcar);
    double const old = is_full ? boxcar->value[boxcar->next] : 0.0;
    if (gone != NULL)
        *gone = is_full ? old : value;
    boxcar->value[boxcar->next] = value;
    boxcar->sum += value - old;
    boxcar->fresh += value;
    boxcar->filled += !is_full;
    if (++boxcar->next == boxcar->length) {
        boxcar->next = 0;
        boxcar->sum = boxcar->fresh;
        boxcar->fresh = 0.0;
    }
    return boxcar->sum / boxcar->filled;
}

#endif
