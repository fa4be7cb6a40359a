// SPDX-License-Identifier: Apache-2.0
/** Bodies of magnets: StrMPoleSymplectic4Pass and BndMPoleSymplectic4Pass. Those that radiate are in radiating.h.
 *
 * Kicks of the expanded Hamiltonian in a frame of curvature h. The last drift of a slice and the first of the next are
 * one drift here: the same map in exact arithmetic.
 */
#ifndef RM_TANGENT_MULTIPOLE_H
#define RM_TANGENT_MULTIPOLE_H

#include "drift.h"
#include "parts.h"
#include "route.h"

/** The field F = By + i Bx over Bρ, and its derivative by x + i y. Sums here and in the kicks are grouped so that the
 * place, which is known last, is added last: each kick waits for the one before. */
struct rm_multipole_field {
    double re, im;
    double re_slope, im_slope;
};

RM_FORCE_INLINE struct rm_multipole_field rm_field_at(struct rm_leg_multipole const *m, uint32_t order, double x,
                                                      double y) {
    struct rm_multipole_field f = {m->b[order], m->a[order], 0, 0};
    for (uint32_t i = order; i-- > 0;) {
        bool const first = i == order - 1; /* the compiler does not leave out products with these zeros */
        double const re_slope = first ? f.re : (f.re - f.im_slope * y) + f.re_slope * x;
        double const im_slope = first ? f.im : (f.im + f.re_slope * y) + f.im_slope * x;
        double const re = ((i != 0 ? m->b[i] : m->b0) - f.im * y) + f.re * x;
        double const im = ((i != 0 ? m->a[i] : m->a0) + f.re * y) + f.im * x;
        f = (struct rm_multipole_field){re, im, re_slope, im_slope};
    }
    return f;
}

RM_FORCE_INLINE void rm_tangent_kick(struct rm_tangent *t, struct rm_leg_multipole const *m, uint32_t order,
                                     double length_m) {
    double const h = m->curvature, x = t->z[RM_X];
    struct rm_multipole_field const f = rm_field_at(m, order, x, t->z[RM_Y]);
    t->z[RM_PX] = (t->z[RM_PX] + length_m * h * (t->z[RM_DELTA] - x * h)) - length_m * f.re;
    t->z[RM_PY] += length_m * f.im;
    t->z[RM_CT] += length_m * h * x;
    t->j[RM_PX] = ((t->j[RM_PX] + (length_m * h) * t->j[RM_DELTA]) + (length_m * f.im_slope) * t->j[RM_Y]) -
                  (length_m * (f.re_slope + h * h)) * t->j[RM_X];
    t->j[RM_PY] = (t->j[RM_PY] + (length_m * f.im_slope) * t->j[RM_X]) + (length_m * f.re_slope) * t->j[RM_Y];
    t->j[RM_CT] += (length_m * h) * t->j[RM_X];
}

/** Lengths of the fourth-order integrator's drifts and kicks, over the slice's. */
static double const rm_drift_1 = 0.6756035959798288170, rm_drift_2 = -0.1756035959798288170;
static double const rm_kick_1 = 1.3512071919596576340, rm_kick_2 = -1.7024143839193152681;

/** A tangent within a body: its rows in parts. */
struct rm_in_body {
    struct rm_rows_in_parts rows;
    double z[6];
};

RM_FORCE_INLINE void rm_in_body_kick(struct rm_in_body *t, struct rm_leg_multipole const *m, uint32_t order,
                                     double length_m) {
    double const h = m->curvature, x = t->z[RM_X];
    struct rm_multipole_field const f = rm_field_at(m, order, x, t->z[RM_Y]);
    double const bend = length_m * h, skew = length_m * f.im_slope;
    double const by_x = length_m * (f.re_slope + h * h), by_y = length_m * f.re_slope;
    t->z[RM_PX] = (t->z[RM_PX] + bend * (t->z[RM_DELTA] - x * h)) - length_m * f.re;
    t->z[RM_PY] += length_m * f.im;
    t->z[RM_CT] += bend * x;
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part *const j = t->rows.of[p];
        j[RM_PX] = ((j[RM_PX] + bend * j[RM_DELTA]) + skew * j[RM_Y]) - by_x * j[RM_X];
        j[RM_PY] = (j[RM_PY] + skew * j[RM_X]) + by_y * j[RM_Y];
        j[RM_CT] += bend * j[RM_X];
    }
}

/** rm_tangent_slide. */
RM_FORCE_INLINE void rm_in_body_slide(struct rm_in_body *t, double reduced_m, double inverse) {
    double const slope_x = t->z[RM_PX] * inverse, slope_y = t->z[RM_PY] * inverse;
    double const by_x = reduced_m * slope_x, by_y = reduced_m * slope_y;
    double const by_delta = reduced_m * (slope_x * slope_x + slope_y * slope_y);
    t->z[RM_X] += reduced_m * t->z[RM_PX];
    t->z[RM_Y] += reduced_m * t->z[RM_PY];
    t->z[RM_CT] += 0.5 * (by_x * t->z[RM_PX] + by_y * t->z[RM_PY]);
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part *const j = t->rows.of[p];
        j[RM_X] = (j[RM_X] - by_x * j[RM_DELTA]) + reduced_m * j[RM_PX];
        j[RM_Y] = (j[RM_Y] - by_y * j[RM_DELTA]) + reduced_m * j[RM_PY];
        j[RM_CT] = (j[RM_CT] - by_delta * j[RM_DELTA]) + by_x * j[RM_PX] + by_y * j[RM_PY];
    }
}

/** δ does not change here: its inverse is computed once. The copy allows the compiler to keep it all in registers,
 * which it could not with pointers to fields. */
RM_FORCE_INLINE void rm_tangent_body(struct rm_tangent *tangent, struct rm_leg_multipole const *m, uint32_t order) {
    struct rm_in_body here, *const t = &here;
    double const slice = m->length_m / m->slices, inverse = 1 / (1 + tangent->z[RM_DELTA]), reduced = slice * inverse;
    rm_parts_of(tangent, &t->rows);
    __builtin_memcpy(t->z, tangent->z, sizeof t->z);
    rm_in_body_slide(t, rm_drift_1 * reduced, inverse);
    for (uint32_t i = m->slices; i-- > 0;) {
        rm_in_body_kick(t, m, order, rm_kick_1 * slice);
        rm_in_body_slide(t, rm_drift_2 * reduced, inverse);
        rm_in_body_kick(t, m, order, rm_kick_2 * slice);
        rm_in_body_slide(t, rm_drift_2 * reduced, inverse);
        rm_in_body_kick(t, m, order, rm_kick_1 * slice);
        rm_in_body_slide(t, (i != 0 ? 2 * rm_drift_1 : rm_drift_1) * reduced, inverse);
    }
    rm_parts_put(&t->rows, tangent);
    __builtin_memcpy(tangent->z, t->z, sizeof t->z);
}

#endif
