// SPDX-License-Identifier: Apache-2.0
/** One particle after the other, by the tangent map. */
#include "optics/kicked.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tangent/turn.h"

static enum rm_code one(struct rm_twin const *twin, double rf_offset_hz, double particle[6],
                        struct rm_kick const *kick, uint32_t const *refpts, uint32_t refpt_count,
                        struct rm_turn_points const *points, struct rm_error *error) {
    struct rm_element changed = twin->elements[kick->element];
    struct rm_plan_changes const changes = {rf_offset_hz, &changed, kick->element};
    struct rm_tangent t;
    struct rm_plan plan;
    changed.kick_angle_rad[0] += kick->kick_rad[0];
    changed.kick_angle_rad[1] += kick->kick_rad[1];
    enum rm_code const code = rm_plan_make(twin, &changes, refpts, refpt_count, &plan, error);
    if (code != RM_OK)
        return code;
    rm_tangent_begin(&t, particle);
    rm_turn(&plan, &t, NULL, points, RM_SIMD_BEST);
    memcpy(particle, t.z, sizeof t.z);
    rm_plan_free(&plan);
    return RM_OK;
}

enum rm_code rm_kicked_turn(struct rm_twin const *twin, double rf_offset_hz, double (*particles)[6],
                            struct rm_kick const *kicks, uint32_t count, uint32_t const *refpts, uint32_t refpt_count,
                            double *out, struct rm_error *error) {
    struct rm_tangent *const seen = aligned_alloc(64, (refpt_count != 0 ? refpt_count : 1) * sizeof *seen);
    struct rm_turn_points const points = {.tangent = seen};
    enum rm_code code =
        seen != NULL ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for orbits at %u points", refpt_count);
    for (uint32_t p = 0; p < count && code == RM_OK; ++p) {
        code = one(twin, rf_offset_hz, particles[p], &kicks[p], refpts, refpt_count, &points, error);
        for (uint32_t i = 0; code == RM_OK && i < refpt_count; ++i) {
            out[2 * ((size_t)i * count + p)] = seen[i].z[RM_X];
            out[2 * ((size_t)i * count + p) + 1] = seen[i].z[RM_Y];
        }
    }
    free(seen);
    return code;
}
