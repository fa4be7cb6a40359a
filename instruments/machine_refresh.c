// SPDX-License-Identifier: Apache-2.0
/** The background: looks at kicks and strengths as they are, finds the nonlinear orbit and the response about it, and
 * hands them over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/background.h"
#include "base/fail.h"
#include "base/timebase.h"
#include "machine_parts.h"

static double const LEAST_PERIOD_S = 1e-3;
static double const LOOK_S = 20e-3; /**< how often a sleeping background looks whether it is to end */

enum rm_code rm_machine_model_make(struct rm_machine *machine, struct rm_machine_model *model, struct rm_error *error) {
    uint32_t const rows = 2 * machine->bpm_count, ground = machine->column_count - machine->fast_count;
    bool const made = rm_orbit_matrix_make(&model->fast, rows, machine->fast_count) &&
                      rm_orbit_matrix_make(&model->ground, rows, ground);
    model->base = made ? rm_orbit_vector(&model->fast) : NULL;
    model->then = calloc(machine->column_count, sizeof *model->then);
    if (model->base == NULL || model->then == NULL || !rm_motion_optics_make(machine, &model->motion) ||
        !rm_products_model_make(machine, &model->products))
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the machine of %u BPMs", machine->bpm_count);
    return RM_OK;
}

void rm_machine_model_free(struct rm_machine_model *model) {
    rm_orbit_matrix_free(&model->fast);
    rm_orbit_matrix_free(&model->ground);
    rm_machine_aperture_model_free(&model->aperture);
    rm_products_model_free(&model->products);
    free(model->base);
    free(model->then);
    rm_motion_optics_free(&model->motion);
}

