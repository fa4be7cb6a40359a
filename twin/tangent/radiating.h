// SPDX-License-Identifier: Apache-2.0
/** Bodies of magnets that radiate: StrMPoleSymplectic4RadPass and BndMPoleSymplectic4RadPass.
 *
 * The map is that of multipole.h, and in each kick the energy is lost that the field there makes a particle radiate
 * (M. Sands, SLAC-121, eq. 4.2). The slopes, not the momenta, survive it, so a body is walked in slopes: a turn of
 * Elettra 2.0 takes 0.86 ms so, and 0.97 ms in momenta.
 */
#ifndef RM_TANGENT_RADIATING_H
#define RM_TANGENT_RADIATING_H

#include "multipole.h"
#include "scatter.h"

/** A tangent whose px and py, and their rows, are slopes: over 1 + δ. */
struct rm_sloped {
    struct rm_tangent t;
    /** 1 / (1 + δ). */
    double inverse;
    /** Square of the slopes. */
    double square;
};

RM_FORCE_INLINE struct rm_sloped rm_sloped_of(struct rm_tangent const *tangent) {
    struct rm_sloped s = {.t = *tangent, .inverse = 1 / (1 + tangent->z[RM_DELTA])};
    for (int at = RM_PX; at <= RM_PY; at += RM_PY - RM_PX) {
        s.t.z[at] *= s.inverse;
        s.t.j[at] = s.inverse * (s.t.j[at] - s.t.z[at] * s.t.j[RM_DELTA]);
        s.square += s.t.z[at] * s.t.z[at];
    }
    return s;
}

RM_FORCE_INLINE void rm_sloped_put(struct rm_sloped const *s, struct rm_tangent *tangent) {
    double const p = 1 + s->t.z[RM_DELTA];
    *tangent = s->t;
    for (int at = RM_PX; at <= RM_PY; at += RM_PY - RM_PX) {
        tangent->z[at] = p * s->t.z[at];
        tangent->j[at] = p * s->t.j[at] + s->t.z[at] * s->t.j[RM_DELTA];
    }
}

RM_FORCE_INLINE void rm_sloped_drift(struct rm_sloped *s, double length_m) {
    struct rm_tangent *const t = &s->t;
    double const by_x = length_m * t->z[RM_PX], by_y = length_m * t->z[RM_PY];
    t->z[RM_X] += by_x;
    t->z[RM_Y] += by_y;
    t->z[RM_CT] += (0.5 * length_m) * s->square;
    t->j[RM_X] += length_m * t->j[RM_PX];
    t->j[RM_Y] += length_m * t->j[RM_PY];
    t->j[RM_CT] += by_x * t->j[RM_PX] + by_y * t->j[RM_PY];
}

/** 1 / (p (1 - lost)) from `inverse` = 1 / p. Particle after particle waits for this, and a division takes three times
 * as long as the two products that are enough for a small loss: (1 + e)(1 + e²) = (1 - e⁴) / (1 - e). */
RM_FORCE_INLINE double rm_inverse_after(double inverse, double lost) {
    return fabs(lost) < 1e-4 ? (inverse + inverse * lost) * (1 + lost * lost) : inverse / (1 - lost);
}

/** What a kick takes from the particle, and the derivatives of that by place, slope and, with these given, δ. */
struct rm_loss {
    /** Share of the momentum that is lost. */
    double lost;

    double loss;
    double x, y, xp, yp;
    /** b of rm_tangent_scatter, over that of the route and p⁴. */
    double diffusion;
};

/** `strength`: the loss in a field of 1/m at the design momentum. One division comes last, for the place of the next
 * kick waits for it. */
RM_FORCE_INLINE struct rm_loss rm_loss_at(struct rm_sloped const *s, struct rm_multipole_field const *f, double h,
                                          double strength) {
    double const xp = s->t.z[RM_PX], yp = s->t.z[RM_PY], p = 1 + s->t.z[RM_DELTA];
    double const w = 1 + h * s->t.z[RM_X], w_2 = w * w, by = f->re + h, bx = f->im;
    double const q = bx * yp - by * xp, field = by * by + bx * bx, rest = 1 / (w_2 + s->square);
    double const path = w + 0.5 * s->square, over_p = strength * p * path, across = q * q + field * w_2;
    double const lost = (over_p * across) * rest, twice = 2 * (over_p * p) * rest;
    double const b2 = across * rest; /* |e × B|² */
    double const over_path = strength * p * p * b2;
    /* Half the derivatives of q² + field w² by By and Bx, and of b2 by the slopes. */
    double const of_by = w_2 * by - q * xp, of_bx = w_2 * bx + q * yp;
    double const along = over_path - twice * b2, aside = twice * q;
    return (struct rm_loss){.lost = lost,
                            .loss = lost * p,
                            .x = twice * ((f->re_slope * of_by + f->im_slope * of_bx) + (field - b2) * (w * h)) +
                                 over_path * h,
                            .y = twice * (f->re_slope * of_bx - f->im_slope * of_by),
                            .xp = along * xp - aside * by,
                            .yp = along * yp + aside * bx,
                            .diffusion = path * b2 * sqrt(b2)};
}

