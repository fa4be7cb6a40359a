// SPDX-License-Identifier: Apache-2.0
/** Bodies of magnets: StrMPoleSymplectic4Pass and BndMPoleSymplectic4Pass, without and with radiation.
 *
 * Kicks of the expanded Hamiltonian in a frame of curvature h; the energy lost in a kick is that of the field there
 * (M. Sands, SLAC-121, eq. 4.2), and the slopes, not the momenta, survive it. The last drift of a slice and the first
 * of the next are one drift here: the same map in exact arithmetic.
 */
#ifndef RM_TANGENT_MULTIPOLE_H
#define RM_TANGENT_MULTIPOLE_H

#include "drift.h"
#include "route.h"

#define RM_FORCE_INLINE static inline __attribute__((always_inline))

/** The field F = By + i Bx over Bρ, and its derivative by x + i y. Sums here and in the kicks are grouped so that what
 * comes last, the place, is added last: one kick waits for the other. */
struct rm_field {
    double re, im;
    double re_slope, im_slope;
};

RM_FORCE_INLINE struct rm_field rm_field_at(struct rm_leg_multipole const *m, uint32_t order, double x, double y) {
    struct rm_field f = {m->b[order], m->a[order], 0, 0};
    for (uint32_t i = order; i-- > 0;) {
        double const re_slope = (f.re - f.im_slope * y) + f.re_slope * x;
        double const im_slope = (f.im + f.re_slope * y) + f.im_slope * x;
        double const re = ((i != 0 ? m->b[i] : m->b0) - f.im * y) + f.re * x;
        double const im = ((i != 0 ? m->a[i] : m->a0) + f.re * y) + f.im * x;
        f = (struct rm_field){re, im, re_slope, im_slope};
    }
    return f;
}

RM_FORCE_INLINE void rm_tangent_kick(struct rm_tangent *t, struct rm_leg_multipole const *m, uint32_t order,
                                     double length_m) {
    double const h = m->curvature, x = t->z[RM_X];
    struct rm_field const f = rm_field_at(m, order, x, t->z[RM_Y]);
    t->z[RM_PX] = (t->z[RM_PX] + length_m * h * (t->z[RM_DELTA] - x * h)) - length_m * f.re;
    t->z[RM_PY] += length_m * f.im;
    t->z[RM_CT] += length_m * h * x;
    t->j[RM_PX] += (length_m * f.im_slope) * t->j[RM_Y] - (length_m * (f.re_slope + h * h)) * t->j[RM_X] +
                   (length_m * h) * t->j[RM_DELTA];
    t->j[RM_PY] += (length_m * f.im_slope) * t->j[RM_X] + (length_m * f.re_slope) * t->j[RM_Y];
    t->j[RM_CT] += (length_m * h) * t->j[RM_X];
}

/** Adds b u uᵀ, where u is the photon's direction (0, x', 0, y', 1, 0) carried back to the start by Jᵀ Ω: that is J⁻¹
 * up to the damping since the start, which the caller takes out once for each magnet. */
RM_FORCE_INLINE void rm_tangent_scatter(struct rm_tangent const *t, struct rm_diffusion *gathered, double b,
                                        double slope_x, double slope_y) {
    rm_lanes const u = slope_x * t->j[RM_X] + slope_y * t->j[RM_Y] - t->j[RM_CT];
    rm_lanes const scaled = b * u;
    for (int i = 0; i < 6; ++i)
        gathered->d[i] += scaled[i] * u;
}

/** 1 / (p - loss) from `inverse` = 1 / p. Particle after particle waits for this, and a division takes three times as
 * long as the two products that are enough for a small loss: (1 + e)(1 + e²) = (1 - e⁴) / (1 - e). */
RM_FORCE_INLINE double rm_inverse_after(double inverse, double p, double loss) {
    double const e = loss * inverse;
    return fabs(e) < 1e-4 ? (inverse + inverse * e) * (1 + e * e) : 1 / (p - loss);
}

/** The kick's length may be negative (the integrator's middle one), and so may what it loses. Returns 1 / (1 + δ) at
 * its end, from `inverse` at its beginning. */
