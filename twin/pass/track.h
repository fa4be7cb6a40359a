// SPDX-License-Identifier: Apache-2.0
/** Tracks particles through a plan: the interface of the three instruction sets. */
#ifndef RM_TWIN_PASS_TRACK_H
#define RM_TWIN_PASS_TRACK_H

#include <ringmaster/twin.h>

#include "plan.h"

struct rm_track {
    struct rm_plan const *plan;
    /** Particles at the start; on return, at the end. */
    double (*particles)[RM_COORDINATES];

    uint32_t count;
    uint32_t turns;
    /** The twin's turn number at the start. */
    uint64_t first_turn;
    /** Seed of quantum fluctuation. */
    uint64_t seed;
    /** [turn][refpt][particle][6], or NULL. */
    double *out;
    /** As in struct rm_tracking. */
    uint32_t *lost_turn;

    uint32_t *lost_element;
    double *lost_at;
};

/** Track all particles for all turns. The first runs on any processor; the others need FMA and AVX2, or AVX-512 F and
 * DQ. */
void rm_track_scalar(struct rm_track const *track);
void rm_track_avx2(struct rm_track const *track);
void rm_track_avx512(struct rm_track const *track);

/** Tracks with `simd`, or the best there is. RM_E_ARGUMENT: the processor does not have it. */
enum rm_code rm_track_with(enum rm_simd simd, struct rm_track const *track, struct rm_error *error);

#endif
