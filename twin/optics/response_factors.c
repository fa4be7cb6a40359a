// SPDX-License-Identifier: Apache-2.0
/** How the orbit's response depends on the quadrupole fields of many magnets: two small factors each.
 *
 * A field k in a magnet changes its matrix by N dk. An orbit X that comes to the magnet is kicked at the exit by N X dk,
 * and the ring answers with G N X dk at the points: G is a response to any kick at the exit, so each derivative is a
 * matrix of rank six (4D: four). N comes from four matrices of that magnet alone. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "response.h"
#include "small.h"

static double const step_per_m2 = 1e-3;

/* f' = (8 (f₁ - f₋₁) - (f₂ - f₋₂)) / 12 h */
static struct {
    int steps;
    double weight;
} const differences[] = {{1, 8}, {-1, -8}, {2, -1}, {-2, 1}};
enum { DIFFERENCES = 4 };

struct factors_call {
    struct rm_response_call response;
    enum rm_component component;
    struct rm_response_places places;
    struct rm_closed closed;
    struct rm_response_sources sources;
    double closing[36]; /**< (I − M)⁻¹, row by row */
};

static enum rm_code factors_begin(struct factors_call *call, struct rm_error *error) {
    enum rm_code code = rm_response_places_make(&call->response, &call->places, error);
    struct rm_closed_request const request = {
        .orbit = &call->response.options->orbit, .refpts = call->places.refpts, .refpt_count = call->places.count};
    if (code == RM_OK)
        code = rm_closed_find(call->response.twin, &request, &call->closed, error);
    if (code == RM_OK)
        code = rm_response_sources_make(&call->response, &call->places, &call->closed, &call->sources, error);
    return code;
}

static void factors_end(struct factors_call *call) {
    rm_response_sources_free(&call->sources);
    rm_closed_free(&call->closed);
    rm_response_places_free(&call->places);
}

/** Rows of the inverse: column by column of what solves for a unit vector. */
static bool invert(double const matrix[36], int n, double inverse[36]) {
    double copy[36];
    struct rm_small_lu lu;
    memcpy(copy, matrix, sizeof copy);
    memset(inverse, 0, 36 * sizeof *inverse);
    if (!rm_small_factor(&lu, copy, n, 6))
        return false;
    for (int k = 0; k < n; ++k) {
        double unit[6] = {0};
        unit[k] = 1;
        rm_small_solve(&lu, unit);
        for (int i = 0; i < n; ++i)
            inverse[6 * i + k] = unit[i];
    }
    return true;
}

static void multiply(double const a[36], double const b[36], double product[36]) {
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            double sum = 0;
            for (int j = 0; j < 6; ++j)
                sum += a[6 * i + j] * b[6 * j + k];
            product[6 * i + k] = sum;
        }
}

/** Where the points see a kick at the magnet's exit: [2][points][6]. */
static enum rm_code fill_left(struct factors_call const *call, uint32_t magnet, double *left, struct rm_error *error) {
    struct rm_response_call const *const asked = &call->response;
    int const n = call->closed.is_6d ? 6 : 4;
    double exit[36], start[36], before[36];
    rm_closed_matrix(&call->closed.points[call->places.index_of[magnet + 1]], exit);
    if (!invert(exit, n, start))
        return rm_fail(error, RM_E_CONFIG, "the matrix to element %u (%s) is singular; change its strength", magnet,
                       asked->twin->elements[magnet].name);
    double after[36];
    multiply(call->closing, start, after);
    for (int i = 0; i < 36; ++i)
        before[i] = after[i] - start[i];
    for (int plane = 0; plane < 2; ++plane)
        for (uint32_t p = 0; p < asked->refpt_count; ++p) {
            struct rm_tangent const *const point = &call->closed.points[call->places.index_of[asked->refpts[p]]];
            double const *const orbit = magnet < asked->refpts[p] ? after : before;
            double *const row = left + 6 * ((size_t)plane * asked->refpt_count + p);
            for (int k = 0; k < 6; ++k) {
                double sum = 0;
                for (int i = 0; i < n; ++i)
                    sum += point->j[2 * plane][i] * orbit[6 * i + k];
                row[k] = sum;
            }
        }
    return RM_OK;
}

