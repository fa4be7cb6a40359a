// SPDX-License-Identifier: Apache-2.0
/** A cavity: one kick of δ in the middle of a drift. */
#ifndef RM_TWIN_PASS_CAVITY_H
#define RM_TWIN_PASS_CAVITY_H

#include "drift.h"

static void rm_pass_cavity(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_cavity const *const cavity = step->data;
    double const speed_of_light = 299792458.0;
    double const slip = cavity->slip_s * (double)(bundle->track->first_turn + bundle->turn);
    for (unsigned i = 0; i < RM_RAYS; ++i) {
        struct rm_ray *const ray = &bundle->ray[i];
        rm_ray_drift(ray, cavity->half_m);
        rm_real const time = (ray->ct - cavity->lag_m) / speed_of_light - slip;
        ray->delta -= cavity->voltage * rm_each(sin, cavity->omega * time - cavity->phase_rad);
        rm_ray_renew(ray);
        rm_ray_drift(ray, cavity->half_m);
    }
}

#endif
