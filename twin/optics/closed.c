// SPDX-License-Identifier: Apache-2.0
#include "closed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "aperture.h"
#include "base/fail.h"
#include "base/zeroed.h"
#include "small.h"
#include "synchronous.h"

enum { USUAL_ITERATIONS = 20 };
static double const usual_tolerance = 1e-12;
static double const near_enough_to_look = 1e-6; /* the step after one of this size may be the last */
static double const rounding_floor = 1e-9;      /* below, steps that no longer shrink are rounding */
static double const edge_of_the_world = 1;      /* m and 1, as in tracking */

static double const near_enough_for_whole_turns = 1e-5; /* about as far as one slice each is off */

static void clear_of_orbit(struct rm_tangent *points, uint32_t count, double const step[6]) {
    for (uint32_t p = 0; p < count; ++p)
        for (int i = 0; i < 6; ++i)
            for (int k = 0; k < 6; ++k)
                points[p].z[i] += points[p].j[i][k] * step[k];
}

/** Names the element where a particle that begins at `z` leaves. */
static enum rm_code closed_orbit_lost(struct rm_route const *route, double const z[6], struct rm_error *error) {
    struct rm_tangent t;
    rm_tangent_begin(&t, z);
    struct rm_route one = *route;
    uint32_t at = 0;
    for (uint32_t i = 0; i < route->count; ++i) {
        one.legs = &route->legs[i];
        one.count = 1;
        rm_turn(&one, &t, NULL, NULL, RM_SIMD_BEST);
        at = route->legs[i].element;
        for (int k = 0; k < 5; ++k)
            if (!(fabs(t.z[k]) < edge_of_the_world))
                i = route->count - 1;
    }
    struct rm_twin const *const twin = route->twin;
    return rm_fail(error, RM_E_CONFIG,
                   "no closed orbit: the search leaves the ring at element %u (%s); begin nearer or reduce errors", at,
                   at < twin->count ? twin->elements[at].name : "end");
}

static bool is_inside(double const z[6]) {
    for (int i = 0; i < 5; ++i)
        if (!(fabs(z[i]) < edge_of_the_world))
            return false;
    return isfinite(z[5]);
}

/** The plane, or planes, in which 1 is an eigenvalue. */
static enum rm_code integer_tune(struct rm_tangent const *turn, int n, struct rm_error *error) {
    static char const *const plane[] = {"horizontal", "vertical", "longitudinal"};
    int worst = 0;
    double least = INFINITY;
    for (int p = 0; p < n / 2; ++p) {
        double const trace = turn->j[2 * p][2 * p] + turn->j[2 * p + 1][2 * p + 1];
        if (fabs(2 - trace) < least) {
            least = fabs(2 - trace);
            worst = p;
        }
    }
    return rm_fail(error, RM_E_CONFIG, "no closed orbit: the %s tune is an integer; change the strengths",
                   plane[worst]);
}

static bool factor_closing(struct rm_tangent const *turn, int n, struct rm_small_lu *lu) {
    double a[36];
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            a[6 * i + k] = turn->j[i][k] - (i == k ? 1 : 0);
    return rm_small_factor(lu, a, n, 6);
}

struct orbit_search {
    struct rm_route route;
    struct rm_turn_points points;
    double path_m; /**< 6D: by how much ct grows in a turn in step with the RF */
    double tolerance;
    uint32_t most;
    /** Begins at a guess: the first turn may be the last. With diffusion it is not: that costs half a turn more, which
     * is lost where something has moved. */
    bool near;
};

/** One turn from where the search is. */
static enum rm_code closed_track_turn(struct orbit_search const *search, bool look, bool diffusion,
                                      struct rm_closed *closed, struct rm_error *error) {
    memset(&closed->diffusion, 0, sizeof closed->diffusion);
    rm_tangent_begin(&closed->turn, closed->z);
    rm_turn(&search->route, &closed->turn, look && diffusion ? &closed->diffusion : NULL, look ? &search->points : NULL,
            RM_SIMD_BEST);
    return is_inside(closed->turn.z) ? RM_OK : closed_orbit_lost(&search->route, closed->z, error);
}

