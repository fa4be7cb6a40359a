// SPDX-License-Identifier: Apache-2.0
/** What the response matrices have in common. */
#ifndef RM_OPTICS_RESPONSE_H
#define RM_OPTICS_RESPONSE_H

#include <ringmaster/twin.h>

#include "../twin_parts.h"
#include "closed.h"

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
    /** Elements at whose ends the matrices are wanted, too. */
    uint32_t magnet_count;
    uint32_t const *magnets;
};

/** Where the matrices are wanted: the points, and both ends of each steerer and each magnet. */
struct rm_response_places {
    uint32_t *refpts;
    /** [count of elements + 1] */
    uint32_t *index_of;
    uint32_t count;
};

/** For each steerer: the closed orbit at the start as seen before the kick, and what the kick adds; [6][count]. The
 * last is the RF frequency's (4D: δ's), which adds nothing on the way but what the matrices know. */
struct rm_response_sources {
    double *before, *added;
    uint32_t count;
};

/** Checks the question. RM_E_ARGUMENT names a steerer that is none. */
enum rm_code rm_response_check(struct rm_response_call const *call, struct rm_error *error);

/** Collects the places. RM_E_ARGUMENT: a point beyond the lattice. Call rm_response_places_free whatever it returns. */
enum rm_code rm_response_places_make(struct rm_response_call const *call, struct rm_response_places *places,
                                     struct rm_error *error);
void rm_response_places_free(struct rm_response_places *places);

/** How a kick moves the particle that enters its element at `z`, at the exit, per rad. */
enum rm_code rm_response_push(struct rm_response_call const *call, struct rm_steerer const *steerer, double const z[6],
                              double moved[6], struct rm_error *error);

/** Computes the sources about a closed orbit that knows the places. Call rm_response_sources_free whatever it returns.
 */
enum rm_code rm_response_sources_make(struct rm_response_call const *call, struct rm_response_places const *places,
                                      struct rm_closed const *closed, struct rm_response_sources *sources,
                                      struct rm_error *error);
void rm_response_sources_free(struct rm_response_sources *sources);

/** Computes the analytic matrix. Its orbit is sought from `guess` (NULL: as usual). `orbit`, if not NULL, gets the
 * orbit at the start. */
enum rm_code rm_response_analytic(struct rm_response_call const *call, double const guess[6], double orbit[6],
                                  double *matrix, struct rm_error *error);

/** A magnet whose quadrupole field can differ from its twin's. Its element points into it: it stays where it was begun.
 */
struct rm_magnet_change {
    struct rm_element element;
    double a[RM_POLYNOM_ORDERS], b[RM_POLYNOM_ORDERS];
    double design;
    enum rm_component component;
};

/** Begins as the twin has it. RM_E_ARGUMENT: there is no such element, or it has no quadrupole field. */
enum rm_code rm_magnet_change_begin(struct rm_twin const *twin, uint32_t magnet, enum rm_component component,
                                    struct rm_magnet_change *change, struct rm_error *error);
/** Changes it from the twin's by so much, per m². */
void rm_magnet_change_set(struct rm_magnet_change *change, double by);

#endif
