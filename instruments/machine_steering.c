// SPDX-License-Identifier: Apache-2.0
/** The orbit of a machine whose magnets stand where they stand is steered, as a real one's was before anybody looks: by
 * kicks of its correctors that count as no current. They are as hidden as the errors that they answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "machine_parts.h"

/** So many steps of conjugate gradients leave what few correctors cannot make without being large. */
enum { GRADIENT_STEPS = 30 };

/** Vectors of the method of conjugate gradients for least squares (M. R. Hestenes, E. Stiefel, J. Res. NBS 49, 409,
 * 1952): x has the kicks, r the orbit that is left, s = Rᵀ r, p the direction, q = R p. */
struct steering {
    struct rm_machine const *machine;
    uint32_t rows, count;
    uint32_t *steerer;
    double *x, *r, *s, *p, *q;
};

static bool steering_make(struct rm_machine const *machine, struct steering *steering) {
    uint32_t const rows = 2 * machine->bpm_count, most = machine->steerer_count;
    double *vectors = calloc(2 * (size_t)rows + 3 * (size_t)most + 1, sizeof *vectors);
    bool *seen = calloc(most + 1, sizeof *seen);
    *steering = (struct steering){.machine = machine, .rows = rows, .x = vectors};
    steering->steerer = calloc(most + 1, sizeof *steering->steerer);
    for (uint32_t l = 0; seen != NULL && steering->steerer != NULL && l < machine->lever_count; ++l)
        for (uint32_t t = 0; t < machine->column[l].count; ++t) {
            uint32_t const s = machine->term[machine->column[l].first + t].steerer;
            if (!seen[s])
                steering->steerer[steering->count++] = s;
            seen[s] = true;
        }
    bool const good = vectors != NULL && seen != NULL && steering->steerer != NULL;
    free(seen);
    if (!good)
        return false;
    steering->s = vectors + most;
    steering->p = steering->s + most;
    steering->r = steering->p + most;
    steering->q = steering->r + rows;
    return true;
}

static void steering_free(struct steering *steering) {
    free(steering->x);
    free(steering->steerer);
}

static double response_at(struct steering const *steering, uint32_t row, uint32_t k) {
    struct rm_machine const *machine = steering->machine;
    return machine->response[(size_t)row * (machine->steerer_count + 1) + steering->steerer[k]];
}

static double squares(double const *vector, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += vector[i] * vector[i];
    return sum;
}

static void steering_direction(struct steering *steering) {
    for (uint32_t k = 0; k < steering->count; ++k) {
        steering->s[k] = 0;
        for (uint32_t row = 0; row < steering->rows; ++row)
            steering->s[k] += response_at(steering, row, k) * steering->r[row];
    }
}

static void steering_step(struct steering *steering, double length) {
    for (uint32_t row = 0; row < steering->rows; ++row) {
        steering->q[row] = 0;
        for (uint32_t k = 0; k < steering->count; ++k)
            steering->q[row] += response_at(steering, row, k) * steering->p[k];
    }
    double const far = squares(steering->q, steering->rows), step = far > 0 ? length / far : 0;
    for (uint32_t k = 0; k < steering->count; ++k)
        steering->x[k] += step * steering->p[k];
    for (uint32_t row = 0; row < steering->rows; ++row)
        steering->r[row] -= step * steering->q[row];
}

static void steering_solve(struct steering *steering) {
    steering_direction(steering);
    memcpy(steering->p, steering->s, steering->count * sizeof *steering->p);
    double length = squares(steering->s, steering->count);
    for (int i = 0; i < GRADIENT_STEPS && length > 0; ++i) {
        steering_step(steering, length);
        steering_direction(steering);
        double const before = length;
        length = squares(steering->s, steering->count);
        for (uint32_t k = 0; k < steering->count; ++k)
            steering->p[k] = steering->s[k] + length / before * steering->p[k];
    }
}

static enum rm_code put_steering(struct rm_machine *machine, struct steering const *steering, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t k = 0; code == RM_OK && k < steering->count; ++k) {
        struct rm_steerer const *steerer = &machine->steerer[steering->steerer[k]];
        double *kick = machine->base_kick[steerer->element];
        kick[steerer->plane] += steering->x[k];
        code = rm_twin_set_kick(machine->twin, steerer->element, kick[0], kick[1], error);
    }
    return code;
}

enum rm_code rm_machine_steer(struct rm_machine *machine, struct rm_error *error) {
    enum rm_code code = rm_machine_look(machine, error);
    if (code != RM_OK)
        return code;
    struct steering steering;
    if (!steering_make(machine, &steering)) {
        steering_free(&steering);
        return rm_fail(error, RM_E_NO_SPACE, "no memory to steer an orbit at %u BPMs", machine->bpm_count);
    }
    for (uint32_t b = 0; b < machine->bpm_count; ++b) {
        steering.r[b] = -machine->orbit[b][0];
        steering.r[machine->bpm_count + b] = -machine->orbit[b][2];
    }
    steering_solve(&steering);
    code = put_steering(machine, &steering, error);
    steering_free(&steering);
    return code;
}