/** The columns as the fast part said them last. */
static void take_columns(struct rm_machine *machine) {
    uint64_t before, after;
    do {
        before = atomic_load_explicit(&machine->now_sequence, memory_order_acquire);
        for (uint32_t c = 0; c < machine->column_count; ++c)
            machine->column_now[c] = atomic_load_explicit(&machine->now_shared[c], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire); /* pairs with the release in share_columns */
        after = atomic_load_explicit(&machine->now_sequence, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
}

/** All kicks of all columns together, into the lattice. */
static enum rm_code set_kicks(struct rm_machine *machine, struct rm_error *error) {
    memcpy(machine->kick, machine->base_kick, rm_lattice_count(machine->lattice) * sizeof *machine->kick);
    for (uint32_t c = 0; c < machine->column_count; ++c)
        for (uint32_t t = 0; t < machine->column[c].count; ++t) {
            struct rm_machine_term const *term = &machine->term[machine->column[c].first + t];
            struct rm_steerer const *steerer = &machine->steerer[term->steerer];
            machine->kick[steerer->element][steerer->plane] += term->rad * machine->column_now[c];
        }
    enum rm_code code = RM_OK;
    for (uint32_t s = 0; code == RM_OK && s < machine->steerer_count; ++s) {
        uint32_t const element = machine->steerer[s].element;
        code = rm_twin_set_kick(machine->twin, element, machine->kick[element][0], machine->kick[element][1], error);
    }
    return code;
}

enum rm_code rm_machine_look(struct rm_machine *machine, struct rm_error *error) {
    struct rm_response_options options = {.orbit.guess = machine->has_start ? machine->at_start : NULL};
    if (machine->rf_column >= 0)
        options.orbit.rf_offset_hz = machine->column_now[machine->rf_column];
    enum rm_code code = rm_twin_find_orbit(machine->twin, &options.orbit, machine->at_start, machine->bpm_element,
                                           machine->bpm_count, machine->orbit, error);
    machine->has_start = code == RM_OK;
    options.orbit.guess = machine->at_start;
    if (code == RM_OK)
        code = rm_twin_response(machine->twin, &options, machine->bpm_element, machine->bpm_count, machine->steerer,
                                machine->steerer_count, machine->response, error);
    if (code == RM_OK)
        code = rm_optics_points_look(machine, &options.orbit, error);
    if (code != RM_OK)
        return code;
    for (int plane = 0; plane < 2; ++plane)
        atomic_store_explicit(&machine->tune[plane], machine->points.ring.tune[plane], memory_order_relaxed);
    return RM_OK;
}

double rm_machine_column_of(struct rm_machine const *machine, double const *response, uint32_t column) {
    struct rm_machine_column const *of = &machine->column[column];
    if ((int32_t)column == machine->rf_column)
        return response[machine->steerer_count];
    double orbit = 0;
    for (uint32_t t = of->first; t < of->first + of->count; ++t)
        orbit += machine->term[t].rad * response[machine->term[t].steerer];
    return orbit;
}

double rm_machine_column_orbit(struct rm_machine const *machine, uint32_t column, uint32_t row) {
    return rm_machine_column_of(machine, &machine->response[(size_t)row * (machine->steerer_count + 1)], column);
}

/** One row of the model: a BPM's plane. */
static void build_row(struct rm_machine *machine, struct rm_machine_model *model, uint32_t row, double orbit) {
    double base = orbit;
    for (uint32_t c = 0; c < machine->fast_count; ++c)
        *rm_orbit_matrix_at(&model->fast, row, c) = (float)rm_machine_column_orbit(machine, c, row);
    for (uint32_t c = machine->fast_count; c < machine->column_count; ++c) {
        double const unit = rm_machine_column_orbit(machine, c, row);
        *rm_orbit_matrix_at(&model->ground, row, c - machine->fast_count) = (float)unit;
        base -= unit * machine->column_now[c];
    }
    model->base[row] = (float)base;
}

static void build_model(struct rm_machine *machine, struct rm_machine_model *model) {
    for (uint32_t b = 0; b < machine->bpm_count; ++b) {
        build_row(machine, model, b, machine->orbit[b][0]);
        build_row(machine, model, machine->bpm_count + b, machine->orbit[b][2]);
    }
    memcpy(model->then, machine->column_now, machine->column_count * sizeof *model->then);
    rm_motion_optics_fill(machine, &model->motion);
}

/** Gives what was built to the fast part, and gets another one to build: that which it has not taken, or has left. */
static void hand_over_model(struct rm_machine *machine) {
    struct rm_machine_model *other =
        atomic_exchange_explicit(&machine->ready, machine->build, memory_order_acq_rel); /* pairs with take_model */
    while (other == NULL) { /* it takes the one and leaves the other within some nanoseconds */
        other = atomic_exchange_explicit(&machine->spare, NULL, memory_order_acq_rel);
        if (other == NULL)
            rm_pause();
    }
    machine->build = other;
}

static double seconds_now(void) { return 1e-9 * (double)rm_monotonic_ns(); }

enum rm_code rm_machine_refresh(struct rm_machine *machine, struct rm_error *error) {
    double const begun = seconds_now();
    take_columns(machine);
    enum rm_code code = rm_machine_strengths_set(machine, error);
    if (code == RM_OK)
        code = set_kicks(machine, error);
    if (code == RM_OK)
        code = rm_machine_look(machine, error);
    atomic_store_explicit(&machine->lost, code != RM_OK, memory_order_relaxed);
    if (code != RM_OK) {
        atomic_fetch_add_explicit(&machine->failures, 1, memory_order_relaxed);
        return code;
    }
    code = rm_machine_apertures_fill(machine, machine->build, error);
    if (code == RM_OK)
        code = rm_machine_products_fill(machine, machine->build, error);
    if (code != RM_OK)
        return code;
    build_model(machine, machine->build);
    hand_over_model(machine);
    atomic_store_explicit(&machine->refresh_s, seconds_now() - begun, memory_order_relaxed);
    atomic_fetch_add_explicit(&machine->refreshes, 1, memory_order_relaxed);
    return RM_OK;
}

static void sleep_for(double seconds) {
    struct timespec const nap = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&nap, NULL);
}

static bool machine_is_ending(struct rm_machine const *machine) {
    return atomic_load_explicit(&machine->stop, memory_order_relaxed);
}

static void *look_again_and_again(void *argument) {
    struct rm_machine *machine = argument;
    struct rm_error error;
    rm_background_enter();
    while (!machine_is_ending(machine)) {
        double const next = seconds_now() + machine->period_s;
        rm_machine_refresh(machine, &error); /* a beam that is lost is counted, and said by its intensity */
        for (double left; !machine_is_ending(machine) && (left = next - seconds_now()) > 0;)
            sleep_for(left < LOOK_S ? left : LOOK_S);
    }
    return NULL;
}

enum rm_code rm_machine_start(struct rm_machine *machine, double period_s, struct rm_error *error) {
    machine->period_s = period_s < LEAST_PERIOD_S ? LEAST_PERIOD_S : period_s;
    atomic_store_explicit(&machine->stop, false, memory_order_relaxed);
    int const reason = pthread_create(&machine->thread, NULL, look_again_and_again, machine);
    if (reason != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot start the machine's background: %s", strerror(reason));
    machine->started = true;
    return RM_OK;
}

void rm_machine_stop(struct rm_machine *machine) {
    if (!machine->started)
        return;
    atomic_store_explicit(&machine->stop, true, memory_order_relaxed);
    pthread_join(machine->thread, NULL);
    machine->started = false;
}
