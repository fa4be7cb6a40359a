// SPDX-License-Identifier: Apache-2.0
/** The S-curve by which a supply leaves one place and comes to another: 10 u³ − 15 u⁴ + 6 u⁵, which has neither slope nor
 * curvature at its ends, and the least jerk of all such (T. Flash, N. Hogan, J. Neuroscience 5, 1688, 1985). */
#ifndef RINGMASTER_S_CURVE_H
#define RINGMASTER_S_CURVE_H

/** Its steepest slope, in distances per duration. */
#define RM_S_CURVE_PEAK 1.875

/** The share of the way at a share of the time, 0 to 1. */
static inline double rm_s_curve(double share) { return share * share * share * (10.0 + share * (6.0 * share - 15.0)); }

/** The same; 0 before, and 1 after it. */
static inline double rm_s_curve_clamped(double share) {
    return rm_s_curve(share > 0.0 ? share < 1.0 ? share : 1.0 : 0.0);
}

/** Seconds that a way takes: `least_s`, or as long as `slew` per second asks for. */
static inline double rm_s_curve_seconds(double distance, double slew, double least_s) {
    double const needed = RM_S_CURVE_PEAK * (distance < 0 ? -distance : distance) / slew;
    return needed > least_s ? needed : least_s;
}

#endif
