// SPDX-License-Identifier: Apache-2.0
/** A dipole that is straight: rotation into its straight frame, exact drifts and kicks of the whole field, and back. */
#ifndef RM_TWIN_PASS_BEND_STRAIGHT_H
#define RM_TWIN_PASS_BEND_STRAIGHT_H

#include "drift.h"
#include "edge.h"

/** Moves the particle onto a face turned by an angle: where its line meets the face, and its slopes there. `x` is its
 * place relative to the pivot. */
RM_INLINE void rm_ray_turn(struct rm_ray *ray, double angle, rm_real x) {
    double const s = sin(angle), c = cos(angle);
    rm_real const inverse_ps = 1.0 / rm_ray_ps(ray);
    rm_real const xs = ray->px * inverse_ps, ys = ray->py * inverse_ps;
    rm_real const scale = 1.0 / (c - xs * s);
    rm_real const to_x = (s + xs * c) * scale, to_y = ys * scale;
    ray->y += to_y * x * s;
    ray->ct += x * s * scale * rm_sqrt(1.0 + xs * xs + ys * ys);
    rm_real const momentum = (1.0 + ray->delta) / rm_sqrt(1.0 + to_x * to_x + to_y * to_y);
    ray->px = to_x * momentum;
    ray->py = to_y * momentum;
    ray->x = x * scale;
}

RM_INLINE void rm_straight_kick(struct rm_ray *ray, struct rm_straight_bend const *bend, unsigned which) {
    rm_real re = rm_real_of(bend->b[bend->order]), im = rm_real_of(bend->a[bend->order]);
    for (unsigned next = bend->order; next-- > 0;) {
        rm_real const higher = re;
        re = re * ray->x - im * ray->y + bend->b[next];
        im = im * ray->x + higher * ray->y + bend->a[next];
    }
    ray->px -= bend->kick[which] * re;
    ray->py += bend->kick[which] * im;
}

static void rm_pass_straight_bend(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_straight_bend const *const bend = step->data;
    RM_EACH_RAY {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_ray_edge_fringe(ray, &bend->entrance);
        rm_ray_turn(ray, bend->entrance_angle, ray->x);
        ray->x += bend->x_m;
    }
    for (uint32_t slice = 0; slice < bend->steps; ++slice)
        RM_EACH_RAY {
            struct rm_ray *const ray = &bundle->ray[i];
            rm_ray_exact_drift(ray, bend->drift[0]);
            rm_straight_kick(ray, bend, 0);
            rm_ray_exact_drift(ray, bend->drift[1]);
            rm_straight_kick(ray, bend, 1);
            rm_ray_exact_drift(ray, bend->drift[1]);
            rm_straight_kick(ray, bend, 0);
            rm_ray_exact_drift(ray, bend->drift[0]);
        }
    RM_EACH_RAY {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_ray_turn(ray, bend->exit_angle, ray->x - bend->x_m);
        ray->ct -= bend->ct_m;
        rm_ray_edge_fringe(ray, &bend->exit);
    }
}

#endif
