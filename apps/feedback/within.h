// SPDX-License-Identifier: Apache-2.0
/** What every cycle compares some thousand times. fmin and fmax are calls into the library, as they must not take a NaN
 * for a number, whichever of the two it is: of these only `a` may be none, and the result is `b` then. */
#ifndef FEEDBACK_WITHIN_H
#define FEEDBACK_WITHIN_H

static inline double feedback_smaller(double a, double b) { return a < b ? a : b; }
static inline double feedback_larger(double a, double b) { return a > b ? a : b; }

/** Of a `value` that is none: `low`. */
static inline double feedback_within(double value, double low, double high) {
    return feedback_smaller(feedback_larger(value, low), high);
}

#endif
