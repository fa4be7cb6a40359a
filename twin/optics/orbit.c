// SPDX-License-Identifier: Apache-2.0
/** rm_twin_find_orbit and rm_twin_find_m66. */
#include <string.h>

#include "closed.h"

enum rm_code rm_twin_find_orbit(struct rm_twin const *twin, struct rm_orbit_options const *options, double at_start[6],
                                uint32_t const *refpts, uint32_t refpt_count, double (*orbit)[RM_COORDINATES],
                                struct rm_error *error) {
    struct rm_closed closed;
    struct rm_closed_request const request = {
        .orbit = options, .refpts = refpts, .refpt_count = orbit != NULL ? refpt_count : 0};
    enum rm_code const code = rm_closed_find(twin, &request, &closed, error);
    if (code == RM_OK) {
        if (at_start != NULL)
            memcpy(at_start, closed.z, sizeof closed.z);
        for (uint32_t i = 0; i < request.refpt_count; ++i)
            memcpy(orbit[i], closed.points[i].z, sizeof orbit[i]);
    }
    rm_closed_free(&closed);
    return code;
}

enum rm_code rm_twin_find_m66(struct rm_twin const *twin, struct rm_orbit_options const *options,
                              double const at_start[6], double m66[36], uint32_t const *refpts, uint32_t refpt_count,
                              double (*matrices)[36], struct rm_error *error) {
    struct rm_closed closed;
    struct rm_closed_request const request = {
        .orbit = options, .at_start = at_start, .refpts = refpts, .refpt_count = matrices != NULL ? refpt_count : 0};
    enum rm_code const code = rm_closed_find(twin, &request, &closed, error);
    if (code == RM_OK) {
        rm_closed_matrix(&closed.turn, m66);
        for (uint32_t i = 0; i < request.refpt_count; ++i)
            rm_closed_matrix(&closed.points[i], matrices[i]);
    }
    rm_closed_free(&closed);
    return code;
}
