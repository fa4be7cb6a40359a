// SPDX-License-Identifier: Apache-2.0
/** BndMPoleSymplectic4E2Pass (X. Huang, 2009): the field's curvature terms, the (1 + h x) of the drift, and edges to
 * second order; BndMPoleSymplectic4E2RadPass, whose energy loss is that of the field with C. Iselin's curvature terms.
 */
#ifndef RM_TANGENT_E2_H
#define RM_TANGENT_E2_H

#include "dual.h"
#include "multipole.h"
#include "scatter.h"

static inline void rm_tangent_e2_edge(struct rm_tangent *t, struct rm_leg_e2_edge const *edge) {
    double const h = edge->curvature, turn = tan(edge->angle), inner = tan(edge->angle - edge->psi);
    double const secant = 1 / cos(edge->angle), s = edge->sign;
    double const pole = 0.5 * h * edge->pole_curvature * secant * secant * secant, gradient = edge->strength * turn;
    double const t111 = -s * 0.5 * h * turn * turn, t133 = s * 0.5 * h * secant * secant;
    double t211 = pole + gradient, t233 = -pole - gradient, t413 = -pole - gradient;
    if (s > 0) {
        t233 += 0.5 * h * h * turn * (inner * inner + secant * secant);
    } else {
        t211 -= 0.5 * h * h * turn * turn * turn;
        t233 -= 0.5 * h * h * turn * inner * inner;
        t413 += 0.5 * h * h * turn * secant * secant;
    }
    struct rm_dual const x = rm_dual_of(t, RM_X), y = rm_dual_of(t, RM_Y);
    struct rm_dual const px = rm_dual_of(t, RM_PX), py = rm_dual_of(t, RM_PY);
    struct rm_dual const xx = rm_dual_mul(x, x), yy = rm_dual_mul(y, y), xy = rm_dual_mul(x, y);
    rm_dual_put(t, RM_X, rm_dual_add(x, rm_dual_add(rm_dual_scale(xx, t111), rm_dual_scale(yy, t133))));
    struct rm_dual const kick_x =
        rm_dual_add(rm_dual_add(rm_dual_scale(x, h * turn), rm_dual_scale(rm_dual_mul(x, px), -2 * t111)),
                    rm_dual_add(rm_dual_scale(rm_dual_mul(y, py), 2 * t111),
                                rm_dual_add(rm_dual_scale(xx, t211), rm_dual_scale(yy, t233))));
    struct rm_dual const kick_y =
        rm_dual_add(rm_dual_add(rm_dual_scale(y, -h * inner), rm_dual_scale(rm_dual_mul(x, py), 2 * t111)),
                    rm_dual_add(rm_dual_scale(xy, 2 * t413), rm_dual_scale(rm_dual_mul(px, y), -2 * t133)));
    rm_dual_put(t, RM_PX, rm_dual_add(px, kick_x));
    rm_dual_put(t, RM_Y, rm_dual_add(y, rm_dual_scale(xy, -2 * t111)));
    rm_dual_put(t, RM_PY, rm_dual_add(py, kick_y));
}

static inline void rm_tangent_e2_drift(struct rm_tangent *t, double length_m, double h) {
    struct rm_dual const inverse = rm_dual_over(1, rm_dual_shift(rm_dual_of(t, RM_DELTA), 1));
    struct rm_dual const px = rm_dual_of(t, RM_PX), py = rm_dual_of(t, RM_PY);
    struct rm_dual const xp = rm_dual_mul(px, inverse), yp = rm_dual_mul(py, inverse);
    struct rm_dual const reach = rm_dual_scale(rm_dual_shift(rm_dual_scale(rm_dual_of(t, RM_X), h), 1), length_m);
    struct rm_dual const xx = rm_dual_mul(xp, xp), yy = rm_dual_mul(yp, yp);
    double const bend = h * length_m;
    struct rm_dual const kick = rm_dual_add(rm_dual_mul(px, xp), rm_dual_mul(py, yp));
    struct rm_dual const lift = rm_dual_shift(rm_dual_scale(px, bend / 2), 1);
    struct rm_dual const aside = rm_dual_scale(rm_dual_sub(xx, yy), 0.25 * bend * length_m);
    rm_dual_put(t, RM_X, rm_dual_add(rm_dual_of(t, RM_X), rm_dual_add(rm_dual_mul(reach, xp), aside)));
    rm_dual_put(t, RM_PX, rm_dual_sub(px, rm_dual_scale(kick, bend / 2)));
    rm_dual_put(t, RM_Y, rm_dual_add(rm_dual_of(t, RM_Y), rm_dual_mul(rm_dual_mul(reach, yp), lift)));
    rm_dual_put(t, RM_CT,
                rm_dual_add(rm_dual_of(t, RM_CT), rm_dual_scale(rm_dual_mul(reach, rm_dual_add(xx, yy)), 0.5)));
}

