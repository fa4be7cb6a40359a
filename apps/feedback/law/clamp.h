// SPDX-License-Identifier: Apache-2.0
/** What every cycle compares some thousand times. fmin and fmax are calls into the library, as they must not take a NaN
 * for a number, whichever of the two it is: of these only `a` may be none, and the result is `b` then. */
#ifndef FEEDBACK_CLAMP_H
#define FEEDBACK_CLAMP_H

static inline double feedback_min(double a, double b) { return a < b ? a : b; }
static inline double feedback_max(double a, double b) { return a > b ? a : b; }

/** Of a `value` that is none: `low`. */
static inline double feedback_clamp(double value, double low, double high) {
    return feedback_min(feedback_max(value, low), high);
}

#endif
