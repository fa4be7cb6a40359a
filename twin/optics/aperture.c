// SPDX-License-Identifier: Apache-2.0
#include "aperture.h"

#include <string.h>

#include "../pass/track.h"
#include "../twin_parts.h"
#include "base/fail.h"

static bool has_aperture(struct rm_twin const *twin) {
    for (uint32_t i = 0; i < twin->count; ++i)
        if (twin->elements[i].rectangle_aperture != NULL || twin->elements[i].elliptic_aperture != NULL)
            return true;
    return false;
}

enum rm_code rm_orbit_check(struct rm_twin const *twin, double const z[6], struct rm_error *error) {
    if (!has_aperture(twin))
        return RM_OK;
    struct rm_plan plan;
    enum rm_code const code = rm_track_plan_make(twin, NULL, 0, NULL, 0, &plan, error);
    if (code != RM_OK)
        return code;
    double particle[1][RM_COORDINATES];
    uint32_t lost_turn = UINT32_MAX;
    uint32_t at = 0;
    memcpy(particle[0], z, sizeof particle[0]);
    rm_track_scalar(&(struct rm_track){.plan = &plan,
                                       .particles = particle,
                                       .count = 1,
                                       .turns = 1,
                                       .first_turn = twin->turn,
                                       .seed = twin->seed,
                                       .lost_turn = &lost_turn,
                                       .lost_element = &at});
    rm_track_plan_free(&plan);
    if (lost_turn == UINT32_MAX)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "the closed orbit is lost at element %u (%s), outside its aperture; widen it, or reduce the orbit",
                   at, at < twin->count ? twin->elements[at].name : "end");
}
