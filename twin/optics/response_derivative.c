// SPDX-License-Identifier: Apache-2.0
/** How the orbit's response depends on a quadrupole field: differences of exact matrices, each about its own orbit, so
 * that what the orbit's move does in other magnets counts. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../twin_parts.h"
#include "base/fail.h"
#include "response.h"

static double const step_per_m2 = 2e-4; /* times two: fourth order by two pairs of differences */

enum rm_code rm_magnet_change_begin(struct rm_twin const *twin, uint32_t magnet, enum rm_component component,
                                    struct rm_magnet_change *change, struct rm_error *error) {
    if (magnet >= twin->count)
        return rm_fail(error, RM_E_ARGUMENT, "magnet %u: the lattice has %u elements", magnet, twin->count);
    struct rm_element const *const e = &twin->elements[magnet];
    if (e->polynom_b == NULL || e->max_order < 1)
        return rm_fail(error, RM_E_ARGUMENT, "element %u (%s) has no quadrupole field", magnet, e->name);
    change->element = *e;
    memcpy(change->a, e->polynom_a, (e->max_order + 1) * sizeof *change->a);
    memcpy(change->b, e->polynom_b, (e->max_order + 1) * sizeof *change->b);
    change->element.polynom_a = change->a;
    change->element.polynom_b = change->b;
    change->component = component;
    change->design = component == RM_SKEW ? change->a[1] : change->b[1];
    return RM_OK;
}

void rm_magnet_change_set(struct rm_magnet_change *change, double by) {
    *(change->component == RM_SKEW ? &change->a[1] : &change->b[1]) = change->design + by;
}

static enum rm_code derivative_differences(struct rm_response_call const *call, struct rm_magnet_change *change,
                                           double *matrix, double *scratch, size_t size, struct rm_error *error) {
    /* f' = (8 (f₁ - f₋₁) - (f₂ - f₋₂)) / 12 h */
    static struct {
        int steps;
        double weight;
    } const taken[] = {{1, 8}, {-1, -8}, {2, -1}, {-2, 1}};
    double orbit[6];
    bool known = false;
    memset(matrix, 0, size * sizeof *matrix);
    for (int i = 0; i < 4; ++i) {
        rm_magnet_change_set(change, taken[i].steps * step_per_m2);
        enum rm_code const code = rm_response_analytic(call, known ? orbit : NULL, orbit, scratch, error);
        if (code != RM_OK)
            return code;
        known = true;
        for (size_t k = 0; k < size; ++k)
            matrix[k] += taken[i].weight / (12 * step_per_m2) * scratch[k];
    }
    return RM_OK;
}

enum rm_code rm_twin_response_derivative(struct rm_twin const *twin, struct rm_response_options const *options,
                                         uint32_t const *refpts, uint32_t refpt_count,
                                         struct rm_steerer const *steerers, uint32_t steerer_count, uint32_t magnet,
                                         enum rm_component component, double *matrix, struct rm_error *error) {
    static struct rm_response_options const usual = {0};
    struct rm_response_call call = {.twin = twin,
                                    .options = options != NULL ? options : &usual,
                                    .refpts = refpts,
                                    .refpt_count = refpt_count,
                                    .steerers = steerers,
                                    .steerer_count = steerer_count};
    struct rm_magnet_change change = {.component = component};
    size_t const size = 2 * (size_t)refpt_count * (steerer_count + 1);
    enum rm_code code = rm_response_check(&call, error);
    if (code == RM_OK)
        code = rm_magnet_change_begin(twin, magnet, component, &change, error);
    if (code != RM_OK)
        return code;
    double *const scratch = malloc((size != 0 ? size : 1) * sizeof *scratch);
    if (scratch == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a response matrix; free some memory");
    call.instead = &change.element;
    call.at = magnet;
    code = derivative_differences(&call, &change, matrix, scratch, size, error);
    free(scratch);
    return code;
}
