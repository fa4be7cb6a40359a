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
#include "parts.h"
#include "scatter.h"

/** A tangent whose px and py, and their rows, are slopes: over 1 + δ. */
struct rm_sloped {
    struct rm_rows_in_parts rows;
    double z[6];
    /** 1 / (1 + δ). */
    double inverse;
    /** Square of the slopes. */
    double square;
};

RM_FORCE_INLINE void rm_sloped_of(struct rm_tangent const *tangent, struct rm_sloped *s) {
    rm_parts_of(tangent, &s->rows);
    __builtin_memcpy(s->z, tangent->z, sizeof s->z);
    s->inverse = 1 / (1 + s->z[RM_DELTA]);
    s->z[RM_PX] *= s->inverse;
    s->z[RM_PY] *= s->inverse;
    s->square = s->z[RM_PX] * s->z[RM_PX] + s->z[RM_PY] * s->z[RM_PY];
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part *const j = s->rows.of[p];
        j[RM_PX] = s->inverse * (j[RM_PX] - s->z[RM_PX] * j[RM_DELTA]);
        j[RM_PY] = s->inverse * (j[RM_PY] - s->z[RM_PY] * j[RM_DELTA]);
    }
}

RM_FORCE_INLINE void rm_sloped_put(struct rm_sloped *s, struct rm_tangent *tangent) {
    double const momentum = 1 + s->z[RM_DELTA];
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part *const j = s->rows.of[p];
        j[RM_PX] = momentum * j[RM_PX] + s->z[RM_PX] * j[RM_DELTA];
        j[RM_PY] = momentum * j[RM_PY] + s->z[RM_PY] * j[RM_DELTA];
    }
    s->z[RM_PX] *= momentum;
    s->z[RM_PY] *= momentum;
    rm_parts_put(&s->rows, tangent);
    __builtin_memcpy(tangent->z, s->z, sizeof s->z);
}

RM_FORCE_INLINE void rm_sloped_rows_drift(struct rm_sloped *s, double length_m, double by_x, double by_y) {
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part *const j = s->rows.of[p];
        j[RM_X] += length_m * j[RM_PX];
        j[RM_Y] += length_m * j[RM_PY];
        j[RM_CT] += by_x * j[RM_PX] + by_y * j[RM_PY];
    }
}

RM_FORCE_INLINE void rm_sloped_drift(struct rm_sloped *s, double length_m) {
    double const by_x = length_m * s->z[RM_PX], by_y = length_m * s->z[RM_PY];
    s->z[RM_X] += by_x;
    s->z[RM_Y] += by_y;
    s->z[RM_CT] += (0.5 * length_m) * s->square;
    rm_sloped_rows_drift(s, length_m, by_x, by_y);
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
    double const xp = s->z[RM_PX], yp = s->z[RM_PY], p = 1 + s->z[RM_DELTA];
    double const w = 1 + h * s->z[RM_X], w_2 = w * w, by = f->re + h, bx = f->im;
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

RM_FORCE_INLINE void rm_sloped_rows(struct rm_sloped *s, struct rm_multipole_field const *f, struct rm_loss const *l,
                                    double h, double kick_m, double reach, double bent_x, double bent_y) {
    double const kept = 1 - 2 * l->lost, by_x = reach * (f->re_slope + h * h), skew = reach * f->im_slope;
    double const by_y = reach * f->re_slope, by_delta = reach * h, longer = kick_m * h;
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part *const j = s->rows.of[p];
        rm_part const before = j[RM_DELTA];
        rm_part const delta = kept * before - l->xp * j[RM_PX] - l->yp * j[RM_PY] - l->y * j[RM_Y] - l->x * j[RM_X];
        j[RM_PX] = j[RM_PX] + by_delta * before + skew * j[RM_Y] - by_x * j[RM_X] - bent_x * delta;
        j[RM_PY] = j[RM_PY] + skew * j[RM_X] + by_y * j[RM_Y] - bent_y * delta;
        j[RM_DELTA] = delta;
        j[RM_CT] += longer * j[RM_X];
    }
}

