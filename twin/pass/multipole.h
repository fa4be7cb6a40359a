// SPDX-License-Identifier: Apache-2.0
/** Magnets without radiation: kicks of a field between drifts, straight and curved.
 *
 *     straight  px −= K Re B,                    py += K Im B,       B = Σ (b_n + i a_n) (x + i y)^n
 *     curved    px −= K (Re B − h δ + h² x),     py += K Im B,       ct += K h x
 *
 * Nothing here changes δ, so what depends on it is computed once per magnet. Two neighbouring drifts of two slices are
 * one, ct is made of sums over drifts and kicks of one length each, and the coefficients come multiplied by the kick's
 * length: per drift and kick of a quadrupole 6 multiplications with addition and one addition are left.
 */
#ifndef RM_TWIN_PASS_MULTIPOLE_H
#define RM_TWIN_PASS_MULTIPOLE_H

#include "ray.h"

/** A ray inside a magnet. Of each pair, the first is of the drifts between slices and of the outer kicks of a slice,
 * the second of the drifts inside and of the kick in the middle. */
struct rm_way {
    rm_real x, px, y, py;
    /** Lengths of the drifts, over 1 + δ. */
    rm_real length[2];
    /** Σ px² + py² over the drifts. */
    rm_real squares[2];
    /** Σ x over the kicks, where there is curvature. */
    rm_real path[2];
    /** Dipole component times K, less K h δ. */
    rm_real b0[2];

    rm_real a0[2];
};

RM_INLINE void rm_way_drift(struct rm_way *way, unsigned which) {
    way->x += way->length[which] * way->px;
    way->y += way->length[which] * way->py;
    way->squares[which] += way->px * way->px;
    way->squares[which] += way->py * way->py;
}

/** `order` ≥ 1 and the flags are constants where it matters; `normal`: no skew component, a0 included. */
RM_INLINE void rm_way_kick(struct rm_way *way, struct rm_magnet const *magnet, unsigned which, unsigned order,
                           bool normal, bool curved) {
    double const *const a = magnet->kick_a[which], *const b = magnet->kick_b[which];
    rm_real const x = way->x, y = way->y;
    double const focus = curved ? magnet->kick[which] * magnet->curvature * magnet->curvature : 0;
    if (curved)
        way->path[which] += x;
    way->px -= way->b0[which];
    if (order == 1 && normal) {
        way->px -= (b[1] + focus) * x;
        way->py += b[1] * y;
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
    way->px -= re * x - im * y;
    if (curved)
        way->px -= focus * x;
    if (!normal)
        way->py += way->a0[which];
    way->py += im * x + re * y;
}

RM_INLINE void rm_way_enter(struct rm_way *way, struct rm_ray const *ray, struct rm_magnet const *magnet,
                            rm_real const steer[2]) {
    way->x = ray->x, way->px = ray->px;
    way->y = ray->y, way->py = ray->py;
    way->length[0] = 2 * magnet->drift[0] * ray->inverse;
    way->length[1] = magnet->drift[1] * ray->inverse;
    for (unsigned which = 0; which < 2; ++which) {
        way->squares[which] = way->path[which] = rm_real_of(0);
        way->b0[which] = magnet->kick_b[which][0] - magnet->kick[which] * (magnet->curvature * ray->delta - steer[0]);
        way->a0[which] = magnet->kick_a[which][0] + magnet->kick[which] * steer[1];
    }
    way->x += 0.5 * way->length[0] * way->px;
    way->y += 0.5 * way->length[0] * way->py;
    way->squares[0] += 0.5 * (way->px * way->px + way->py * way->py);
}

RM_INLINE void rm_way_leave(struct rm_way const *way, struct rm_ray *ray, struct rm_magnet const *magnet, bool curved) {
    rm_real const squares = way->squares[0] - 0.5 * (way->px * way->px + way->py * way->py);
    ray->x = way->x - 0.5 * way->length[0] * way->px, ray->px = way->px;
    ray->y = way->y - 0.5 * way->length[0] * way->py, ray->py = way->py;
    ray->ct += 0.5 * ray->inverse * (way->length[0] * squares + way->length[1] * way->squares[1]);
    if (curved)
        ray->ct += magnet->curvature * (magnet->kick[0] * way->path[0] + magnet->kick[1] * way->path[1]);
}

RM_INLINE void rm_way_slices(struct rm_way way[RM_RAYS], struct rm_magnet const *magnet, uint32_t slices,
                             unsigned order, bool normal, bool curved) {
    for (uint32_t slice = 0; slice < slices; ++slice) {
        RM_EACH_RAY {
            rm_way_kick(&way[i], magnet, 0, order, normal, curved);
            rm_way_drift(&way[i], 1);
        }
        RM_EACH_RAY {
            rm_way_kick(&way[i], magnet, 1, order, normal, curved);
            rm_way_drift(&way[i], 1);
        }
        RM_EACH_RAY {
            rm_way_kick(&way[i], magnet, 0, order, normal, curved);
            rm_way_drift(&way[i], 0);
        }
    }
}

RM_INLINE void rm_integrate(struct rm_bundle *bundle, struct rm_track_step const *step, unsigned order, bool normal,
                            bool curved) {
    struct rm_magnet const *const magnet = step->data;
    struct rm_way way[RM_RAYS];
    RM_EACH_RAY rm_way_enter(&way[i], &bundle->ray[i], magnet, bundle->steer[i]);
    rm_way_slices(way, magnet, magnet->steps, order, normal, curved);
    RM_EACH_RAY rm_way_leave(&way[i], &bundle->ray[i], magnet, curved);
}

static void rm_pass_magnet(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_magnet const *const magnet = step->data;
    bool const curved = magnet->curvature != 0;
    unsigned const order = magnet->normal && step->steer_count == 0 ? magnet->order : 0;
    if (order == 1 && curved)
        rm_integrate(bundle, step, 1, true, true);
    else if (order == 1)
        rm_integrate(bundle, step, 1, true, false);
    else if (order == 2 && curved)
        rm_integrate(bundle, step, 2, true, true);
    else if (order == 2)
        rm_integrate(bundle, step, 2, true, false);
    else if (order == 3 && !curved)
        rm_integrate(bundle, step, 3, true, false);
    else if (curved)
        rm_integrate(bundle, step, magnet->order, false, true);
    else
        rm_integrate(bundle, step, magnet->order, false, false);
}

#endif