RM_FORCE_INLINE void rm_sloped_rows(struct rm_tangent *t, struct rm_multipole_field const *f, struct rm_loss const *l,
                                    double h, double reach, double bent_x, double bent_y) {
    rm_lanes const before = t->j[RM_DELTA];
    rm_lanes const delta =
        (1 - 2 * l->lost) * before - l->xp * t->j[RM_PX] - l->yp * t->j[RM_PY] - l->y * t->j[RM_Y] - l->x * t->j[RM_X];
    t->j[RM_PX] = t->j[RM_PX] + (reach * h) * before + (reach * f->im_slope) * t->j[RM_Y] -
                  (reach * (f->re_slope + h * h)) * t->j[RM_X] - bent_x * delta;
    t->j[RM_PY] =
        t->j[RM_PY] + (reach * f->im_slope) * t->j[RM_X] + (reach * f->re_slope) * t->j[RM_Y] - bent_y * delta;
    t->j[RM_DELTA] = delta;
}

/** A kick, whose length may be negative (the integrator's middle one), as may what it loses, and the drift after it.
 * The place is what the next kick waits for, so it is not left to wait for the slope. */
RM_FORCE_INLINE void rm_sloped_kick(struct rm_sloped *s, struct rm_route const *route, struct rm_leg_multipole const *m,
                                    uint32_t order, double kick_m, double drift_m, struct rm_diffusion *gathered) {
    struct rm_tangent *const t = &s->t;
    double const h = m->curvature, x = t->z[RM_X], y = t->z[RM_Y], xp = t->z[RM_PX], yp = t->z[RM_PY];
    double const p = 1 + t->z[RM_DELTA], h_x = h * x;
    struct rm_multipole_field const f = rm_field_at(m, order, x, y);
    struct rm_loss const l = rm_loss_at(s, &f, h, route->loss_per_kick * kick_m);
    double const push_x = kick_m * (h * (t->z[RM_DELTA] - h_x) - f.re), push_y = kick_m * f.im;
    double const after = rm_inverse_after(s->inverse, l.lost);
    t->z[RM_X] = (x + drift_m * xp) + (drift_m * push_x) * after;
    t->z[RM_Y] = (y + drift_m * yp) + (drift_m * push_y) * after;
    t->z[RM_PX] = xp + push_x * after;
    t->z[RM_PY] = yp + push_y * after;
    t->z[RM_DELTA] -= l.loss;
    s->inverse = after;
    s->square = t->z[RM_PX] * t->z[RM_PX] + t->z[RM_PY] * t->z[RM_PY];
    t->z[RM_CT] += kick_m * h_x + (0.5 * drift_m) * s->square;
    rm_sloped_rows(t, &f, &l, h, kick_m * after, push_x * after * after, push_y * after * after);
    t->j[RM_CT] += (kick_m * h) * t->j[RM_X];
    if (gathered != NULL)
        rm_tangent_scatter(t, gathered, route->diffusion_per_kick * kick_m * p * p * p * p * l.diffusion, xp, yp);
    t->j[RM_X] += drift_m * t->j[RM_PX];
    t->j[RM_Y] += drift_m * t->j[RM_PY];
    t->j[RM_CT] += (drift_m * t->z[RM_PX]) * t->j[RM_PX] + (drift_m * t->z[RM_PY]) * t->j[RM_PY];
}

RM_FORCE_INLINE void rm_tangent_body_radiating(struct rm_tangent *tangent, struct rm_route const *route,
                                               struct rm_leg_multipole const *m, uint32_t order,
                                               struct rm_diffusion *gathered) {
    struct rm_sloped here = rm_sloped_of(tangent), *const s = &here;
    double const slice = m->length_m / m->slices;
    rm_sloped_drift(s, rm_drift_1 * slice);
    for (uint32_t i = m->slices; i-- > 0;) {
        double const last = i != 0 ? 2 * rm_drift_1 : rm_drift_1;
        rm_sloped_kick(s, route, m, order, rm_kick_1 * slice, rm_drift_2 * slice, gathered);
        rm_sloped_kick(s, route, m, order, rm_kick_2 * slice, rm_drift_2 * slice, gathered);
        rm_sloped_kick(s, route, m, order, rm_kick_1 * slice, last * slice, gathered);
    }
    rm_sloped_put(s, tangent);
}

#endif
