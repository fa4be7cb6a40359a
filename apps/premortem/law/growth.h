// SPDX-License-Identifier: Apache-2.0
/** Detector `growth`: a coherent oscillation grows exponentially.
 *
 *     y     = band-pass of v; without a band v − b, b its exponential mean over S steps
 *     E(j)  = mean of y² over the j-th window of L records
 *     a(j)  = ½ ln E(j)                        the envelope's logarithm
 *     γ ± s = slope of a over j by least squares, weights λ^age, λ = 1 − 1/M        per window
 *     level = max(0, γ − 3 s) · windows per second                                 in 1/s
 *
 * So the level is a growth rate that noise does not explain. A window whose root of E is below the floor is not fitted,
 * and begins the fit anew: the envelope of noise means nothing. The fit needs FIT_WINDOWS windows. s is that of
 * weighted least squares from the residuals, with (1 + λ)/(1 − λ) windows of weight and two parameters; it assumes
 * windows that are independent, which they are as L is longer than the band's memory.
 *
 * The band-pass is a second-order section with gain 1 at its centre √(f₁ f₂) and a width of f₂ − f₁ at 3 dB (S. J.
 * Orfanidis, Introduction to Signal Processing, 11.3, 1996). Filter: band-pass and window. Delay: 1/(π (f₂ − f₁)) seconds and L/2 steps; and from the floor up FIT_WINDOWS whole windows before there is a
 * rate. A turn-rate oscillation is seen at a slower rate in a stream that keeps the largest reading of its turns
 * (`reduction: max`): it needs no band.
 */
#ifndef PREMORTEM_GROWTH_H
#define PREMORTEM_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /** Least windows above the floor for a rate. */
    PREMORTEM_FIT_WINDOWS = 4,
};

/** What the file says of one, in steps. */
struct premortem_growth_plan {
    /** L, the window. */
    uint32_t steps;
    /** S, of the mean that is taken off where there is no band. */
    uint32_t slow_steps;
    /** M, windows of memory. */
    uint32_t memory_windows;
    /** Amplitude (RMS, in the lanes' unit) below which nothing is fitted. */
    double floor;
    /** Edges of the band per step, 0 < low < high < 0.5; both 0: no band. */
    double low_per_step, high_per_step;

    double steps_per_second;
};

/** Sums of the weighted fit, with time counted backwards from the newest window. */
struct premortem_growth_fit {
    double weight, time, time2, log, log_time, log2;
    uint32_t windows;
};

struct premortem_growth {
    struct premortem_growth_plan plan;
    /** Coefficients of the section, and what it remembers. */
    double b0, a1, a2, x1, x2, y1, y2;

    double mean;
    /** Of the window that is being filled. */
    double squares;
    uint32_t in_window;
    /** Records so far, as far as the filter needs to settle. */
    uint32_t settled, settle_steps;

    struct premortem_growth_fit fit;
    double level;
    /** What the last window said: rate and its standard error in 1/s, NaN without a fit; and its RMS amplitude. */
    double rate_hz, error_hz, amplitude;
};

void premortem_growth_begin(struct premortem_growth *growth, struct premortem_growth_plan const *plan);

/** Takes the value of a record, and returns the level, which is new once a window; NaN while the filter settles. */
double premortem_growth_take(struct premortem_growth *growth, double value);

#endif
