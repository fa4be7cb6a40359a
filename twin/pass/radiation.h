// SPDX-License-Identifier: Apache-2.0
/** Magnets with the mean energy loss of synchrotron radiation, M. Sands, SLAC-121 (4.2).
 *
 * With the slopes x' = px / (1+δ) and y', u = x'² + y'², g = 1 + h x and the whole field B = (By + h) + i Bx at the
 * kick,
 *
 *     B⊥² = ((By² + Bx²) g² + (Bx y' − By x')²) / (g² + u)                        |e × B|²
 *     δ  −= r K (1+δ)² B⊥² (g + u / 2)                                            r = 2/3 r_e γ³
 *
 * and the slopes stay. Between kicks slopes are carried, not momenta, so that a drift needs no division. A kick needs
 * 1 / (g² + u), and 1 / (1+δ) behind the loss; with G = g² + u, D = 1 + δ, and q = r K D (…) (g + u / 2), the loss is
 * D q / G and what is left is D (G − q) / G: both come of the one division 1 / (D (G − q) G).
 */
#ifndef RM_TWIN_PASS_RADIATION_H
#define RM_TWIN_PASS_RADIATION_H

#include "ray.h"

struct rm_slope_way {
    rm_real x, xp, y, yp, delta;
    /** 1 / (1 + δ). */
    rm_real inverse;

    rm_real u;
    /** Σ u over the drifts, as in struct rm_way. */
    rm_real squares[2];

    rm_real path[2];
    rm_real b0, a0;
};

RM_INLINE void rm_slope_drift(struct rm_slope_way *way, double length, unsigned which) {
    way->x += length * way->xp;
    way->y += length * way->yp;
    way->u = way->xp * way->xp + way->yp * way->yp;
    way->squares[which] += way->u;
}

/** The field at the ray, without the part of the curvature. */
RM_INLINE void rm_slope_field(struct rm_slope_way const *way, struct rm_magnet const *magnet, unsigned order,
                              bool normal, rm_real *by, rm_real *bx) {
    double const *const a = magnet->a, *const b = magnet->b;
    rm_real const x = way->x, y = way->y;
    if (normal && order == 1) {
        *by = b[1] * x + way->b0;
        *bx = b[1] * y;
        return;
    }
    rm_real re = rm_real_of(b[order]), im = rm_real_of(normal ? 0 : a[order]);
    unsigned next = order - 1;
    if (normal) {
        im = b[order] * y;
        re = b[order] * x + b[next--];
    }
    for (; next >= 1; --next) {
        rm_real const higher = re;
        re = re * x - im * y + b[next];
        im = im * x + higher * y;
        if (!normal)
            im += a[next];
    }
    *by = re * x - im * y + way->b0;
    *bx = im * x + re * y;
    if (!normal)
        *bx += way->a0;
}

RM_INLINE void rm_slope_kick(struct rm_slope_way *way, struct rm_magnet const *magnet, unsigned which, unsigned order,
                             bool normal, bool curved) {
    double const h = magnet->curvature, kick = magnet->kick[which];
    rm_real by, bx;
    rm_slope_field(way, magnet, order, normal, &by, &bx);
    rm_real force = by; /* of the horizontal kick */
    rm_real bound = 1.0 + way->u, middle = 1.0 + 0.5 * way->u, field = by * by + bx * bx;
    if (curved) {
        force += h * (h * way->x - way->delta);
        by += h;
        rm_real const g = 1.0 + h * way->x, g2 = g * g;
        bound = g2 + way->u;
        middle = g + 0.5 * way->u;
        field = (by * by + bx * bx) * g2;
        way->path[which] += way->x;
    }
    field += rm_square(bx * way->yp - by * way->xp);
    rm_real const energy = 1.0 + way->delta;
    rm_real const q = (magnet->loss * kick * energy) * (field * middle);
    rm_real const left = energy * (bound - q);
    rm_real const divided = 1.0 / (left * bound);
    way->delta -= (energy * q) * (left * divided);
    way->inverse = (bound * bound) * divided;
    rm_real const scaled = kick * way->inverse;
    way->xp -= scaled * force;
    way->yp += scaled * bx;
}

RM_INLINE void rm_slope_enter(struct rm_slope_way *way, struct rm_ray const *ray, struct rm_magnet const *magnet,
                              rm_real const steer[2]) {
    way->inverse = ray->inverse;
    way->delta = ray->delta;
    way->x = ray->x, way->xp = ray->px * ray->inverse;
    way->y = ray->y, way->yp = ray->py * ray->inverse;
    way->b0 = magnet->b[0] + steer[0];
    way->a0 = magnet->a[0] + steer[1];
    way->squares[0] = way->squares[1] = way->path[0] = way->path[1] = rm_real_of(0);
    rm_slope_drift(way, magnet->drift[0], 0);
    way->squares[0] *= 0.5;
}

RM_INLINE void rm_slope_leave(struct rm_slope_way *way, struct rm_ray *ray, struct rm_magnet const *magnet,
                              bool curved) {
    rm_real const u = way->xp * way->xp + way->yp * way->yp;
    rm_real const energy = 1.0 + way->delta;
    ray->x = way->x - magnet->drift[0] * way->xp, ray->px = way->xp * energy;
    ray->y = way->y - magnet->drift[0] * way->yp, ray->py = way->yp * energy;
    ray->delta = way->delta;
    ray->inverse = way->inverse;
    ray->ct += magnet->drift[0] * (way->squares[0] - 0.5 * u) + 0.5 * magnet->drift[1] * way->squares[1];
    if (curved)
        ray->ct += magnet->curvature * (magnet->kick[0] * way->path[0] + magnet->kick[1] * way->path[1]);
}

RM_INLINE void rm_integrate_radiating(struct rm_bundle *bundle, struct rm_track_step const *step, unsigned order,
                                      bool normal, bool curved) {
    struct rm_magnet const *const magnet = step->data;
    double const between = 2 * magnet->drift[0], inside = magnet->drift[1];
    struct rm_slope_way way[RM_RAYS];
    RM_EACH_RAY rm_slope_enter(&way[i], &bundle->ray[i], magnet, bundle->steer[i]);
    for (uint32_t slice = 0; slice < magnet->steps; ++slice) {
        RM_EACH_RAY {
            rm_slope_kick(&way[i], magnet, 0, order, normal, curved);
            rm_slope_drift(&way[i], inside, 1);
        }
        RM_EACH_RAY {
            rm_slope_kick(&way[i], magnet, 1, order, normal, curved);
            rm_slope_drift(&way[i], inside, 1);
        }
        RM_EACH_RAY {
            rm_slope_kick(&way[i], magnet, 0, order, normal, curved);
            rm_slope_drift(&way[i], between, 0);
        }
    }
    RM_EACH_RAY rm_slope_leave(&way[i], &bundle->ray[i], magnet, curved);
}

static void rm_pass_magnet_radiating(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_magnet const *const magnet = step->data;
    bool const curved = magnet->curvature != 0;
    unsigned const order = magnet->normal && step->steer_count == 0 ? magnet->order : 0;
    if (order == 1 && curved)
        rm_integrate_radiating(bundle, step, 1, true, true);
    else if (order == 1)
        rm_integrate_radiating(bundle, step, 1, true, false);
    else if (order == 2 && curved)
        rm_integrate_radiating(bundle, step, 2, true, true);
    else if (order == 2)
        rm_integrate_radiating(bundle, step, 2, true, false);
    else if (curved)
        rm_integrate_radiating(bundle, step, magnet->order, false, true);
    else
        rm_integrate_radiating(bundle, step, magnet->order, false, false);
}

#endif
