// SPDX-License-Identifier: Apache-2.0
/** Comparisons of which a cycle makes some thousand. fmin and fmax would be calls into the library, because they must
 * handle a NaN in either argument. Here only `a` may be a NaN, and the result is `b` then. */
#ifndef FEEDBACK_CLAMP_H
#define FEEDBACK_CLAMP_H

static inline double feedback_min(double a, double b) { return a < b ? a : b; }
static inline double feedback_max(double a, double b) { return a > b ? a : b; }

/** The result for a NaN is `low`. */
static inline double feedback_clamp(double value, double low, double high) {
    return feedback_min(feedback_max(value, low), high);
}

#endif
