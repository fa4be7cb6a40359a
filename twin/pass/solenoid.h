// SPDX-License-Identifier: Apache-2.0
/** A solenoid of constant field with hard edges, linear at the particle's energy. */
#ifndef RM_TWIN_PASS_SOLENOID_H
#define RM_TWIN_PASS_SOLENOID_H

#include "ray.h"

static void rm_pass_solenoid(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_solenoid const *const solenoid = step->data;
    double const length = solenoid->length_m;
    for (unsigned i = 0; i < RM_RAYS; ++i) {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_real const energy = 1.0 + ray->delta;
        rm_real const h = 0.5 * solenoid->strength * ray->inverse;
        rm_real const s = rm_each(sin, length * h), c = rm_each(cos, length * h);
        rm_real const x = ray->x, xp = ray->px * ray->inverse, y = ray->y, yp = ray->py * ray->inverse;
        /* Turned by the Larmor angle, and focused alike in both planes. */
        rm_real const u = x * c + y * s, up = xp * c + yp * s;
        rm_real const v = y * c - x * s, vp = yp * c - xp * s;
        ray->x = u * c + up * s / h;
        ray->px = (up * c - u * h * s) * energy;
        ray->y = v * c + vp * s / h;
        ray->py = (vp * c - v * h * s) * energy;
        ray->ct += 0.5 * length * (h * h * (x * x + y * y) + 2.0 * h * (xp * y - yp * x) + xp * xp + yp * yp);
    }
}

#endif