/** The derivative of the magnet's matrix, and of what the kicks in it do: into `right`, which has only zeros. */
static enum rm_code differentiate_magnet(struct factors_call const *call, uint32_t magnet, double matrix[36],
                                         double *right, struct rm_error *error) {
    struct rm_magnet_change change;
    struct rm_response_call changed = call->response;
    double const *const z = call->closed.points[call->places.index_of[magnet]].z;
    uint32_t const columns = call->sources.count;
    enum rm_code code = rm_magnet_change_begin(changed.twin, magnet, call->component, &change, error);
    changed.instead = &change.element;
    changed.at = magnet;
    memset(matrix, 0, 36 * sizeof *matrix);
    for (int d = 0; d < DIFFERENCES && code == RM_OK; ++d) {
        struct rm_leg legs[RM_ROUTE_ELEMENT_LEGS];
        struct rm_route route;
        struct rm_tangent t;
        double const weight = differences[d].weight / (12 * step_per_m2);
        rm_magnet_change_set(&change, differences[d].steps * step_per_m2);
        code = rm_route_element(changed.twin, magnet, &change.element, changed.options->orbit.rf_offset_hz, legs,
                                &route, error);
        if (code != RM_OK)
            break;
        rm_tangent_begin(&t, z);
        rm_turn(&route, &t, NULL, NULL, RM_SIMD_BEST);
        for (int i = 0; i < 6; ++i)
            for (int k = 0; k < 6; ++k)
                matrix[6 * i + k] += weight * t.j[i][k];
        for (uint32_t s = 0; s + 1 < columns && code == RM_OK; ++s) {
            double moved[6];
            if (changed.steerers[s].element != magnet)
                continue;
            code = rm_response_push(&changed, &changed.steerers[s], z, moved, error);
            for (int i = 0; i < 6 && code == RM_OK; ++i)
                right[(size_t)i * columns + s] += weight * moved[i];
        }
    }
    return code;
}

/** The kicks at the magnet's exit that its change makes of the orbits that come to it: [6][steerers + 1]. */
static enum rm_code fill_right(struct factors_call const *call, uint32_t magnet, double *right,
                               struct rm_error *error) {
    int const n = call->closed.is_6d ? 6 : 4;
    uint32_t const columns = call->sources.count;
    struct rm_tangent const *const entrance = &call->closed.points[call->places.index_of[magnet]];
    double change[36], entering[36], carried[36];
    memset(right, 0, 6 * (size_t)columns * sizeof *right);
    enum rm_code const code = differentiate_magnet(call, magnet, change, right, error);
    if (code != RM_OK)
        return code;
    rm_closed_matrix(entrance, entering);
    multiply(change, entering, carried);
    for (int i = 0; i < n; ++i) {
        double *const row = right + (size_t)i * columns;
        for (int k = 0; k < 6; ++k) {
            double const factor = carried[6 * i + k];
            double const *const before = call->sources.before + (size_t)k * columns;
            double const *const added = call->sources.added + (size_t)k * columns;
            for (uint32_t s = 0; s + 1 < columns; ++s)
                row[s] += factor * (before[s] + (call->response.steerers[s].element < magnet ? added[s] : 0));
            row[columns - 1] += factor * before[columns - 1];
        }
        if (call->closed.is_6d)
            for (int k = 0; k < 6; ++k)
                row[columns - 1] += change[6 * i + k] * entrance->j[k][RM_LANE_FREQUENCY];
    }
    return RM_OK;
}

static enum rm_code fill_factors(struct factors_call *call, double *left, double *right, struct rm_error *error) {
    struct rm_response_call const *const asked = &call->response;
    int const n = call->closed.is_6d ? 6 : 4;
    double turn[36];
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k)
            turn[6 * i + k] = (i == k ? 1 : 0) - call->closed.turn.j[i][k];
    if (!invert(turn, n, call->closing))
        return rm_fail(error, RM_E_CONFIG, "a tune is an integer; change the strengths");
    enum rm_code code = RM_OK;
    for (uint32_t m = 0; m < asked->magnet_count && code == RM_OK; ++m) {
        code = fill_left(call, asked->magnets[m], left + (size_t)m * 12 * asked->refpt_count, error);
        if (code == RM_OK)
            code = fill_right(call, asked->magnets[m], right + (size_t)m * 6 * call->sources.count, error);
    }
    return code;
}

enum rm_code rm_twin_response_factors(struct rm_twin const *twin, struct rm_response_options const *options,
                                      uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                                      uint32_t steerer_count, uint32_t const *magnets, uint32_t magnet_count,
                                      enum rm_component component, double *left, double *right,
                                      struct rm_error *error) {
    static struct rm_response_options const usual = {0};
    struct factors_call call = {.response = {.twin = twin,
                                             .options = options != NULL ? options : &usual,
                                             .refpts = refpts,
                                             .refpt_count = refpt_count,
                                             .steerers = steerers,
                                             .steerer_count = steerer_count,
                                             .magnets = magnets,
                                             .magnet_count = magnet_count},
                                .component = component};
    enum rm_code code = rm_response_check(&call.response, error);
    for (uint32_t m = 0; m < magnet_count && code == RM_OK; ++m)
        if (magnets[m] >= twin->count)
            code = rm_fail(error, RM_E_ARGUMENT, "magnet %u: the lattice has %u elements", magnets[m], twin->count);
    if (code != RM_OK)
        return code;
    code = factors_begin(&call, error);
    if (code == RM_OK)
        code = fill_factors(&call, left, right, error);
    factors_end(&call);
    return code;
}