/** The normal field by x + i y; skew components do not count. */
static inline void rm_e2_field(struct rm_leg_multipole const *m, struct rm_dual x, struct rm_dual y, struct rm_dual *re,
                               struct rm_dual *im) {
    *re = rm_dual_constant(m->b[m->order]);
    *im = rm_dual_constant(0);
    for (uint32_t i = m->order; i-- > 0;) {
        struct rm_dual const next = rm_dual_sub(rm_dual_mul(*re, x), rm_dual_mul(*im, y));
        *im = rm_dual_add(rm_dual_mul(*im, x), rm_dual_mul(*re, y));
        *re = rm_dual_shift(next, i != 0 ? m->b[i] : m->b0);
    }
}

/** Kicks by the field and by the curvature terms up to fourth order in the potential. */
static inline void rm_e2_apply(struct rm_tangent *t, struct rm_leg_multipole const *m, double length_m,
                               struct rm_dual re, struct rm_dual im) {
    double const h = m->curvature, k1 = m->b[1], k2 = m->order >= 2 ? m->b[2] : 0;
    struct rm_dual const x = rm_dual_of(t, RM_X), y = rm_dual_of(t, RM_Y);
    struct rm_dual const xx = rm_dual_mul(x, x), yy = rm_dual_mul(y, y), xy = rm_dual_mul(x, y);
    struct rm_dual const across =
        rm_dual_add(rm_dual_add(rm_dual_scale(x, h), rm_dual_scale(rm_dual_sub(xx, rm_dual_scale(yy, 0.5)), k1)),
                    rm_dual_scale(rm_dual_mul(x, rm_dual_sub(xx, rm_dual_scale(yy, 4.0 / 3))), k2));
    struct rm_dual const along =
        rm_dual_add(rm_dual_scale(xy, k1), rm_dual_add(rm_dual_scale(rm_dual_mul(xx, y), 4.0 / 3 * k2),
                                                       rm_dual_scale(rm_dual_mul(yy, y), h / 6 * k1 - k2 / 3)));
    struct rm_dual const kick_x =
        rm_dual_add(rm_dual_sub(re, rm_dual_scale(rm_dual_of(t, RM_DELTA), h)), rm_dual_scale(across, h));
    struct rm_dual const kick_y = rm_dual_add(im, rm_dual_scale(along, h));
    rm_dual_put(t, RM_PX, rm_dual_sub(rm_dual_of(t, RM_PX), rm_dual_scale(kick_x, length_m)));
    rm_dual_put(t, RM_PY, rm_dual_add(rm_dual_of(t, RM_PY), rm_dual_scale(kick_y, length_m)));
    rm_dual_put(t, RM_CT, rm_dual_add(rm_dual_of(t, RM_CT), rm_dual_scale(x, length_m * h)));
}

static inline void rm_tangent_e2_kick(struct rm_tangent *t, struct rm_leg_multipole const *m, double length_m) {
    struct rm_dual re, im;
    rm_e2_field(m, rm_dual_of(t, RM_X), rm_dual_of(t, RM_Y), &re, &im);
    rm_e2_apply(t, m, length_m, re, im);
}

