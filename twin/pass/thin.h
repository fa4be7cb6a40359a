// SPDX-License-Identifier: Apache-2.0
/** Correctors and thin multipoles. */
#ifndef RM_TWIN_PASS_THIN_H
#define RM_TWIN_PASS_THIN_H

#include "ray.h"

/** A kick spread evenly over a drift. */
static void rm_pass_corrector(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_corrector const *const corrector = step->data;
    RM_EACH_RAY {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_real const kx = corrector->kick[0] + bundle->steer[i][0], ky = corrector->kick[1] + bundle->steer[i][1];
        if (corrector->length_m != 0) {
            rm_real const scaled = corrector->length_m * ray->inverse;
            ray->ct +=
                scaled * ray->inverse *
                ((kx * kx + ky * ky) / 3.0 + ray->px * ray->px + ray->py * ray->py + ray->px * kx + ray->py * ky) * 0.5;
            ray->x += scaled * (ray->px + 0.5 * kx);
            ray->y += scaled * (ray->py + 0.5 * ky);
        }
        ray->px += kx;
        ray->py += ky;
    }
}

static void rm_pass_thin(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_thin const *const thin = step->data;
    RM_EACH_RAY {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_real re = rm_real_of(thin->b[thin->order]), im = rm_real_of(thin->a[thin->order]);
        for (unsigned next = thin->order; next-- > 0;) {
            rm_real const higher = re;
            re = re * ray->x - im * ray->y + thin->b[next];
            im = im * ray->x + higher * ray->y + thin->a[next];
        }
        ray->px -= re + bundle->steer[i][0] - thin->bend * ray->delta;
        ray->py += im + bundle->steer[i][1];
        ray->ct -= thin->bend * ray->x;
    }
}

#endif
