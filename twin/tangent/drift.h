// SPDX-License-Identifier: Apache-2.0
/** Drifts: DriftPass (expanded in the slopes) and ExactDriftPass. */
#ifndef RM_TANGENT_DRIFT_H
#define RM_TANGENT_DRIFT_H

#include <math.h>

#include "tangent.h"

/** `reduced_m` is the length over 1 + δ, `inverse` 1 / (1 + δ). The momenta's rows, which come last, are added last. */
static inline __attribute__((always_inline)) void rm_tangent_slide(struct rm_tangent *t, double reduced_m,
                                                                   double inverse) {
    double const slope_x = t->z[RM_PX] * inverse, slope_y = t->z[RM_PY] * inverse;
    double const square = slope_x * slope_x + slope_y * slope_y;
    double const by_x = reduced_m * slope_x, by_y = reduced_m * slope_y;
    t->z[RM_X] += reduced_m * t->z[RM_PX];
    t->z[RM_Y] += reduced_m * t->z[RM_PY];
    t->z[RM_CT] += 0.5 * (by_x * t->z[RM_PX] + by_y * t->z[RM_PY]);
    t->j[RM_X] = (t->j[RM_X] - by_x * t->j[RM_DELTA]) + reduced_m * t->j[RM_PX];
    t->j[RM_Y] = (t->j[RM_Y] - by_y * t->j[RM_DELTA]) + reduced_m * t->j[RM_PY];
    t->j[RM_CT] = (t->j[RM_CT] - (reduced_m * square) * t->j[RM_DELTA]) + by_x * t->j[RM_PX] + by_y * t->j[RM_PY];
}

static inline __attribute__((always_inline)) void rm_tangent_drift(struct rm_tangent *t, double length_m) {
    double const inverse = 1 / (1 + t->z[RM_DELTA]);
    rm_tangent_slide(t, length_m * inverse, inverse);
}

/** x += L px/pz, ct += L (p/pz - 1), with p = 1 + δ and pz the longitudinal momentum. */
static inline void rm_tangent_exact_drift(struct rm_tangent *t, double length_m) {
    double const p = 1 + t->z[RM_DELTA], px = t->z[RM_PX], py = t->z[RM_PY];
    double const inverse = 1 / sqrt(p * p - px * px - py * py);
    double const reach = length_m * inverse;
    rm_lanes const inverse_2 = (inverse * inverse) * (px * t->j[RM_PX] + py * t->j[RM_PY] - p * t->j[RM_DELTA]);
    t->z[RM_X] += reach * px;
    t->z[RM_Y] += reach * py;
    t->z[RM_CT] += reach * p - length_m;
    t->j[RM_X] += reach * (t->j[RM_PX] + px * inverse_2);
    t->j[RM_Y] += reach * (t->j[RM_PY] + py * inverse_2);
    t->j[RM_CT] += reach * (t->j[RM_DELTA] + p * inverse_2);
}

#endif
