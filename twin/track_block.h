// SPDX-License-Identifier: Apache-2.0
/** Many particles once around the ring, each with a steerer of its own: what tracked response matrices are made of. */
#ifndef RM_TWIN_TRACK_BLOCK_H
#define RM_TWIN_TRACK_BLOCK_H

#include <ringmaster/twin.h>

/** For `particle`, the kick angles of `element` are changed by this. */
struct rm_particle_kick {
    uint32_t element;
    uint32_t particle;
    /** Horizontal and vertical. */
    double kick_rad[2];
};

/** Tracks `count` particles one turn, particles[i][6] in and out, at the twin's turn, which stays as it is. `kicks` are
 * sorted by element, and there by particle; NULL for none. An element that takes kicks is a corrector, a thin
 * multipole, or integrated by the passes of StrMPole and BndMPole. out[refpt][particle][6] at the points, or NULL. A
 * lost particle is NaN. RM_E_ARGUMENT as rm_twin_track, and for an element that takes no kick. */
enum rm_code rm_track_once(struct rm_twin const *twin, double (*particles)[RM_COORDINATES], uint32_t count,
                           struct rm_particle_kick const *kicks, uint32_t kick_count, uint32_t const *refpts,
                           uint32_t refpt_count, double *out, enum rm_simd simd, struct rm_error *error);

#endif
