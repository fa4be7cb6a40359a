// SPDX-License-Identifier: Apache-2.0
/** The closed orbit and all that one turn about it tells. */
#ifndef RM_OPTICS_CLOSED_H
#define RM_OPTICS_CLOSED_H

#include <ringmaster/twin.h>

#include "../tangent/route.h"
#include "../tangent/turn.h"

/** What is asked for. */
struct rm_closed_request {
    /** How the orbit is looked for, or NULL. */
    struct rm_orbit_options const *orbit;
    /** Six coordinates of the orbit, where it is known already; or NULL. */
    double const *at_start;
    /** See rm_route_changes. */
    struct rm_element const *instead;

    uint32_t at;
    uint32_t const *refpts;
    uint32_t refpt_count;
    bool diffusion;
};

struct rm_closed {
    bool is_6d;
    double z[6];
    /** The particle after a turn, and the one-turn matrix. */
    struct rm_tangent turn;
    /** Diffusion of the whole turn, in the coordinates of the start. */
    struct rm_diffusion diffusion;
    /** [refpt_count] orbit and matrix from the start. */
    struct rm_tangent *points;
    /** [refpt_count] diffusion up to the point, if asked for. */
    struct rm_diffusion *scattered;
    /** Derivative, by RF frequency, of the path by which ct grows in a turn, m/Hz. */
    double revolution_slip;

    bool radiates;
};

/** Finds the closed orbit by Newton's method with the exact one-turn matrix; the last turn's matrices are in the
 * result. RM_E_CONFIG: there is no closed orbit, and why. Call rm_closed_free whatever it returns. */
enum rm_code rm_closed_find(struct rm_twin const *twin, struct rm_closed_request const *request,
                            struct rm_closed *closed, struct rm_error *error);
void rm_closed_free(struct rm_closed *closed);

/** Writes the 36 numbers of a tangent's Jacobian. */
void rm_closed_matrix(struct rm_tangent const *tangent, double matrix[36]);

/** The derivative of the closed orbit at the start: by δ (4D: four coordinates, and 1) or by RF frequency (6D).
 * RM_E_CONFIG: an integer tune. */
enum rm_code rm_closed_dispersion(struct rm_closed const *closed, double change[6], struct rm_error *error);

#endif
