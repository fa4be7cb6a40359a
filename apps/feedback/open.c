// SPDX-License-Identifier: Apache-2.0
#include "open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/errors.h>

#include "state/feedback.h"

/** Time for what a lost beam took with it, beyond `return_s`. */
static double const TIMEOUT_S = 2.0;

static uint32_t cycles_of(struct feedback const *feedback, double seconds) {
    return (uint32_t)fmin(fmax(1.0, rint(seconds * feedback->rate_hz)), 4e9);
}

/** Neighbours in both orders are one run. */
static void make_runs(struct feedback *feedback, uint32_t actuators) {
    for (uint32_t actuator = 0; actuator < actuators; ++actuator) {
        uint32_t const column = feedback->actuator_column[actuator];
        uint32_t const output = column != UINT32_MAX ? feedback->layout.output_of[column] : UINT32_MAX;
        if (output == UINT32_MAX)
            continue;
        feedback->actuator_of[output] = actuator;
        struct feedback_run *run = feedback->run + feedback->runs; /* behind the last one */
        if (feedback->runs > 0 && run[-1].actuator + run[-1].count == actuator &&
            run[-1].output + run[-1].count == output)
            ++run[-1].count;
        else
            feedback->run[feedback->runs++] = (struct feedback_run){actuator, output, 1};
        ++feedback->family_columns;
    }
}

static void connect_actuators(struct feedback *feedback, struct rm_application_setup const *setup) {
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output)
        feedback->actuator_of[output] = UINT32_MAX;
    make_runs(feedback, setup->actuator_count);
    feedback->rf_actuator = -1;
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        if (feedback->configuration.rf.column >= 0 &&
            feedback->actuator_column[i] == (uint32_t)feedback->configuration.rf.column)
            feedback->rf_actuator = (int32_t)i;
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output) {
        uint32_t const actuator = feedback->actuator_of[output];
        if (actuator == UINT32_MAX)
            continue;
        double const slew = setup->actuator_slew_per_step[actuator];
        feedback->loop.most_low[output] = setup->actuator_low[actuator];
        feedback->loop.most_high[output] = setup->actuator_high[actuator];
        feedback->loop.slew[output] = slew > 0.0 ? slew : INFINITY;
    }
}

static void connect_table(struct feedback *feedback, struct feedback_forward *table) {
    struct rm_table const *matrix = &feedback->configuration.matrix;
    for (uint32_t i = 0; i < table->columns; ++i)
        for (uint32_t column = 0; column < matrix->columns; ++column)
            if (strcmp(table->name[i], matrix->column_name[column]) == 0)
                table->output[i] = feedback->layout.output_of[column];
}

static enum rm_code open_tables(struct feedback *feedback, struct rm_error *error) {
    for (uint32_t t = 0; t < feedback->configuration.table_count; ++t) {
        struct feedback_forward *table = &feedback->table[t];
        enum rm_code const code = feedback_forward_load(feedback->configuration.table[t].path, table, error);
        if (code != RM_OK)
            return code;
        connect_table(feedback, table);
        for (uint32_t i = 0; i < table->columns; ++i)
            if (table->output[i] == UINT32_MAX)
                return rm_fail(error, RM_E_CONFIG, "%s: the column %s is no actuator of a family",
                               feedback->configuration.table[t].path, table->name[i]);
    }
    return RM_OK;
}

/** The pair of a fast and a slow family must be slow enough to be stable. */
static enum rm_code check_crossovers(struct feedback const *feedback, struct rm_error *error) {
    for (uint32_t f = 0; f < feedback->configuration.family_count; ++f) {
        struct feedback_family const *family = &feedback->configuration.family[f];
        if (family->unload_to >= 0 && !feedback_unload_fits(family->crossover_hz, family->tuning.integral_hz))
            return rm_fail(error, RM_E_CONFIG,
                           "%s: the family %s hands over at %g Hz; above 0 and at most a fifth of its integral_hz, "
                           "%g Hz, was expected",
                           feedback->configuration.path, family->name, family->crossover_hz,
                           family->tuning.integral_hz);
    }
    return RM_OK;
}