static inline void rm_tangent_e2_kick_radiating(struct rm_tangent *t, struct rm_route const *route,
                                                struct rm_leg_multipole const *m, double length_m,
                                                struct rm_diffusion *gathered) {
    double const h = m->curvature, k1 = m->b[1], k2 = m->order >= 2 ? m->b[2] : 0, twist = h * (k1 * h - k2);
    struct rm_dual const x = rm_dual_of(t, RM_X), y = rm_dual_of(t, RM_Y), yy = rm_dual_mul(y, y);
    struct rm_dual const p = rm_dual_shift(rm_dual_of(t, RM_DELTA), 1);
    struct rm_dual const xp = rm_dual_div(rm_dual_of(t, RM_PX), p), yp = rm_dual_div(rm_dual_of(t, RM_PY), p);
    struct rm_dual re, im;
    rm_e2_field(m, x, y, &re, &im);
    im = rm_dual_add(im, rm_dual_scale(rm_dual_mul(yy, y), twist / 6));
    re = rm_dual_add(re, rm_dual_mul(yy, rm_dual_shift(rm_dual_scale(x, twist / 2), -k1 * h / 2)));
    struct rm_dual const by = rm_dual_shift(re, h), w = rm_dual_shift(rm_dual_scale(x, h), 1);
    struct rm_dual const slopes = rm_dual_add(rm_dual_mul(xp, xp), rm_dual_mul(yp, yp));
    struct rm_dual const q = rm_dual_sub(rm_dual_mul(im, yp), rm_dual_mul(by, xp));
    struct rm_dual const field = rm_dual_add(rm_dual_mul(by, by), rm_dual_mul(im, im)), ww = rm_dual_mul(w, w);
    struct rm_dual const b2 =
        rm_dual_div(rm_dual_add(rm_dual_mul(field, ww), rm_dual_mul(q, q)), rm_dual_add(ww, slopes));
    struct rm_dual const path = rm_dual_mul(rm_dual_add(w, rm_dual_scale(slopes, 0.5)), rm_dual_mul(p, p));
    struct rm_dual const left = rm_dual_sub(p, rm_dual_scale(rm_dual_mul(b2, path), route->loss_per_kick * length_m));
    rm_dual_put(t, RM_DELTA, rm_dual_shift(left, -1));
    rm_dual_put(t, RM_PX, rm_dual_mul(xp, left));
    rm_dual_put(t, RM_PY, rm_dual_mul(yp, left));
    rm_e2_apply(t, m, length_m, re, im);
    if (gathered != NULL)
        rm_tangent_scatter(t, gathered, route->diffusion_per_kick * length_m * p.v * p.v * path.v * b2.v * sqrt(b2.v),
                           xp.v, yp.v);
}

static inline void rm_tangent_e2_thrust(struct rm_tangent *t, struct rm_route const *route,
                                        struct rm_leg_multipole const *m, double length_m,
                                        struct rm_diffusion *gathered) {
    if (m->radiates)
        rm_tangent_e2_kick_radiating(t, route, m, length_m, gathered);
    else
        rm_tangent_e2_kick(t, m, length_m);
}

static inline void rm_tangent_e2_body(struct rm_tangent *t, struct rm_route const *route,
                                      struct rm_leg_multipole const *m, struct rm_diffusion *gathered) {
    double const slice = m->length_m / m->slices, h = m->curvature;
    for (uint32_t i = 0; i < m->slices; ++i) {
        rm_tangent_e2_drift(t, rm_drift_1 * slice, h);
        rm_tangent_e2_thrust(t, route, m, rm_kick_1 * slice, gathered);
        rm_tangent_e2_drift(t, rm_drift_2 * slice, h);
        rm_tangent_e2_thrust(t, route, m, rm_kick_2 * slice, gathered);
        rm_tangent_e2_drift(t, rm_drift_2 * slice, h);
        rm_tangent_e2_thrust(t, route, m, rm_kick_1 * slice, gathered);
        rm_tangent_e2_drift(t, rm_drift_1 * slice, h);
    }
}

#endif
