// SPDX-License-Identifier: Apache-2.0
/** Which particles are lost: outside an aperture, or beyond 1 in a coordinate other than ct, or not finite; and what
 * becomes of them. */
#ifndef RM_TWIN_PASS_APERTURE_H
#define RM_TWIN_PASS_APERTURE_H

#include "ray.h"

static void rm_pass_rectangle(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const *const limits = step->data;
    for (unsigned i = 0; i < RM_RAYS; ++i) {
        rm_real const x = bundle->ray[i].x, y = bundle->ray[i].y;
        bundle->met[i] |= rm_bits(rm_less(x, rm_real_of(limits[0])) | rm_less(rm_real_of(limits[1]), x) |
                                  rm_less(y, rm_real_of(limits[2])) | rm_less(rm_real_of(limits[3]), y));
    }
}

static void rm_pass_ellipse(struct rm_bundle *bundle, struct rm_track_step const *step) {
    double const *const axes = step->data;
    for (unsigned i = 0; i < RM_RAYS; ++i) {
        rm_real const x = bundle->ray[i].x / axes[0], y = bundle->ray[i].y / axes[1];
        bundle->met[i] |= rm_bits(rm_at_most(rm_real_of(1), x * x + y * y));
    }
}

RM_INLINE void rm_ray_read(struct rm_ray const *ray, unsigned lane, double to[RM_COORDINATES]) {
    rm_real const from[RM_COORDINATES] = {ray->x, ray->px, ray->y, ray->py, ray->delta, ray->ct};
    for (unsigned k = 0; k < RM_COORDINATES; ++k)
        to[k] = rm_lane(from[k], lane);
}

RM_INLINE void rm_ray_write(struct rm_ray *ray, unsigned lane, double const from[RM_COORDINATES]) {
    rm_set_lane(&ray->x, lane, from[0]);
    rm_set_lane(&ray->px, lane, from[1]);
    rm_set_lane(&ray->y, lane, from[2]);
    rm_set_lane(&ray->py, lane, from[3]);
    rm_set_lane(&ray->delta, lane, from[4]);
    rm_set_lane(&ray->ct, lane, from[5]);
    rm_ray_renew(ray);
}

static bool rm_is_beyond(double const at[RM_COORDINATES]) {
    for (unsigned k = 0; k < 5; ++k)
        if (!(fabs(at[k]) <= 1))
            return true;
    return !isfinite(at[5]);
}

/** Checks one particle for loss in element `element`. A lost particle is written down, and becomes NaN. */
static void rm_lose(struct rm_bundle *bundle, unsigned i, unsigned lane, uint32_t element) {
    struct rm_track const *const track = bundle->track;
    uint32_t const particle = rm_particle_of(bundle, i, lane);
    double at[RM_COORDINATES];
    rm_ray_read(&bundle->ray[i], lane, at);
    if ((bundle->met[i] >> lane & 1) == 0 && !rm_is_beyond(at))
        return;
    bundle->lost[i] |= 1u << lane;
    rm_ray_write(&bundle->ray[i], lane, (double[RM_COORDINATES]){NAN, NAN, NAN, NAN, NAN, NAN});
    if (particle >= track->count)
        return;
    if (track->lost_turn != NULL)
        track->lost_turn[particle] = (uint32_t)(track->first_turn + bundle->turn);
    if (track->lost_element != NULL)
        track->lost_element[particle] = element;
    for (unsigned k = 0; track->lost_at != NULL && k < RM_COORDINATES; ++k)
        track->lost_at[RM_COORDINATES * (size_t)particle + k] = at[k];
}

static __attribute__((noinline)) void rm_lose_some(struct rm_bundle *bundle, unsigned i, unsigned which,
                                                   uint32_t element) {
    for (unsigned lane = 0; lane < RM_LANES; ++lane)
        if ((which >> lane & 1) != 0)
            rm_lose(bundle, i, lane, element);
    bundle->met[i] = 0;
}

/** Checks behind an element. A particle within the unit ball of the five coordinates is not lost; the others are
 * looked at. */
RM_INLINE void rm_check(struct rm_bundle *bundle, uint32_t element) {
    RM_EACH_RAY {
        struct rm_ray const *const ray = &bundle->ray[i];
        rm_real const ball = ray->x * ray->x + ray->px * ray->px + ray->y * ray->y + ray->py * ray->py +
                             ray->delta * ray->delta + 0.0 * ray->ct;
        unsigned const good = rm_bits(rm_at_most(ball, rm_real_of(1))) | bundle->lost[i];
        unsigned const suspect = (~good & RM_ALL_LANES) | bundle->met[i];
        if (__builtin_expect(suspect != 0, 0))
            rm_lose_some(bundle, i, suspect & ~bundle->lost[i], element);
    }
}

#endif
