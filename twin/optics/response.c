// SPDX-License-Identifier: Apache-2.0
/** The orbit's response from the one-turn matrix.
 *
 * A kick that moves the particle by g at the exit of its element is one of u = M_exit⁻¹ g at the start. The orbit that
 * closes is (I - M)⁻¹ u at the start as seen after the kick, and that less u before it; the matrices from the start
 * carry either to the points. */
#include "response.h"

#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"
#include "closed.h"
#include "small.h"

static double const kick_step_rad = 1e-5; /* a magnet's map is as good as linear in its kick: of 10⁻¹¹ */

static bool takes_kick(struct rm_element const *e) {
    return e->pass == RM_PASS_CORRECTOR ||
           ((e->pass == RM_PASS_STR_MPOLE || e->pass == RM_PASS_BND_MPOLE || e->pass == RM_PASS_BND_STR_MPOLE) &&
            e->length_m != 0);
}

enum rm_code rm_response_check(struct rm_response_call const *call, struct rm_error *error) {
    for (uint32_t k = 0; k < call->steerer_count; ++k) {
        uint32_t const at = call->steerers[k].element;
        if (at >= call->twin->count)
            return rm_fail(error, RM_E_ARGUMENT, "steerer %u is element %u; the lattice has %u", k, at,
                           call->twin->count);
        struct rm_element const *const e = &call->twin->elements[at];
        if (!takes_kick(e))
            return rm_fail(error, RM_E_ARGUMENT, "steerer %u, element %u (%s), takes no kick: it is a %s", k, at,
                           e->name, rm_pass_name(e->pass, e->radiation));
    }
    return RM_OK;
}

