// SPDX-License-Identifier: Apache-2.0
/** Particles as the kernels see them: a ray is RM_LANES particles, a bundle RM_RAYS rays that go through each element
 * together, so that the long chains of one ray's arithmetic fill the gaps of the others'. RM_RAYS is what was measured
 * to be fastest for an instruction set (docs/twin.md).
 */
#ifndef RM_TWIN_PASS_RAY_H
#define RM_TWIN_PASS_RAY_H

#include "lanes.h"
#include "plan.h"
#include "track.h"

/** All rays of a bundle, unrolled. */
#define RM_EACH_RAY _Pragma("GCC unroll 8") for (unsigned i = 0; i < RM_RAYS; ++i)

struct rm_ray {
    rm_real x, px, y, py, delta, ct;
    /** 1 / (1 + δ): code that changes δ changes it too. */
    rm_real inverse;
};

struct rm_bundle {
    struct rm_ray ray[RM_RAYS];
    /** Changes of an element's kick, for steps that have such (plan.h). */
    rm_real steer[RM_RAYS][2];

    struct rm_track const *track;
    /** Bit per lane: it has met an aperture in this element. */
    unsigned met[RM_RAYS];
    /** Bit per lane: it was lost before; its coordinates are NaN. */
    unsigned lost[RM_RAYS];
    /** Number of the particle in the first lane. */
    uint32_t first;
    /** Turn of this call. */
    uint32_t turn;
};

/** Call it after a change of δ. */
RM_INLINE void rm_ray_renew(struct rm_ray *ray) { ray->inverse = 1.0 / (1.0 + ray->delta); }

/** Particle in a lane; it exists if it is below the track's count. */
RM_INLINE uint32_t rm_particle_of(struct rm_bundle const *bundle, unsigned ray, unsigned lane) {
    return bundle->first + ray * RM_LANES + lane;
}

#endif