/** Adds b u uᵀ, where u is the photon's direction (0, x', 0, y', 1, 0) carried back to the start as in
 * rm_tangent_scatter. The rows of the slopes do not enter, so it may come after a kick and before its drift. */
RM_FORCE_INLINE void rm_sloped_scatter(struct rm_sloped const *s, struct rm_gathering *gathered, double b, double xp,
                                       double yp) {
    rm_part u[RM_PARTS];
#pragma GCC unroll 6
    for (int p = 0; p < RM_PARTS; ++p) {
        rm_part const *const j = s->rows.of[p];
        u[p] = xp * j[RM_X] + yp * j[RM_Y] - j[RM_CT];
    }
    rm_gathering_add(gathered, u, b);
}

/** A kick, whose length may be negative (the integrator's middle one), as may what it loses, and the drift after it.
 * The place is what the next kick waits for, so it is not left to wait for the slope. */
RM_FORCE_INLINE void rm_sloped_kick(struct rm_sloped *s, struct rm_route const *route, struct rm_leg_multipole const *m,
                                    uint32_t order, double kick_m, double drift_m, struct rm_gathering *gathered) {
    double *const z = s->z;
    double const h = m->curvature, x = z[RM_X], y = z[RM_Y], xp = z[RM_PX], yp = z[RM_PY];
    double const momentum = 1 + z[RM_DELTA], h_x = h * x;
    struct rm_multipole_field const f = rm_field_at(m, order, x, y);
    struct rm_loss const l = rm_loss_at(s, &f, h, route->loss_per_kick * kick_m);
    double const push_x = kick_m * (h * (z[RM_DELTA] - h_x) - f.re), push_y = kick_m * f.im;
    double const after = rm_inverse_after(s->inverse, l.lost);
    z[RM_X] = (x + drift_m * xp) + (drift_m * push_x) * after;
    z[RM_Y] = (y + drift_m * yp) + (drift_m * push_y) * after;
    z[RM_PX] = xp + push_x * after;
    z[RM_PY] = yp + push_y * after;
    z[RM_DELTA] -= l.loss;
    s->inverse = after;
    s->square = z[RM_PX] * z[RM_PX] + z[RM_PY] * z[RM_PY];
    z[RM_CT] += kick_m * h_x + (0.5 * drift_m) * s->square;
    rm_sloped_rows(s, &f, &l, h, kick_m, kick_m * after, push_x * after * after, push_y * after * after);
    if (gathered != NULL) {
        double const square = momentum * momentum;
        rm_sloped_scatter(s, gathered, route->diffusion_per_kick * kick_m * square * square * l.diffusion, xp, yp);
    }
    rm_sloped_rows_drift(s, drift_m, drift_m * z[RM_PX], drift_m * z[RM_PY]);
}

RM_FORCE_INLINE void rm_tangent_body_radiating(struct rm_tangent *tangent, struct rm_route const *route,
                                               struct rm_leg_multipole const *m, uint32_t order,
                                               struct rm_diffusion *gathered) {
    struct rm_sloped here, *const s = &here;
    struct rm_gathering sums, *const scattered = gathered != NULL ? &sums : NULL;
    double const slice = m->length_m / m->slices;
    if (scattered != NULL)
        __builtin_memset(scattered, 0, sizeof *scattered);
    rm_sloped_of(tangent, s);
    rm_sloped_drift(s, rm_drift_1 * slice);
    for (uint32_t i = m->slices; i-- > 0;) {
        double const last = i != 0 ? 2 * rm_drift_1 : rm_drift_1;
        rm_sloped_kick(s, route, m, order, rm_kick_1 * slice, rm_drift_2 * slice, scattered);
        rm_sloped_kick(s, route, m, order, rm_kick_2 * slice, rm_drift_2 * slice, scattered);
        rm_sloped_kick(s, route, m, order, rm_kick_1 * slice, last * slice, scattered);
    }
    rm_sloped_put(s, tangent);
    if (scattered != NULL)
        rm_gathering_put(scattered, gathered);
}

#endif
