// SPDX-License-Identifier: Apache-2.0
/** What is linear by itself: displacements, rotations, Matrix66Pass; and CorrectorPass, whose kick is spread evenly. */
#ifndef RM_TANGENT_LINEAR_H
#define RM_TANGENT_LINEAR_H

#include "drift.h"
#include "route.h"

static inline void rm_tangent_shift(struct rm_tangent *t, double const by[6]) {
    for (int i = 0; i < 6; ++i)
        t->z[i] += by[i];
}

static inline void rm_tangent_matrix(struct rm_tangent *t, double const m[36]) {
    struct rm_tangent const was = *t;
    for (int i = 0; i < 6; ++i) {
        t->z[i] = 0;
        t->j[i] = (rm_lanes){0};
        for (int k = 0; k < 6; ++k) {
            t->z[i] += m[6 * i + k] * was.z[k];
            t->j[i] += m[6 * i + k] * was.j[k];
        }
    }
}

/** The momentum grows evenly along the length: a drift with the mean of the momenta, whose square's mean the path
 * takes. */
static inline void rm_tangent_corrector(struct rm_tangent *t, struct rm_leg_corrector const *corrector) {
    double const *const kick = corrector->kick;
    double const half_x = 0.5 * kick[0], half_y = 0.5 * kick[1];
    t->z[RM_PX] += half_x;
    t->z[RM_PY] += half_y;
    if (corrector->length_m != 0) {
        double const inverse = 1 / (1 + t->z[RM_DELTA]), reduced = corrector->length_m * inverse;
        double const spread = inverse * reduced * (kick[0] * kick[0] + kick[1] * kick[1]) / 24;
        rm_tangent_slide(t, reduced, inverse);
        t->z[RM_CT] += spread;
        t->j[RM_CT] -= (2 * inverse * spread) * t->j[RM_DELTA];
    }
    t->z[RM_PX] += half_x;
    t->z[RM_PY] += half_y;
}

#endif