static bool make_cycle(struct feedback *feedback, uint32_t rows) {
    struct feedback_cycle *cycle = &feedback->cycle;
    cycle->rows = rows;
    cycle->error = calloc(rows + 1, sizeof *cycle->error);
    cycle->pending = calloc(rows + 1, sizeof *cycle->pending);
    cycle->leapt = calloc(rows + 1, sizeof *cycle->leapt);
    cycle->is_leap = calloc(rows + 1, sizeof *cycle->is_leap);
    feedback->cumulated.squares = calloc(rows + 1, sizeof *feedback->cumulated.squares);
    feedback->golden.rows = rows;
    feedback->golden.now = calloc(rows + 1, sizeof *feedback->golden.now);
    feedback->golden.whole = calloc(rows + 1, sizeof *feedback->golden.whole);
    feedback->watched = calloc(rows + 1, sizeof *feedback->watched);
    feedback->row_used = calloc(rows + 1, 1);
    return cycle->error != NULL && cycle->pending != NULL && cycle->leapt != NULL && cycle->is_leap != NULL &&
           feedback->cumulated.squares != NULL && feedback->golden.now != NULL && feedback->golden.whole != NULL &&
           feedback->watched != NULL && feedback->row_used != NULL;
}

static bool make_outputs(struct feedback *feedback, struct rm_application_setup const *setup) {
    uint32_t const columns = feedback->layout.actuators, outputs = feedback->layout.outputs;
    feedback->input = calloc(setup->input_count + 1, sizeof *feedback->input);
    feedback->has_come = calloc(setup->input_count + 1, 1);
    feedback->run = calloc(setup->actuator_count + 1, sizeof *feedback->run);
    feedback->actuator_column = calloc(setup->actuator_count + 1, sizeof *feedback->actuator_column);
    feedback->actuator_of = calloc(outputs + 1, sizeof *feedback->actuator_of);
    feedback->actuator = calloc(columns + 1, sizeof *feedback->actuator);
    feedback->other = calloc(setup->actuator_count + 1, sizeof *feedback->other);
    feedback->of_other = calloc(outputs + 1, sizeof *feedback->of_other);
    feedback->standing = calloc(outputs + 1, sizeof *feedback->standing);
    return feedback->has_come != NULL && feedback->input != NULL && feedback->run != NULL &&
           feedback->actuator_column != NULL && feedback->actuator_of != NULL && feedback->actuator != NULL &&
           feedback->other != NULL && feedback->of_other != NULL && feedback->standing != NULL &&
           feedback_delivery_make(&feedback->delivery, setup->actuator_count, setup->actuator_low,
                                  setup->actuator_high);
}

static enum rm_code make_all(struct feedback *feedback, struct rm_application_setup const *setup,
                             struct rm_error *error) {
    bool made = feedback_requests_make(&feedback->requests, &feedback->layout);
    for (uint32_t i = 0; i < FEEDBACK_LEFT; ++i)
        made = made && feedback_requests_make(&feedback->left[i], &feedback->layout);
    if (made && make_cycle(feedback, feedback->layout.rows) && make_outputs(feedback, setup) &&
        feedback_loop_make(&feedback->loop, &feedback->configuration, &feedback->layout, feedback->rate_hz) &&
        feedback_mains_make(&feedback->mains, &feedback->layout, feedback->rate_hz))
        return feedback_solver_make(&feedback->solver, &feedback->configuration, &feedback->layout, feedback->rate_hz,
                                    error);
    return rm_fail(error, RM_E_NO_SPACE, "no memory for %u rows and %u outputs", feedback->layout.rows,
                   feedback->layout.outputs);
}

/** One error is the caller's to report. Of several there is no room for all in it: they stand on standard error. */
static enum rm_code load(struct feedback *feedback, struct rm_application_setup const *setup, struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    if (feedback_configuration_load_all(setup->configuration, &feedback->configuration, &errors) == RM_OK)
        return RM_OK;
    return rm_errors_report(&errors, setup->name, setup->configuration, error);
}