/** Newton's step from the turn; `change` is its largest coordinate. */
static enum rm_code closed_approach(struct orbit_search const *search, struct rm_closed *closed, double step[6],
                                    double *change, struct rm_error *error) {
    int const n = closed->is_6d ? 6 : 4;
    struct rm_small_lu lu;
    if (!factor_closing(&closed->turn, n, &lu))
        return integer_tune(&closed->turn, n, error);
    for (int k = 0; k < 6; ++k)
        step[k] = k < n ? closed->z[k] - closed->turn.z[k] + (k == RM_CT ? search->path_m : 0) : 0;
    rm_small_solve(&lu, step);
    *change = 0;
    for (int k = 0; k < n; ++k) {
        *change = fmax(*change, fabs(step[k]));
        closed->z[k] += step[k];
    }
    return is_inside(closed->z) ? RM_OK : closed_orbit_lost(&search->route, closed->z, error);
}

/** As far as magnets of one slice each lead, which is to some 1e-6: then three whole turns are left where there were
 * four (Elettra 2.0: 2.6 ms for 3.6). */
static enum rm_code begin_coarsely(struct orbit_search *search, struct rm_closed *closed, struct rm_error *error) {
    double step[6], change = INFINITY;
    enum rm_code code = RM_OK;
    search->route.coarse = true;
    for (uint32_t i = 0; i < search->most && code == RM_OK && change > near_enough_for_whole_turns; ++i) {
        code = closed_track_turn(search, false, false, closed, error);
        if (code == RM_OK)
            code = closed_approach(search, closed, step, &change, error);
    }
    search->route.coarse = false;
    return code;
}

/** The last turn has looked at the points. */
static enum rm_code closed_iterate(struct orbit_search const *search, struct rm_closed_request const *request,
                                   struct rm_closed *closed, struct rm_error *error) {
    double change = INFINITY;
    for (uint32_t i = 0; i < search->most; ++i) {
        bool const look = change < near_enough_to_look || (i == 0 && search->near && !request->diffusion);
        double const before = change;
        double step[6];
        enum rm_code code = closed_track_turn(search, look, request->diffusion, closed, error);
        if (code == RM_OK)
            code = closed_approach(search, closed, step, &change, error);
        if (code != RM_OK)
            return code;
        bool const at_floor = change < rounding_floor && change >= before / 4;
        if (look && (change <= search->tolerance || at_floor)) {
            clear_of_orbit(search->points.tangent, request->refpt_count, step);
            return RM_OK;
        }
    }
    return rm_fail(error, RM_E_CONFIG,
                   "no closed orbit after %u iterations, whose last step was %.1e; begin nearer or reduce errors",
                   search->most, change);
}

/** Where few slices lead astray, the search begins anew without them. A guess is nearer than they lead: whole turns
 * follow it at once. */
static enum rm_code closed_find_orbit(struct orbit_search *search, struct rm_closed_request const *request,
                                      struct rm_closed *closed, struct rm_error *error) {
    struct rm_closed const given = *closed;
    if (request->at_start != NULL)
        return closed_track_turn(search, true, request->diffusion, closed, error);
    search->near = request->orbit != NULL && request->orbit->guess != NULL;
    if (search->near) {
        if (closed_iterate(search, request, closed, error) == RM_OK)
            return RM_OK;
        *closed = given;
        search->near = false;
    }
    if (begin_coarsely(search, closed, error) == RM_OK && closed_iterate(search, request, closed, error) == RM_OK)
        return RM_OK;
    *closed = given;
    return closed_iterate(search, request, closed, error);
}

