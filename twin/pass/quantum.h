// SPDX-License-Identifier: Apache-2.0
/** Magnets with the photons of synchrotron radiation one by one, after AT's QuantPass: behind each slice of the magnet
 * without radiation, photons of a Poisson number and of energies from the spectrum, for the radius of curvature that
 * the particle had in the slice. Slopes stay.
 */
#ifndef RM_TWIN_PASS_QUANTUM_H
#define RM_TWIN_PASS_QUANTUM_H

#include "aperture.h"
#include "multipole.h"
#include "random.h"

/** Energy that photons take in one slice, over the reference particle's. `turned` is the angle by which the particle
 * turned on `path_m`, `gamma` is its own, `reference` the reference particle's. */
static double rm_photons(struct rm_random *random, double turned, double path_m, double gamma, double reference) {
    double const fine_structure = 7.2973525643e-3;
    double const compton_m = 3.8615926744e-13; /* ħ / m c, CODATA 2022 */
    if (!(turned > 0) || !(path_m > 0) || !isfinite(turned))
        return 0;
    uint32_t const count = rm_random_poisson(random, 2.5 / sqrt(3) * fine_structure * gamma * turned);
    double const critical = 1.5 * gamma * gamma * gamma * compton_m * turned / path_m / reference;
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += rm_random_photon(random);
    return sum * critical;
}

/** Emits the photons of one slice; `before` is the ray in front of it. */
static void rm_emit(struct rm_bundle *bundle, unsigned i, struct rm_ray const *before, struct rm_track_step const *step,
                    uint32_t slice) {
    struct rm_magnet const *const magnet = step->data;
    struct rm_track const *const track = bundle->track;
    struct rm_ray *const ray = &bundle->ray[i];
    rm_real const dx = (ray->px - before->px) * ray->inverse - magnet->curvature * magnet->slice_m;
    rm_real const dy = (ray->py - before->py) * ray->inverse;
    rm_real const turned = rm_sqrt(dx * dx + dy * dy), path = magnet->slice_m + ray->ct - before->ct;
    rm_real const energy = 1.0 + ray->delta;
    rm_real loss = rm_real_of(0);
    for (unsigned lane = 0; lane < RM_LANES; ++lane) {
        struct rm_random random = rm_random_at(track->seed, track->first_turn + bundle->turn, step->element, slice,
                                               rm_particle_of(bundle, i, lane));
        rm_set_lane(&loss, lane,
                    rm_photons(&random, rm_lane(turned, lane), rm_lane(path, lane),
                               magnet->gamma * rm_lane(energy, lane), magnet->gamma));
    }
    rm_real const left = (energy - loss) * ray->inverse;
    ray->delta -= loss;
    ray->px *= left;
    ray->py *= left;
    rm_ray_renew(ray);
}

static void rm_pass_magnet_quantum(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_magnet const *const magnet = step->data;
    bool const curved = magnet->curvature != 0;
    for (uint32_t slice = 0; slice < magnet->steps; ++slice) {
        struct rm_ray before[RM_RAYS];
        struct rm_way way[RM_RAYS];
        RM_EACH_RAY {
            before[i] = bundle->ray[i];
            rm_way_enter(&way[i], &bundle->ray[i], magnet, bundle->steer[i]);
        }
        rm_way_slices(way, magnet, 1, magnet->order, false, curved);
        for (unsigned i = 0; i < RM_RAYS; ++i) {
            rm_way_leave(&way[i], &bundle->ray[i], magnet, curved);
            rm_emit(bundle, i, &before[i], step, slice);
        }
    }
}

#endif
