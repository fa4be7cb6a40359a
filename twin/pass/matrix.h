// SPDX-License-Identifier: Apache-2.0
/** Affine maps: misalignment at entrance and exit, and the matrix pass. */
#ifndef RM_TWIN_PASS_MATRIX_H
#define RM_TWIN_PASS_MATRIX_H

#include "ray.h"

static void rm_pass_shift(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const *const by = step->data;
    RM_EACH_RAY {
        struct rm_ray *const ray = &bundle->ray[i];
        ray->x += by[0];
        ray->px += by[1];
        ray->y += by[2];
        ray->py += by[3];
        ray->delta += by[4];
        ray->ct += by[5];
        if (by[4] != 0)
            rm_ray_renew(ray);
    }
}

RM_INLINE rm_real rm_row_times(double const *row, struct rm_ray const *ray) {
    return row[0] * ray->x + row[1] * ray->px + row[2] * ray->y + row[3] * ray->py + row[4] * ray->delta +
           row[5] * ray->ct;
}

static void rm_pass_matrix(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const *const m = step->data;
    RM_EACH_RAY {
        struct rm_ray const from = bundle->ray[i];
        struct rm_ray *const to = &bundle->ray[i];
        to->x = rm_row_times(m, &from);
        to->px = rm_row_times(m + 6, &from);
        to->y = rm_row_times(m + 12, &from);
        to->py = rm_row_times(m + 18, &from);
        to->delta = rm_row_times(m + 24, &from);
        to->ct = rm_row_times(m + 30, &from);
        rm_ray_renew(to);
    }
}

#endif
