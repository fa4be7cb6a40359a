// SPDX-License-Identifier: Apache-2.0
/** BndStrMPoleSymplectic4Pass (X. Huang, 2018): a dipole in a straight frame, between rotations of its faces. */
#ifndef RM_TANGENT_STRAIGHT_BEND_H
#define RM_TANGENT_STRAIGHT_BEND_H

#include "edge.h"
#include "multipole.h"

/** Moves onto a face turned by an angle; the particle's place is relative to the pivot at `pivot_m`. */
static inline void rm_tangent_face(struct rm_tangent *t, double angle, double pivot_m) {
    double const s = sin(angle), c = cos(angle);
    struct rm_dual const p = rm_dual_shift(rm_dual_of(t, RM_DELTA), 1),
                         x = rm_dual_shift(rm_dual_of(t, RM_X), -pivot_m);
    struct rm_dual const px = rm_dual_of(t, RM_PX), py = rm_dual_of(t, RM_PY);
    struct rm_dual const aside = rm_dual_add(rm_dual_mul(px, px), rm_dual_mul(py, py));
    struct rm_dual const inverse = rm_dual_over(1, rm_dual_sqrt(rm_dual_sub(rm_dual_mul(p, p), aside)));
    struct rm_dual const xs = rm_dual_mul(px, inverse), ys = rm_dual_mul(py, inverse);
    struct rm_dual const scale = rm_dual_over(1, rm_dual_shift(rm_dual_scale(xs, -s), c));
    struct rm_dual const to_x = rm_dual_mul(rm_dual_shift(rm_dual_scale(xs, c), s), scale),
                         to_y = rm_dual_mul(ys, scale);
    struct rm_dual const before = rm_dual_add(rm_dual_mul(xs, xs), rm_dual_mul(ys, ys));
    struct rm_dual const after = rm_dual_add(rm_dual_mul(to_x, to_x), rm_dual_mul(to_y, to_y));
    struct rm_dual const momentum = rm_dual_div(p, rm_dual_sqrt(rm_dual_shift(after, 1)));
    struct rm_dual const path = rm_dual_mul(rm_dual_mul(x, scale), rm_dual_sqrt(rm_dual_shift(before, 1)));
    rm_dual_put(t, RM_Y, rm_dual_add(rm_dual_of(t, RM_Y), rm_dual_scale(rm_dual_mul(to_y, x), s)));
    rm_dual_put(t, RM_CT, rm_dual_add(rm_dual_of(t, RM_CT), rm_dual_scale(path, s)));
    rm_dual_put(t, RM_X, rm_dual_mul(x, scale));
    rm_dual_put(t, RM_PX, rm_dual_mul(to_x, momentum));
    rm_dual_put(t, RM_PY, rm_dual_mul(to_y, momentum));
}

/** The multipole is straight: its b0 holds the bending field, its length is the chord. */
static inline void rm_tangent_straight_bend(struct rm_tangent *t, struct rm_leg_straight_bend const *bend) {
    struct rm_leg_multipole const *const m = &bend->multipole;
    double const slice = m->length_m / m->slices;
    rm_tangent_edge(t, &bend->edge[0]);
    rm_tangent_face(t, bend->edge[0].angle, 0);
    t->z[RM_X] += bend->reference_x_m;
    for (uint32_t i = 0; i < m->slices; ++i) {
        rm_tangent_exact_drift(t, rm_drift_1 * slice);
        rm_tangent_kick(t, m, m->order, rm_kick_1 * slice);
        rm_tangent_exact_drift(t, rm_drift_2 * slice);
        rm_tangent_kick(t, m, m->order, rm_kick_2 * slice);
        rm_tangent_exact_drift(t, rm_drift_2 * slice);
        rm_tangent_kick(t, m, m->order, rm_kick_1 * slice);
        rm_tangent_exact_drift(t, rm_drift_1 * slice);
    }
    rm_tangent_face(t, bend->edge[1].angle, bend->reference_x_m);
    t->z[RM_CT] -= bend->reference_ct_m;
    rm_tangent_edge(t, &bend->edge[1]);
}

#endif
