// SPDX-License-Identifier: Apache-2.0
/** Field-free space. */
#ifndef RM_TWIN_PASS_DRIFT_H
#define RM_TWIN_PASS_DRIFT_H

#include "ray.h"

/** A drift to second order in the slopes: AT's expanded drift. */
RM_INLINE void rm_ray_drift(struct rm_ray *ray, double length) {
    rm_real const scaled = length * ray->inverse;
    rm_real const squares = ray->px * ray->px + ray->py * ray->py;
    ray->x += scaled * ray->px;
    ray->y += scaled * ray->py;
    ray->ct += 0.5 * scaled * ray->inverse * squares;
}

/** p_s, the momentum along the axis. */
RM_INLINE rm_real rm_ray_ps(struct rm_ray const *ray) {
    return rm_sqrt(rm_square(1.0 + ray->delta) - rm_square(ray->px) - rm_square(ray->py));
}

/** The exact drift. ct lengthens by (1+δ) / p_s − 1, written without the difference of two near numbers. */
RM_INLINE void rm_ray_exact_drift(struct rm_ray *ray, double length) {
    rm_real const ps = rm_ray_ps(ray), scaled = length / ps;
    ray->x += scaled * ray->px;
    ray->y += scaled * ray->py;
    ray->ct += scaled * (ray->px * ray->px + ray->py * ray->py) / (1.0 + ray->delta + ps);
}

static void rm_pass_drift(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const length = *(double const *)step->data;
    RM_EACH_RAY rm_ray_drift(&bundle->ray[i], length);
}

static void rm_pass_exact_drift(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const length = *(double const *)step->data;
    RM_EACH_RAY rm_ray_exact_drift(&bundle->ray[i], length);
}

#endif