RM_FORCE_INLINE double rm_tangent_kick_radiating(struct rm_tangent *t, struct rm_route const *route,
                                                 struct rm_leg_multipole const *m, uint32_t order, double length_m,
                                                 double inverse, struct rm_diffusion *gathered) {
    double const h = m->curvature, x = t->z[RM_X], p = 1 + t->z[RM_DELTA];
    struct rm_field const f = rm_field_at(m, order, x, t->z[RM_Y]);
    double const xp = t->z[RM_PX] * inverse, yp = t->z[RM_PY] * inverse, slopes = xp * xp + yp * yp;
    double const w = 1 + x * h, by = f.re + h, bx = f.im;
    double const q = bx * yp - by * xp, field = by * by + bx * bx;
    double const rest = 1 / (w * w + slopes);
    double const b2 = (field * w * w + q * q) * rest; /* |e × B|² */
    double const path = w + 0.5 * slopes;
    double const strength = route->loss_per_kick * length_m * p * p;
    double const loss = strength * b2 * path;

    /* Derivatives of the loss by x, x', y, y' and explicitly by δ. */
    double const scale = strength * rest * path, over_path = strength * b2;
    double const n_x = w * w * (by * f.re_slope + bx * f.im_slope) + q * (f.im_slope * yp - f.re_slope * xp);
    double const n_y = w * w * (bx * f.re_slope - by * f.im_slope) + q * (f.re_slope * yp + f.im_slope * xp);
    double const loss_x = 2 * scale * (n_x + (field - b2) * w * h) + over_path * h;
    double const loss_y = 2 * scale * n_y;
    double const loss_xp = over_path * xp - 2 * scale * (q * by + b2 * xp);
    double const loss_yp = over_path * yp + 2 * scale * (q * bx - b2 * yp);

    rm_lanes const j_xp = inverse * t->j[RM_PX] - (xp * inverse) * t->j[RM_DELTA];
    rm_lanes const j_yp = inverse * t->j[RM_PY] - (yp * inverse) * t->j[RM_DELTA];
    rm_lanes const j_delta = (1 - 2 * loss * inverse) * t->j[RM_DELTA] - loss_x * t->j[RM_X] - loss_y * t->j[RM_Y] -
                             loss_xp * j_xp - loss_yp * j_yp;
    double const left = p - loss;
    t->z[RM_PX] = (length_m * h * (t->z[RM_DELTA] - x * h) - length_m * f.re) + xp * left;
    t->z[RM_PY] = length_m * f.im + yp * left;
    t->z[RM_CT] += length_m * h * x;
    t->z[RM_DELTA] -= loss;
    t->j[RM_PX] = left * j_xp + xp * j_delta + (length_m * f.im_slope) * t->j[RM_Y] -
                  (length_m * (f.re_slope + h * h)) * t->j[RM_X] + (length_m * h) * t->j[RM_DELTA];
    t->j[RM_PY] =
        left * j_yp + yp * j_delta + (length_m * f.im_slope) * t->j[RM_X] + (length_m * f.re_slope) * t->j[RM_Y];
    t->j[RM_CT] += (length_m * h) * t->j[RM_X];
    t->j[RM_DELTA] = j_delta;
    if (gathered != NULL)
        rm_tangent_scatter(t, gathered, route->diffusion_per_kick * length_m * p * p * p * p * path * b2 * sqrt(b2), xp,
                           yp);
    return rm_inverse_after(inverse, p, loss);
}

/** Lengths of the fourth-order integrator's drifts and kicks, over the slice's. */
static double const rm_drift_1 = 0.6756035959798288170, rm_drift_2 = -0.1756035959798288170;
static double const rm_kick_1 = 1.3512071919596576340, rm_kick_2 = -1.7024143839193152681;

/** δ does not change here: its inverse is taken once. The copy is the compiler's leave to keep it all in registers,
 * which pointers to fields would deny it. */
RM_FORCE_INLINE void rm_tangent_body(struct rm_tangent *tangent, struct rm_leg_multipole const *m, uint32_t order) {
    struct rm_tangent here = *tangent, *const t = &here;
    double const slice = m->length_m / m->slices, inverse = 1 / (1 + t->z[RM_DELTA]), reduced = slice * inverse;
    rm_tangent_slide(t, rm_drift_1 * reduced, inverse);
    for (uint32_t i = m->slices; i-- > 0;) {
        rm_tangent_kick(t, m, order, rm_kick_1 * slice);
        rm_tangent_slide(t, rm_drift_2 * reduced, inverse);
        rm_tangent_kick(t, m, order, rm_kick_2 * slice);
        rm_tangent_slide(t, rm_drift_2 * reduced, inverse);
        rm_tangent_kick(t, m, order, rm_kick_1 * slice);
        rm_tangent_slide(t, (i != 0 ? 2 * rm_drift_1 : rm_drift_1) * reduced, inverse);
    }
    *tangent = here;
}

RM_FORCE_INLINE void rm_tangent_body_radiating(struct rm_tangent *tangent, struct rm_route const *route,
                                               struct rm_leg_multipole const *m, uint32_t order,
                                               struct rm_diffusion *gathered) {
    struct rm_tangent here = *tangent, *const t = &here;
    double const slice = m->length_m / m->slices;
    double inverse = 1 / (1 + t->z[RM_DELTA]);
    rm_tangent_slide(t, rm_drift_1 * slice * inverse, inverse);
    for (uint32_t i = m->slices; i-- > 0;) {
        inverse = rm_tangent_kick_radiating(t, route, m, order, rm_kick_1 * slice, inverse, gathered);
        rm_tangent_slide(t, rm_drift_2 * slice * inverse, inverse);
        inverse = rm_tangent_kick_radiating(t, route, m, order, rm_kick_2 * slice, inverse, gathered);
        rm_tangent_slide(t, rm_drift_2 * slice * inverse, inverse);
        inverse = rm_tangent_kick_radiating(t, route, m, order, rm_kick_1 * slice, inverse, gathered);
        rm_tangent_slide(t, (i != 0 ? 2 * rm_drift_1 : rm_drift_1) * slice * inverse, inverse);
    }
    *tangent = here;
}

#endif