static enum rm_code make_closed_room(struct rm_closed_request const *request, struct rm_closed *closed,
                                     struct rm_error *error) {
    size_t const count = request->refpt_count;
    if (count == 0)
        return RM_OK;
    closed->points = rm_zeroed(count, sizeof *closed->points);
    if (request->diffusion)
        closed->scattered = rm_zeroed(count, sizeof *closed->scattered);
    if (closed->points == NULL || (request->diffusion && closed->scattered == NULL))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for optics at %u points; ask for fewer", request->refpt_count);
    return RM_OK;
}

static enum rm_code closed_begin_search(struct orbit_search *search, struct rm_closed_request const *request,
                                        struct rm_closed *closed, struct rm_error *error) {
    struct rm_orbit_options const *const options = request->orbit;
    double const *const given = request->at_start != NULL ? request->at_start : options != NULL ? options->guess : NULL;
    closed->is_6d = search->route.cavity;
    closed->radiates = search->route.radiates;
    if (closed->is_6d) {
        enum rm_code const code = rm_synchronous(&search->route, &search->path_m, &closed->revolution_slip,
                                                 given != NULL ? NULL : closed->z, error);
        if (code != RM_OK)
            return code;
    }
    if (given != NULL)
        memcpy(closed->z, given, sizeof closed->z);
    if (!closed->is_6d && request->at_start == NULL)
        closed->z[RM_DELTA] = options != NULL ? options->dp : 0;
    if (!is_inside(closed->z))
        return rm_fail(error, RM_E_ARGUMENT, "the orbit to begin with is not finite or is beyond 1 m; give another");
    return RM_OK;
}

enum rm_code rm_closed_find(struct rm_twin const *twin, struct rm_closed_request const *request,
                            struct rm_closed *closed, struct rm_error *error) {
    struct rm_orbit_options const *const options = request->orbit;
    struct rm_route_changes const changes = {
        .rf_offset_hz = options != NULL ? options->rf_offset_hz : 0, .instead = request->instead, .at = request->at};
    struct orbit_search search = {.tolerance = usual_tolerance, .most = USUAL_ITERATIONS};
    if (options != NULL && options->tolerance != 0)
        search.tolerance = options->tolerance;
    if (options != NULL && options->most_iterations != 0)
        search.most = options->most_iterations;
    memset(closed, 0, sizeof *closed);
    enum rm_code code = rm_route_make(twin, &changes, request->refpts, request->refpt_count, &search.route, error);
    if (code != RM_OK)
        return code;
    code = make_closed_room(request, closed, error);
    search.points = (struct rm_turn_points){closed->points, closed->scattered};
    if (code == RM_OK)
        code = closed_begin_search(&search, request, closed, error);
    if (code == RM_OK)
        code = closed_find_orbit(&search, request, closed, error);
    rm_route_free(&search.route);
    if (code == RM_OK && request->at_start == NULL)
        code = rm_orbit_check(twin, closed->z, error);
    return code;
}

void rm_closed_free(struct rm_closed *closed) {
    free(closed->points);
    free(closed->scattered);
    closed->points = NULL;
    closed->scattered = NULL;
}

void rm_closed_matrix(struct rm_tangent const *tangent, double matrix[36]) {
    for (int i = 0; i < 6; ++i)
        memcpy(matrix + 6 * i, &tangent->j[i], 6 * sizeof *matrix);
}

enum rm_code rm_closed_dispersion(struct rm_closed const *closed, double change[6], struct rm_error *error) {
    int const n = closed->is_6d ? 6 : 4;
    struct rm_small_lu lu;
    if (!factor_closing(&closed->turn, n, &lu))
        return integer_tune(&closed->turn, n, error);
    for (int i = 0; i < 6; ++i)
        change[i] = i < n ? -closed->turn.j[i][closed->is_6d ? RM_LANE_FREQUENCY : RM_DELTA] : 0;
    if (closed->is_6d)
        change[RM_CT] += closed->revolution_slip;
    else
        change[RM_DELTA] = 1;
    rm_small_solve(&lu, change);
    return RM_OK;
}
