// SPDX-License-Identifier: Apache-2.0
/** Shapes of ways beside the S-curve of ringmaster/s_curve.h: which share of a way is done at a share of its time. Pure
 * functions. */
#ifndef SEQUENCE_LAW_SHAPE_H
#define SEQUENCE_LAW_SHAPE_H

#include <stdint.h>

/** Straight lines between points at equal parts of the time. `x` is 0 to 1, and there are two points at least. */
static inline double sequence_table_share(double const *point, uint32_t points, double x) {
    double const at = x * (points - 1);
    uint32_t const i = at >= points - 1 ? points - 2 : (uint32_t)at;
    return point[i] + (point[i + 1] - point[i]) * (at - i);
}

/** The steepest of a table's lines, as a share of the mean speed of a way. */
double sequence_table_peak(double const *point, uint32_t points);

/** A trapezoid: up within a rise, 1, and back to 0 at `total`. All in turns; `inverse_rise` is 1 / the rise. */
static inline double sequence_trapezoid(double turns, double inverse_rise, double total) {
    double const up = turns * inverse_rise, down = (total - turns) * inverse_rise;
    double const least = up < down ? up : down;
    return least < 1.0 ? least : 1.0;
}

#endif
