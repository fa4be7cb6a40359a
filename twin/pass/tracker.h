// SPDX-License-Identifier: Apache-2.0
/** Takes bundles of particles through the steps of a plan. Included by the file of each instruction set, which has
 * defined RM_LANES, RM_RAYS and RM_TRACK, the name of the function that results. */
#ifndef RM_TWIN_PASS_TRACKER_H
#define RM_TWIN_PASS_TRACKER_H

#include <string.h>

#include "aperture.h"
#include "bend_e2.h"
#include "bend_straight.h"
#include "cavity.h"
#include "drift.h"
#include "edge.h"
#include "fringe.h"
#include "linear.h"
#include "matrix.h"
#include "multipole.h"
#include "quantum.h"
#include "radiation.h"
#include "solenoid.h"
#include "thin.h"
#include "wiggler.h"

static void rm_pass_nothing(struct rm_bundle *bundle, struct rm_track_step const *step) { (void)bundle, (void)step; }

/** Writes down where the particles are. */
static void rm_pass_observe(struct rm_bundle *bundle, struct rm_track_step const *step) {
    struct rm_track const *const track = bundle->track;
    size_t const row = (size_t)bundle->turn * track->plan->refpt_count + step->element;
    double *const out = track->out + row * track->count * RM_COORDINATES;
    for (unsigned i = 0; i < RM_RAYS; ++i)
        for (unsigned lane = 0; lane < RM_LANES; ++lane) {
            uint32_t const particle = rm_particle_of(bundle, i, lane);
            if (particle < track->count)
                rm_ray_read(&bundle->ray[i], lane, out + RM_COORDINATES * (size_t)particle);
        }
}

typedef void rm_pass_of_step(struct rm_bundle *bundle, struct rm_track_step const *step);

static rm_pass_of_step *const rm_passes[RM_STEPS] = {
    [RM_STEP_NOTHING] = rm_pass_nothing,
    [RM_STEP_OBSERVE] = rm_pass_observe,
    [RM_STEP_SHIFT] = rm_pass_shift,
    [RM_STEP_MATRIX] = rm_pass_matrix,
    [RM_STEP_RECTANGLE] = rm_pass_rectangle,
    [RM_STEP_ELLIPSE] = rm_pass_ellipse,
    [RM_STEP_DRIFT] = rm_pass_drift,
    [RM_STEP_EXACT_DRIFT] = rm_pass_exact_drift,
    [RM_STEP_EDGE] = rm_pass_edge,
    [RM_STEP_EDGE_FRINGE] = rm_pass_edge_fringe,
    [RM_STEP_QUAD_FRINGE] = rm_pass_quad_fringe,
    [RM_STEP_BLOCKS] = rm_pass_blocks,
    [RM_STEP_MAGNET] = rm_pass_magnet,
    [RM_STEP_MAGNET_RADIATING] = rm_pass_magnet_radiating,
    [RM_STEP_MAGNET_QUANTUM] = rm_pass_magnet_quantum,
    [RM_STEP_E2_EDGE] = rm_pass_e2_edge,
    [RM_STEP_E2] = rm_pass_e2,
    [RM_STEP_STRAIGHT_BEND] = rm_pass_straight_bend,
    [RM_STEP_QUAD_LINEAR] = rm_pass_quad_linear,
    [RM_STEP_BEND_LINEAR] = rm_pass_bend_linear,
    [RM_STEP_CORRECTOR] = rm_pass_corrector,
    [RM_STEP_THIN] = rm_pass_thin,
    [RM_STEP_CAVITY] = rm_pass_cavity,
    [RM_STEP_SOLENOID] = rm_pass_solenoid,
    [RM_STEP_WIGGLER] = rm_pass_wiggler,
};

/** First steer of a particle that is not before `particle`. */
static struct rm_pass_steer const *rm_first_steer(struct rm_track_step const *step, uint32_t particle) {
    uint32_t low = 0, high = step->steer_count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (step->steers[middle].particle < particle)
            low = middle + 1;
        else
            high = middle;
    }
    return step->steers + low;
}

/** With `sign` 1 the steers of this step are put into their lanes; with 0 they are cleared. */
static void rm_steer_lanes(struct rm_bundle *bundle, struct rm_track_step const *step, double sign) {
    struct rm_pass_steer const *const end = step->steers + step->steer_count;
    uint32_t const beyond = bundle->first + RM_RAYS * RM_LANES;
    for (struct rm_pass_steer const *steer = rm_first_steer(step, bundle->first);
         steer < end && steer->particle < beyond; ++steer) {
        uint32_t const place = steer->particle - bundle->first;
        for (unsigned plane = 0; plane < 2; ++plane)
            rm_set_lane(&bundle->steer[place / RM_LANES][plane], place % RM_LANES, sign * steer->by[plane]);
    }
}

static void rm_run(struct rm_bundle *bundle, struct rm_track_step const *step) {
    if (__builtin_expect(step->steer_count != 0, 0))
        rm_steer_lanes(bundle, step, 1);
    rm_passes[step->kind](bundle, step);
    if (__builtin_expect(step->steer_count != 0, 0))
        rm_steer_lanes(bundle, step, 0);
    if (step->last)
        rm_check(bundle, step->element);
}

/** Loads particles. Empty lanes get a particle at rest on the axis. */
static void rm_load(struct rm_bundle *bundle) {
    struct rm_track const *const track = bundle->track;
    double const axis[RM_COORDINATES] = {0};
    for (unsigned i = 0; i < RM_RAYS; ++i)
        for (unsigned lane = 0; lane < RM_LANES; ++lane) {
            uint32_t const particle = rm_particle_of(bundle, i, lane);
            rm_ray_write(&bundle->ray[i], lane, particle < track->count ? track->particles[particle] : axis);
        }
}

static void rm_store(struct rm_bundle const *bundle) {
    struct rm_track const *const track = bundle->track;
    for (unsigned i = 0; i < RM_RAYS; ++i)
        for (unsigned lane = 0; lane < RM_LANES; ++lane) {
            uint32_t const particle = rm_particle_of(bundle, i, lane);
            if (particle < track->count)
                rm_ray_read(&bundle->ray[i], lane, track->particles[particle]);
        }
}

void RM_TRACK(struct rm_track const *track) {
    for (uint32_t first = 0; first < track->count; first += RM_RAYS * RM_LANES) {
        struct rm_bundle bundle;
        memset(&bundle, 0, sizeof bundle);
        bundle.track = track;
        bundle.first = first;
        rm_load(&bundle);
        for (; bundle.turn < track->turns; ++bundle.turn)
            for (uint32_t s = 0; s < track->plan->count; ++s)
                rm_run(&bundle, &track->plan->steps[s]);
        rm_store(&bundle);
    }
}

#endif
