// SPDX-License-Identifier: Apache-2.0
/** Tracking, as its callers know it. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "pass/track.h"
#include "track_block.h"
#include "twin_parts.h"

enum rm_code rm_track_with(enum rm_simd simd, struct rm_track const *track, struct rm_error *error) {
    /* One particle goes faster alone than in a bundle of empty lanes. */
    bool const alone = simd == RM_SIMD_BEST && track->count <= 1;
    enum rm_simd const chosen = alone ? RM_SIMD_SCALAR : rm_simd_choose(simd);
    if (simd > rm_simd_best())
        return rm_fail(error, RM_E_ARGUMENT, "this processor has no %s; ask for RM_SIMD_BEST", rm_simd_name(simd));
    if (chosen == RM_SIMD_AVX512)
        rm_track_avx512(track);
    else if (chosen == RM_SIMD_AVX2)
        rm_track_avx2(track);
    else
        rm_track_scalar(track);
    return RM_OK;
}

enum rm_code rm_twin_track(struct rm_twin *twin, double (*particles)[RM_COORDINATES], uint32_t count,
                           struct rm_tracking const *tracking, struct rm_error *error) {
    bool const looks = tracking->out != NULL && tracking->refpts != NULL;
    struct rm_plan plan;
    enum rm_code code = rm_track_plan_make(twin, looks ? tracking->refpts : NULL, looks ? tracking->refpt_count : 0,
                                           NULL, 0, &plan, error);
    if (code != RM_OK)
        return code;
    for (uint32_t i = 0; i < count; ++i) {
        if (tracking->lost_turn != NULL)
            tracking->lost_turn[i] = UINT32_MAX;
        if (tracking->lost_element != NULL)
            tracking->lost_element[i] = UINT32_MAX;
    }
    if (tracking->lost_at != NULL)
        memset(tracking->lost_at, 0, count * sizeof(double[RM_COORDINATES]));
    struct rm_track const track = {
        .plan = &plan,
        .particles = particles,
        .count = count,
        .turns = tracking->turns,
        .first_turn = twin->turn,
        .seed = twin->seed,
        .out = tracking->out,
        .lost_turn = tracking->lost_turn,
        .lost_element = tracking->lost_element,
        .lost_at = tracking->lost_at,
    };
    code = rm_track_with(tracking->simd, &track, error);
    rm_track_plan_free(&plan);
    if (code == RM_OK)
        twin->turn += tracking->turns;
    return code;
}

enum rm_code rm_track_once(struct rm_twin const *twin, double (*particles)[RM_COORDINATES], uint32_t count,
                           struct rm_particle_kick const *kicks, uint32_t kick_count, uint32_t const *refpts,
                           uint32_t refpt_count, double *out, enum rm_simd simd, struct rm_error *error) {
    struct rm_plan plan;
    enum rm_code code =
        rm_track_plan_make(twin, refpts, out != NULL ? refpt_count : 0, kicks, kick_count, &plan, error);
    if (code != RM_OK)
        return code;
    struct rm_track track = {
        .plan = &plan,
        .particles = particles,
        .count = count,
        .turns = 1,
        .first_turn = twin->turn,
        .seed = twin->seed,
    };
    track.out = out;
    code = rm_track_with(simd, &track, error);
    rm_track_plan_free(&plan);
    return code;
}
