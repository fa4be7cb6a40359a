// SPDX-License-Identifier: Apache-2.0
/** What the response matrices have in common. */
#ifndef RM_OPTICS_RESPONSE_H
#define RM_OPTICS_RESPONSE_H

#include <ringmaster/twin.h>

/** A question about the orbit, as rm_twin_response takes it. */
struct rm_response_call {
    struct rm_twin const *twin;
    /** What the caller asked for; not NULL. */
    struct rm_response_options const *options;

    uint32_t const *refpts;
    uint32_t refpt_count;
    struct rm_steerer const *steerers;
    uint32_t steerer_count;
    /** Takes the place of element `at`; or NULL. */
    struct rm_element const *instead;

    uint32_t at;
};

/** Checks the question. RM_E_ARGUMENT names a steerer that is none. */
enum rm_code rm_response_check(struct rm_response_call const *call, struct rm_error *error);

/** Computes the analytic matrix. Its orbit is sought from `guess` (NULL: as usual). `orbit`, if not NULL, gets the
 * orbit at the start. */
enum rm_code rm_response_analytic(struct rm_response_call const *call, double const guess[6], double orbit[6],
                                  double *matrix, struct rm_error *error);

#endif