static enum rm_code open_feedback_parts(struct feedback *feedback, struct rm_application_setup const *setup,
                                        struct rm_error *error) {
    if (setup->configuration == NULL)
        return rm_fail(error, RM_E_CONFIG,
                       "the feedback needs a file of its own: give the application %s a key `configuration`",
                       setup->name);
    enum rm_code code = load(feedback, setup, error);
    if (code == RM_OK)
        code = feedback_layout_make(&feedback->configuration, &feedback->layout, error);
    if (code == RM_OK)
        code = check_crossovers(feedback, error);
    if (code == RM_OK)
        code = make_all(feedback, setup, error);
    if (code == RM_OK)
        code = feedback_actuators_find(&feedback->configuration, setup->actuator_name, setup->actuator_count,
                                       feedback->actuator_column, error);
    if (code != RM_OK)
        return code;
    connect_actuators(feedback, setup);
    return open_tables(feedback, error);
}

static void set_limits(struct feedback *feedback) {
    struct feedback_configuration const *configuration = &feedback->configuration;
    uint32_t const back = cycles_of(feedback, configuration->watch.return_s);
    feedback->watch_limits =
        (struct feedback_watch_limits){configuration->watch.missing_cycles, configuration->watch.frozen_cycles,
                                       (int32_t)fmin(configuration->watch.jump_um * 1e3, 1e9), back};
    feedback->actuator_limits =
        (struct feedback_actuator_limits){cycles_of(feedback, configuration->enable_conditions.saturated_s), back};
    feedback->keep_cycles = back;
    feedback->golden.most = configuration->golden_speed_um_s * 1e3 / feedback->rate_hz;
    feedback->cumulated.most = cycles_of(feedback, 1.0);
    feedback->excite.rate_hz = feedback->rate_hz;
    if (configuration->rf.column >= 0) {
        feedback->rf.every = cycles_of(feedback, 1.0 / configuration->rf.hz);
        feedback->rf.gain = configuration->rf.gain;
        feedback->rf.slew = configuration->rf.slew / feedback->rate_hz;
    }
}

enum rm_code feedback_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    struct feedback *feedback = calloc(1, sizeof *feedback);
    if (feedback == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the feedback");
    feedback->rate_hz = setup->turn_rate_hz / (double)setup->period_turns;
    enum rm_code const code = open_feedback_parts(feedback, setup, error);
    if (code != RM_OK) {
        feedback_close(feedback);
        return code;
    }
    set_limits(feedback);
    *memory = feedback;
    return RM_OK;
}

static void free_cycle(struct feedback *feedback) {
    feedback_delivery_free(&feedback->delivery);
    free(feedback->cycle.error);
    free(feedback->cycle.pending);
    free(feedback->cycle.leapt);
    free(feedback->cycle.is_leap);
    free(feedback->cumulated.squares);
    free(feedback->golden.now);
    free(feedback->golden.whole);
    free(feedback->watched);
    free(feedback->row_used);
}

void feedback_close(void *memory) {
    struct feedback *feedback = memory;
    if (feedback == NULL)
        return;
    feedback_solver_free(&feedback->solver, feedback->loop.answer);
    feedback_loop_free(&feedback->loop);
    feedback_mains_free(&feedback->mains);
    for (uint32_t t = 0; t < FEEDBACK_TABLES_MAX; ++t)
        feedback_forward_free(&feedback->table[t]);
    free_cycle(feedback);
    free(feedback->input);
    free(feedback->run);
    free(feedback->has_come);
    free(feedback->actuator_column);
    free(feedback->actuator_of);
    free(feedback->actuator);
    feedback_requests_free(&feedback->requests);
    for (uint32_t i = 0; i < FEEDBACK_LEFT; ++i)
        feedback_requests_free(&feedback->left[i]);
    free(feedback->other);
    free(feedback->of_other);
    free(feedback->standing);
    feedback_layout_free(&feedback->layout);
    feedback_configuration_free(&feedback->configuration);
    free(feedback);
}

void feedback_forget_standing(struct feedback *feedback) {
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output)
        if (feedback->actuator_of[output] != UINT32_MAX)
            feedback->loop.setpoint[output] = NAN;
    feedback->rf_setpoint = NAN;
}

