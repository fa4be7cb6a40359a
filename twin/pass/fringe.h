// SPDX-License-Identifier: Apache-2.0
/** Ends of a quadrupole. */
#ifndef RM_TWIN_PASS_FRINGE_H
#define RM_TWIN_PASS_FRINGE_H

#include "ray.h"

/** Lee-Whiting's hard edge to third order (E. Forest, Beam Dynamics, p. 390); `strength` is K1 / 12, negative at the
 * exit. */
RM_INLINE void rm_ray_quad_fringe(struct rm_ray *ray, double strength) {
    rm_real const u = strength * ray->inverse;
    rm_real const x2 = ray->x * ray->x, y2 = ray->y * ray->y;
    rm_real const mixed = 2.0 * ray->x * ray->y, sum = x2 + y2;
    rm_real const gx = u * (x2 + 3.0 * y2) * ray->x, gy = u * (y2 + 3.0 * x2) * ray->y;
    rm_real const px = ray->px, py = ray->py;
    ray->x += gx;
    ray->y -= gy;
    ray->ct -= (gy * py - gx * px) * ray->inverse;
    ray->px += 3.0 * u * (mixed * py - sum * px);
    ray->py -= 3.0 * u * (mixed * px - sum * py);
}

static void rm_pass_quad_fringe(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const strength = *(double const *)step->data;
    RM_EACH_RAY rm_ray_quad_fringe(&bundle->ray[i], strength);
}

/** A linear map that does not couple the planes: the soft part of an end (D. Zhuo, J. Qiang, elegant's fringe
 * integrals). */
static void rm_pass_blocks(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const *const m = step->data;
    RM_EACH_RAY {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_real const x = ray->x, y = ray->y;
        ray->x = m[0] * x + m[1] * ray->px;
        ray->px = m[2] * x + m[3] * ray->px;
        ray->y = m[4] * y + m[5] * ray->py;
        ray->py = m[6] * y + m[7] * ray->py;
    }
}

#endif
