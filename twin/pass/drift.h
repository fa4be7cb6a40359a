// SPDX-License-Identifier: Apache-2.0
/** Field-free space. */
#ifndef RM_TWIN_PASS_DRIFT_H
#define RM_TWIN_PASS_DRIFT_H

#include "pass/ray.h"

/** To second order in the slopes: AT's expanded drift. */
RM_INLINE void rm_ray_drift(struct rm_ray *ray, double length) {
    rm_real const scaled = length * ray->inverse;
    rm_real const squares = ray->px * ray->px + ray->py * ray->py;
    ray->x += scaled * ray->px;
    ray->y += scaled * ray->py;
    ray->ct += 0.5 * scaled * ray->inverse * squares;
}

/** 1 / p_s. */
RM_INLINE rm_real rm_ray_inverse_ps(struct rm_ray const *ray) {
    return 1.0 / rm_sqrt(rm_square(1.0 + ray->delta) - rm_square(ray->px) - rm_square(ray->py));
}

RM_INLINE void rm_ray_exact_drift(struct rm_ray *ray, double length) {
    rm_real const scaled = length * rm_ray_inverse_ps(ray);
    ray->x += scaled * ray->px;
    ray->y += scaled * ray->py;
    ray->ct += scaled * (1.0 + ray->delta) - length;
}

static void rm_pass_drift(struct rm_bundle *bundle, struct rm_step const *step) {
    double const length = *(double const *)step->data;
    RM_EACH_RAY rm_ray_drift(&bundle->ray[i], length);
}

static void rm_pass_exact_drift(struct rm_bundle *bundle, struct rm_step const *step) {
    double const length = *(double const *)step->data;
    RM_EACH_RAY rm_ray_exact_drift(&bundle->ray[i], length);
}

#endif
