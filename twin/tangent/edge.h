// SPDX-License-Identifier: Apache-2.0
/** Edges of magnets: a dipole's focusing with its fringe field, and a quadrupole's fringe. */
#ifndef RM_TANGENT_EDGE_H
#define RM_TANGENT_EDGE_H

#include <math.h>

#include "dual.h"
#include "route.h"

/** K. Brown's first-order edge. Methods: 1 is AT's legacy one, 2 SOLEIL's, with another 1 / (1 + δ), 3 ThomX's, where
 * the particle's own angle counts. */
static inline void rm_tangent_edge(struct rm_tangent *t, struct rm_leg_edge const *edge) {
    struct rm_dual const inverse = rm_dual_over(1, rm_dual_add(rm_dual_constant(1), rm_dual_of(t, RM_DELTA)));
    struct rm_dual bend = rm_dual_constant(edge->angle);
    if (edge->method == 3) {
        struct rm_dual const slope = rm_dual_mul(rm_dual_of(t, RM_PX), inverse);
        bend = rm_dual_shift(rm_dual_scale(slope, edge->sign), edge->angle - edge->psi);
    } else if (edge->psi != 0) {
        bend = rm_dual_shift(rm_dual_scale(inverse, -edge->psi), edge->angle);
    }
    struct rm_dual fy = rm_dual_scale(rm_dual_tan(bend), edge->curvature);
    if (edge->method == 2)
        fy = rm_dual_mul(fy, inverse);
    t->z[RM_PX] += edge->fx * t->z[RM_X];
    t->j[RM_PX] += edge->fx * t->j[RM_X];
    rm_dual_put(t, RM_PY, rm_dual_sub(rm_dual_of(t, RM_PY), rm_dual_mul(fy, rm_dual_of(t, RM_Y))));
}

/** An edge that depends on nothing but place: no fringe field. */
static inline void rm_tangent_hard_edge(struct rm_tangent *t, double fx) {
    t->z[RM_PX] += fx * t->z[RM_X];
    t->z[RM_PY] -= fx * t->z[RM_Y];
    t->j[RM_PX] += fx * t->j[RM_X];
    t->j[RM_PY] -= fx * t->j[RM_Y];
}

/** The hard edge of a quadrupole, thin-lens limit of G. E. Lee-Whiting, Nucl. Instrum. Methods 83, 232 (E. Forest, Beam
 * Dynamics, p. 390). */
static inline void rm_tangent_lee_whiting(struct rm_tangent *t, double strength) {
    struct rm_dual const x = rm_dual_of(t, RM_X), y = rm_dual_of(t, RM_Y);
    struct rm_dual const px = rm_dual_of(t, RM_PX), py = rm_dual_of(t, RM_PY);
    struct rm_dual const p = rm_dual_shift(rm_dual_of(t, RM_DELTA), 1);
    struct rm_dual const u = rm_dual_over(strength / 12, p);
    struct rm_dual const xx = rm_dual_mul(x, x), yy = rm_dual_mul(y, y), xy = rm_dual_mul(x, y);
    struct rm_dual const both = rm_dual_add(xx, yy);
    struct rm_dual const gx = rm_dual_mul(u, rm_dual_mul(x, rm_dual_add(xx, rm_dual_scale(yy, 3))));
    struct rm_dual const gy = rm_dual_mul(u, rm_dual_mul(y, rm_dual_add(yy, rm_dual_scale(xx, 3))));
    struct rm_dual const kick_x = rm_dual_sub(rm_dual_scale(rm_dual_mul(xy, py), 2), rm_dual_mul(both, px));
    struct rm_dual const kick_y = rm_dual_sub(rm_dual_scale(rm_dual_mul(xy, px), 2), rm_dual_mul(both, py));
    struct rm_dual const late = rm_dual_div(rm_dual_sub(rm_dual_mul(gy, py), rm_dual_mul(gx, px)), p);
    rm_dual_put(t, RM_X, rm_dual_add(x, gx));
    rm_dual_put(t, RM_Y, rm_dual_sub(y, gy));
    rm_dual_put(t, RM_PX, rm_dual_add(px, rm_dual_scale(rm_dual_mul(u, kick_x), 3)));
    rm_dual_put(t, RM_PY, rm_dual_sub(py, rm_dual_scale(rm_dual_mul(u, kick_y), 3)));
    rm_dual_put(t, RM_CT, rm_dual_sub(rm_dual_of(t, RM_CT), late));
}

/** One side of the linear fringe by its integrals, as elegant has it: `part` 1 inside of I0…, 2 outside. Fills the two
 * 2 × 2 blocks, row by row. */
static inline void rm_fringe_part(double strength, double const *integrals, int part, bool swapped,
                                  double block[2][4]) {
    double const k = strength, kk = k * k, *const i = integrals;
    double const j3 = part == 1 ? kk * (i[2] + i[4] + i[0] * i[1]) : kk * (i[4] - i[0] * i[1]);
    double const square = part == 1 ? -kk * (2 * i[3] / 3 + i[0] * i[2] / 2) : kk * i[0] * i[2] / 2;
    for (int plane = 0; plane < 2; ++plane) {
        double const sign = plane == 0 ? 1 : -1, j2 = sign * k * i[2], grow = exp(sign * k * i[1] + square);
        double const near = grow, far = (1 + j2 * j3) / grow;
        block[plane][0] = swapped ? far : near;
        block[plane][1] = j2 / grow;
        block[plane][2] = grow * j3;
        block[plane][3] = swapped ? near : far;
    }
}

static inline void rm_tangent_blocks(struct rm_tangent *t, double block[2][4]) {
    for (int plane = 0; plane < 2; ++plane) {
        int const at = 2 * plane;
        double const place = t->z[at], slope = t->z[at + 1], *const b = block[plane];
        rm_lanes const j_place = t->j[at], j_slope = t->j[at + 1];
        t->z[at] = b[0] * place + b[1] * slope;
        t->z[at + 1] = b[2] * place + b[3] * slope;
        t->j[at] = b[0] * j_place + b[1] * j_slope;
        t->j[at + 1] = b[2] * j_place + b[3] * j_slope;
    }
}

static inline void rm_tangent_quadrupole_fringe(struct rm_tangent *t, struct rm_leg_quadrupole_fringe const *fringe) {
    double block[2][4];
    bool const entrance = fringe->sign > 0;
    double const *const minus = fringe->integrals, *const plus = minus == NULL ? NULL : minus + 5;
    if (minus != NULL) {
        rm_fringe_part(fringe->strength, entrance ? plus : minus, entrance ? 2 : 1, entrance, block);
        rm_tangent_blocks(t, block);
    }
    rm_tangent_lee_whiting(t, fringe->sign * fringe->strength);
    if (minus != NULL) {
        rm_fringe_part(fringe->strength, entrance ? minus : plus, entrance ? 1 : 2, entrance, block);
        rm_tangent_blocks(t, block);
    }
}

#endif