enum rm_code rm_response_places_make(struct rm_response_call const *call, struct rm_response_places *places,
                                     struct rm_error *error) {
    uint32_t const ends = call->twin->count + 1;
    places->count = 0;
    places->index_of = calloc(ends, sizeof *places->index_of);
    places->refpts = calloc(ends, sizeof *places->refpts);
    if (places->index_of == NULL || places->refpts == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a response matrix; free some memory");
    for (uint32_t i = 0; i < call->refpt_count; ++i) {
        if (call->refpts[i] >= ends)
            return rm_fail(error, RM_E_ARGUMENT, "refpts[%u] is %u; points are at most %u, the end of the lattice", i,
                           call->refpts[i], ends - 1);
        places->index_of[call->refpts[i]] = 1;
    }
    for (uint32_t k = 0; k < call->steerer_count; ++k)
        places->index_of[call->steerers[k].element] = places->index_of[call->steerers[k].element + 1] = 1;
    for (uint32_t k = 0; k < call->magnet_count; ++k)
        places->index_of[call->magnets[k]] = places->index_of[call->magnets[k] + 1] = 1;
    for (uint32_t i = 0; i < ends; ++i)
        if (places->index_of[i] != 0) {
            places->index_of[i] = places->count;
            places->refpts[places->count++] = i;
        }
    return RM_OK;
}

void rm_response_places_free(struct rm_response_places *places) {
    free(places->index_of);
    free(places->refpts);
}

enum rm_code rm_response_push(struct rm_response_call const *call, struct rm_steerer const *steerer, double const z[6],
                              double moved[6], struct rm_error *error) {
    struct rm_leg legs[RM_ROUTE_ELEMENT_LEGS];
    bool const other = call->instead != NULL && call->at == steerer->element;
    struct rm_element changed = other ? *call->instead : call->twin->elements[steerer->element];
    double const kick = changed.kick_angle_rad[steerer->plane];
    double end[2][6];
    for (int side = 0; side < 2; ++side) {
        struct rm_route route;
        struct rm_tangent t;
        changed.kick_angle_rad[steerer->plane] = kick + (side == 0 ? kick_step_rad : -kick_step_rad);
        enum rm_code const code = rm_route_element(call->twin, steerer->element, &changed,
                                                   call->options->orbit.rf_offset_hz, legs, &route, error);
        if (code != RM_OK)
            return code;
        rm_tangent_begin(&t, z);
        rm_turn(&route, &t, NULL, NULL, RM_SIMD_BEST);
        memcpy(end[side], t.z, sizeof end[side]);
    }
    for (int i = 0; i < 6; ++i)
        moved[i] = (end[0][i] - end[1][i]) / (2 * kick_step_rad);
    return RM_OK;
}

static enum rm_code response_source(struct rm_response_call const *call, struct rm_response_places const *places,
                                    struct rm_closed const *closed, struct rm_small_lu const *closing, uint32_t k,
                                    struct rm_response_sources *sources, struct rm_error *error) {
    int const n = closed->is_6d ? 6 : 4;
    struct rm_steerer const *const steerer = &call->steerers[k];
    double const *const z = closed->points[places->index_of[steerer->element]].z;
    double m[36], u[6], w[6];
    struct rm_small_lu exit;
    enum rm_code const code = rm_response_push(call, steerer, z, u, error);
    if (code != RM_OK)
        return code;
    rm_closed_matrix(&closed->points[places->index_of[steerer->element + 1]], m);
    if (!rm_small_factor(&exit, m, n, 6))
        return rm_fail(error, RM_E_CONFIG, "the matrix to element %u (%s) is singular; change its strength",
                       steerer->element, call->twin->elements[steerer->element].name);
    rm_small_solve(&exit, u);
    memcpy(w, u, sizeof w);
    rm_small_solve(closing, w);
    for (int i = 0; i < n; ++i) {
        sources->before[i * sources->count + k] = w[i] - u[i];
        sources->added[i * sources->count + k] = u[i];
    }
    return RM_OK;
}

static enum rm_code sources_fill(struct rm_response_call const *call, struct rm_response_places const *places,
                                 struct rm_closed const *closed, struct rm_response_sources *sources,
                                 struct rm_error *error) {
    int const n = closed->is_6d ? 6 : 4;
    double closing[36], change[6];
    struct rm_small_lu lu;
    enum rm_code code = rm_closed_dispersion(closed, change, error);
    if (code != RM_OK)
        return code;
    for (int i = 0; i < 6; ++i) {
        sources->before[i * sources->count + call->steerer_count] = change[i];
        for (int k = 0; k < 6; ++k)
            closing[6 * i + k] = (i == k ? 1 : 0) - closed->turn.j[i][k];
    }
    rm_small_factor(&lu, closing, n, 6);
    for (uint32_t k = 0; k < call->steerer_count && code == RM_OK; ++k)
        code = response_source(call, places, closed, &lu, k, sources, error);
    return code;
}

enum rm_code rm_response_sources_make(struct rm_response_call const *call, struct rm_response_places const *places,
                                      struct rm_closed const *closed, struct rm_response_sources *sources,
                                      struct rm_error *error) {
    size_t const columns = call->steerer_count + 1;
    sources->before = calloc(12 * columns, sizeof *sources->before);
    if (sources->before == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u steerers; free some memory", call->steerer_count);
    sources->added = sources->before + 6 * columns;
    sources->count = call->steerer_count + 1;
    return sources_fill(call, places, closed, sources, error);
}

void rm_response_sources_free(struct rm_response_sources *sources) { free(sources->before); }

static void fill_response_row(struct rm_response_call const *call, struct rm_closed const *closed,
                              struct rm_response_sources const *sources, struct rm_tangent const *point, uint32_t at,
                              int coordinate, double *out) {
    uint32_t const count = sources->count;
    memset(out, 0, count * sizeof *out);
    for (int i = 0; i < 6; ++i) {
        double const factor = point->j[coordinate][i];
        double const *const before = sources->before + (size_t)i * count, *const added =
                                                                              sources->added + (size_t)i * count;
        for (uint32_t k = 0; k < count - 1; ++k)
            out[k] += factor * (before[k] + (call->steerers[k].element < at ? added[k] : 0));
        out[count - 1] += factor * before[count - 1];
    }
    if (closed->is_6d)
        out[count - 1] += point->j[coordinate][RM_LANE_FREQUENCY];
}

static enum rm_code fill_response(struct rm_response_call const *call, struct rm_response_places const *places,
                                  struct rm_closed const *closed, double *matrix, struct rm_error *error) {
    size_t const columns = call->steerer_count + 1;
    struct rm_response_sources sources = {0};
    enum rm_code const code = rm_response_sources_make(call, places, closed, &sources, error);
    for (uint32_t i = 0; code == RM_OK && i < call->refpt_count; ++i) {
        struct rm_tangent const *const point = &closed->points[places->index_of[call->refpts[i]]];
        for (int plane = 0; plane < 2; ++plane)
            fill_response_row(call, closed, &sources, point, call->refpts[i], 2 * plane,
                              matrix + ((size_t)plane * call->refpt_count + i) * columns);
    }
    rm_response_sources_free(&sources);
    return code;
}

enum rm_code rm_response_analytic(struct rm_response_call const *call, double const guess[6], double orbit[6],
                                  double *matrix, struct rm_error *error) {
    struct rm_response_places places = {0};
    struct rm_closed closed = {0};
    struct rm_orbit_options options = call->options->orbit;
    options.guess = guess != NULL ? guess : options.guess;
    enum rm_code code = rm_response_places_make(call, &places, error);
    struct rm_closed_request const request = {.orbit = &options,
                                              .instead = call->instead,
                                              .at = call->at,
                                              .refpts = places.refpts,
                                              .refpt_count = places.count};
    if (code == RM_OK)
        code = rm_closed_find(call->twin, &request, &closed, error);
    if (code == RM_OK)
        code = fill_response(call, &places, &closed, matrix, error);
    if (code == RM_OK && orbit != NULL)
        memcpy(orbit, closed.z, sizeof closed.z);
    rm_closed_free(&closed);
    rm_response_places_free(&places);
    return code;
}

static struct rm_response_options const usual = {0};

enum rm_code rm_twin_response(struct rm_twin const *twin, struct rm_response_options const *options,
                              uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                              uint32_t steerer_count, double *matrix, struct rm_error *error) {
    struct rm_response_call const call = {.twin = twin,
                                          .options = options != NULL ? options : &usual,
                                          .refpts = refpts,
                                          .refpt_count = refpt_count,
                                          .steerers = steerers,
                                          .steerer_count = steerer_count};
    enum rm_code const code = rm_response_check(&call, error);
    return code != RM_OK ? code : rm_response_analytic(&call, NULL, NULL, matrix, error);
}
