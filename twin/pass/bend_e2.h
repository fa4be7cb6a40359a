// SPDX-License-Identifier: Apache-2.0
/** A dipole in its curved frame to second order, with second order maps at its faces (X. Huang's E2 pass of AT).
 *
 *     drift  H1 = (1 + h x) (px² + py²) / 2 (1+δ)
 *     kick   the curved field to fourth order; skew components are left out
 */
#ifndef RM_TWIN_PASS_BEND_E2_H
#define RM_TWIN_PASS_BEND_E2_H

#include "ray.h"

static void rm_pass_e2_edge(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_e2_edge const *const e = step->data;
    RM_EACH_RAY {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_real const x = ray->x, y = ray->y, px = ray->px;
        ray->x += e->t111 * x * x + e->t133 * y * y;
        ray->px += x * e->fx + 2.0 * e->t212 * x * px + 2.0 * e->t234 * y * ray->py + e->t211 * x * x + e->t233 * y * y;
        ray->y += 2.0 * e->t313 * x * y;
        ray->py += 2.0 * e->t414 * x * ray->py - y * e->fy + 2.0 * e->t413 * x * y + 2.0 * e->t423 * px * y;
    }
}

RM_INLINE void rm_e2_drift(struct rm_ray *ray, double length, double h) {
    rm_real const scaled = length * ray->inverse, g = 1.0 + h * ray->x;
    rm_real const px = ray->px, py = ray->py, squares = px * px + py * py;
    ray->x += g * px * scaled + 0.25 * h * scaled * scaled * (px * px - py * py);
    ray->px -= 0.5 * h * scaled * squares;
    ray->y += g * py * scaled * (1.0 + 0.5 * h * length * px);
    ray->ct += 0.5 * g * scaled * ray->inverse * squares;
}

/** The field's series, without skew components. */
RM_INLINE void rm_e2_field(struct rm_ray const *ray, struct rm_e2 const *bend, rm_real *re, rm_real *im) {
    *re = rm_real_of(bend->b[bend->order]);
    *im = rm_real_of(0);
    for (unsigned next = bend->order; next-- > 0;) {
        rm_real const higher = *re;
        *re = *re * ray->x - *im * ray->y + bend->b[next];
        *im = *im * ray->x + higher * ray->y;
    }
}

/** The curved field's part of the kick that the series does not have. */
RM_INLINE void rm_e2_curve(struct rm_ray *ray, struct rm_e2 const *bend, double kick, rm_real re, rm_real im) {
    double const h = bend->curvature, k1 = bend->k1, k2 = bend->k2;
    rm_real const x = ray->x, y = ray->y, x2 = x * x, y2 = y * y;
    ray->px -= kick * (re - h * ray->delta + h * (h * x + k1 * (x2 - 0.5 * y2) + k2 * (x2 * x - (4.0 / 3.0) * x * y2)));
    ray->py += kick * (im + h * (k1 * x * y + (4.0 / 3.0) * k2 * x2 * y + (h / 6 * k1 - k2 / 3) * y2 * y));
    ray->ct += kick * h * x;
}

/** The loss of radiation.h in the curved field; slopes stay. Unlike there the kick that follows sees the δ behind the
 * loss, as AT's does. */
RM_INLINE void rm_e2_radiate(struct rm_ray *ray, struct rm_e2 const *bend, double kick, rm_real *re, rm_real *im) {
    double const h = bend->curvature, k1 = bend->k1, k2 = bend->k2;
    rm_real const x = ray->x, y = ray->y;
    *im += h * (k1 * h - k2) / 6 * y * y * y;
    *re += -0.5 * k1 * h * y * y + 0.5 * h * (k1 * h - k2) * x * y * y;
    rm_real const xp = ray->px * ray->inverse, yp = ray->py * ray->inverse;
    rm_real const g = 1.0 + h * x, u = xp * xp + yp * yp, by = *re + h, bx = *im;
    rm_real const field = ((by * by + bx * bx) * g * g + rm_square(bx * yp - by * xp)) / (g * g + u);
    ray->delta -= bend->loss * kick * rm_square(1.0 + ray->delta) * field * (g + 0.5 * u);
    ray->px = xp * (1.0 + ray->delta);
    ray->py = yp * (1.0 + ray->delta);
    rm_ray_renew(ray);
}

RM_INLINE void rm_e2_kick(struct rm_ray *ray, struct rm_e2 const *bend, unsigned which) {
    rm_real re, im;
    rm_e2_field(ray, bend, &re, &im);
    if (bend->radiating)
        rm_e2_radiate(ray, bend, bend->kick[which], &re, &im);
    rm_e2_curve(ray, bend, bend->kick[which], re, im);
}

static void rm_pass_e2(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_e2 const *const bend = step->data;
    double const h = bend->curvature;
    for (uint32_t slice = 0; slice < bend->steps; ++slice)
        RM_EACH_RAY {
            struct rm_ray *const ray = &bundle->ray[i];
            rm_e2_drift(ray, bend->drift[0], h);
            rm_e2_kick(ray, bend, 0);
            rm_e2_drift(ray, bend->drift[1], h);
            rm_e2_kick(ray, bend, 1);
            rm_e2_drift(ray, bend->drift[1], h);
            rm_e2_kick(ray, bend, 0);
            rm_e2_drift(ray, bend->drift[0], h);
        }
}

#endif