static void feedback_forget_all(struct feedback *feedback, struct rm_application_setup const *setup) {
    uint32_t const rows = feedback->layout.rows, outputs = feedback->layout.outputs;
    memset(feedback->watched, 0, rows * sizeof *feedback->watched);
    memset(feedback->row_used, 1, rows);
    memset(feedback->cumulated.squares, 0, rows * sizeof *feedback->cumulated.squares);
    memset(feedback->actuator, 0, feedback->layout.actuators * sizeof *feedback->actuator);
    feedback_cycle_clear(&feedback->cycle);
    feedback->cumulated.count = 0;
    feedback->orbit = (struct feedback_orbit){0};
    feedback->slow_conditions = FEEDBACK_NO_MATRIX; /* until a first cycle has seen to it */
    feedback->saturated = feedback->saturated_for = 0;
    feedback->used_rows = rows;
    feedback->used_columns = feedback->family_columns;
    feedback->was_shadow = false;
    feedback->before = FEEDBACK_OFF;
    feedback->cause_turn = feedback->substituted = feedback->shadow_rms = 0.0;
    feedback->cause_number = feedback->worst_row = feedback->worst_column = -1;
    feedback->excite = (struct feedback_excite){.rate_hz = feedback->rate_hz};
    feedback->injected = UINT32_MAX;
    feedback->mains.scale = 1.0;
    feedback->loop.excitation = (struct feedback_excitation_state){.part = -1};
    memset(feedback->has_come, 0, setup->input_count);
    feedback->arrived = 0;
    feedback->at = UINT64_MAX;
    feedback->passed = 1;
    feedback->held = feedback->partial_for = 0;
    feedback->has_begun = feedback->is_partial = feedback->begins_anew = false;
    feedback->whole_for = FEEDBACK_STABLE_CYCLES;
    feedback->loop.is_clear = false;
    feedback->loop.scale = 0.0;
    memset(feedback->loop.cut, 0, outputs * sizeof *feedback->loop.cut);
    memset(feedback->loop.forward, 0, outputs * sizeof *feedback->loop.forward);
    for (uint32_t i = 0; i < setup->actuator_count; ++i)
        feedback->other[i] = NAN;
    for (uint32_t t = 0; t < FEEDBACK_TABLES_MAX; ++t)
        feedback->table_value[t] = NAN;
    feedback_forget_standing(feedback);
    feedback_mains_forget(&feedback->mains, &feedback->layout);
}

enum rm_code feedback_begin(struct feedback *feedback, struct rm_application_setup const *setup,
                            struct rm_error *error) {
    enum rm_code const code = feedback_inputs_find(&feedback->configuration, setup, feedback->input, error);
    if (code != RM_OK)
        return code;
    struct feedback_configuration const *configuration = &feedback->configuration;
    feedback_forget_all(feedback, setup);
    double const *setting = setup->setting;
    feedback->states = (struct feedback_states){
        .state = FEEDBACK_OFF,
        .reset = setting[setup->setting_at[FEEDBACK_RESET]],
        .timeout = cycles_of(feedback, configuration->watch.return_s + TIMEOUT_S),
        .rearm = configuration->enable_conditions.beam.rearm_s > 0
                     ? cycles_of(feedback, configuration->enable_conditions.beam.rearm_s)
                     : 0,
    };
    feedback->beam = (struct feedback_beam){.least = configuration->enable_conditions.beam.least,
                                            .drop = configuration->enable_conditions.beam.drop,
                                            .return_cycles = cycles_of(feedback, configuration->watch.return_s)};
    for (uint32_t i = 0; i < setup->input_count; ++i)
        feedback->beam.watched |= feedback->input[i].sums > 0;
    feedback->gate = (struct feedback_gate){.cycles = configuration->gate.cycles};
    feedback->is_sent = true;
    feedback_golden_begin(&feedback->golden, setting + setup->setting_at[FEEDBACK_GOLDEN]);
    if (feedback->loop.answer != NULL)
        feedback_product_begin(&feedback->loop.answer->solution->product, feedback->loop.sum);
    return RM_OK;
}
