// SPDX-License-Identifier: Apache-2.0
/** Faces of a dipole: K. L. Brown's first order, and its relatives that depend on the particle. */
#ifndef RM_TWIN_PASS_EDGE_H
#define RM_TWIN_PASS_EDGE_H

#include "ray.h"

/** fy / h of methods 1 (Brown), 2 (SOLEIL) and 3 (ThomX) for this particle. */
RM_INLINE rm_real rm_edge_tangent(struct rm_ray const *ray, struct rm_edge const *edge) {
    if (edge->method == 3)
        return rm_each(tan, edge->angle - edge->correction + edge->sign * ray->px * ray->inverse);
    rm_real const tangent = rm_each(tan, edge->angle - edge->correction * ray->inverse);
    return edge->method == 2 ? tangent * ray->inverse : tangent;
}

RM_INLINE void rm_ray_edge(struct rm_ray *ray, struct rm_edge const *edge) {
    ray->px += ray->x * edge->fx;
    ray->py -= ray->y * edge->fy;
}

RM_INLINE void rm_ray_edge_fringe(struct rm_ray *ray, struct rm_edge const *edge) {
    ray->py -= ray->y * (edge->inverse_rho * rm_edge_tangent(ray, edge));
    ray->px += ray->x * edge->fx;
}

static void rm_pass_edge(struct rm_bundle *bundle, struct rm_track_step const *step) {
    RM_EACH_RAY rm_ray_edge(&bundle->ray[i], step->data);
}

static void rm_pass_edge_fringe(struct rm_bundle *bundle, struct rm_track_step const *step) {
    for (unsigned i = 0; i < RM_RAYS; ++i)
        rm_ray_edge_fringe(&bundle->ray[i], step->data);
}

#endif
