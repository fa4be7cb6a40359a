// SPDX-License-Identifier: Apache-2.0
/** Sequences: what a file says, step by step, at the rate of the application. docs/sequences.md says what it does.
 *
 *     open    reads and compiles its file (compile.h), and binds it to supplies and inputs (bind.h)
 *     init    finds the lanes of the inputs
 *     step    one step of what runs (run.h)
 *     work    asks others, and reads their parameters (ask.h)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/errors.h>

#include "ask.h"
#include "bind.h"
#include "compile.h"
#include "names.h"
#include "run.h"

struct sequence_memory {
    struct sequence_file file;
    struct sequence_program program;
    struct sequence_binding binding;
    struct sequence_asks asks;
    /** Number of the outermost sequence that runs; 0: none. What the next init tells of the server that has ended. */
    uint64_t running;
};

/* ── before the first step ── */

static void sequence_close(void *memory) {
    struct sequence_memory *const it = memory;
    sequence_asks_free(&it->asks);
    free(it->binding.uses);
    sequence_program_free(&it->program);
    rm_configuration_free(sequence_keys, &it->file);
    free(it);
}

static enum rm_code sequence_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    struct sequence_memory *const made = calloc(1, sizeof *made);
    struct rm_errors errors = {.count = 0};
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    enum rm_code code = sequence_load(setup->configuration, &made->file, &made->program, NULL, &errors);
    if (code == RM_OK)
        code = sequence_bind(setup, &made->program, &made->binding, &errors);
    if (code != RM_OK)
        code = rm_errors_report(&errors, setup->name, setup->configuration, error);
    else if (!sequence_asks_make(&made->asks, &made->program))
        code = rm_fail(error, RM_E_NO_SPACE, "no memory");
    if (code != RM_OK) {
        sequence_close(made);
        return code;
    }
    *memory = made;
    return RM_OK;
}

/** An array has an element at least, also where the file has none of its kind. */
static uint32_t sequence_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    struct sequence_file const *const file = &((struct sequence_memory const *)setup->memory)->file;
    uint32_t const count = is_reading                        ? file->counters
                           : index == SEQUENCE_SET_VARIABLE  ? file->variables
                           : index == SEQUENCE_SET_PARAMETER ? file->parameters
                                                             : 1;
    return count > 0 ? count : 1;
}

/** No parameter has been read yet, where there is a workspace to read them in. */
static void sequence_first(struct rm_application_setup const *setup, uint32_t setting, double *values) {
    struct sequence_file const *const file = &((struct sequence_memory const *)setup->memory)->file;
    values[0] = setting == SEQUENCE_SET_LOST && setup->workspace != NULL ? file->parameters : 0.0;
    for (uint32_t i = 0; setting == SEQUENCE_SET_VARIABLE && i < file->variables; ++i)
        values[i] = file->variable[i].value;
    for (uint32_t i = 0; setting == SEQUENCE_SET_PARAMETER && i < file->parameters; ++i)
        values[i] = 0.0;
}

static enum rm_code sequence_init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct sequence_run *const run = state;
    struct sequence_memory *const memory = setup->memory;
    run->run_before = setup->setting[setup->setting_at[SEQUENCE_RUN]];
    run->told_of = SEQUENCE_NONE;
    if (memory->running > 0) {
        run->result = SEQUENCE_STOPPED;
        run->cause = SEQUENCE_CAUSE_SERVER;
        run->last = (uint32_t)memory->running;
    }
    memory->running = 0;
    return sequence_bind_lanes(setup, &memory->program, &memory->binding, error);
}

/* ── settings ── */

static bool accept_run(struct sequence_run const *run, struct sequence_memory const *memory,
                       struct rm_application_setup const *setup, double const *setting, struct rm_error *error) {
    double const wanted = setting[setup->setting_at[SEQUENCE_RUN]];
    if (wanted == 0.0 || wanted == run->run_before)
        return true;
    if (wanted != floor(wanted) || wanted > memory->program.charts)
        return rm_fail(error, RM_E_ARGUMENT, "run: found %g, expected 0, or 1 to %u: the number of a sequence", wanted,
                       memory->program.charts) == RM_OK;
    if (run->depth > 0)
        return rm_fail(error, RM_E_ARGUMENT, "run: %s is running; put abort 1, or run 0, first",
                       memory->file.sequence[run->frame[0].chart].name) == RM_OK;
    if (setting[setup->setting_at[SEQUENCE_ABORT]] >= 0.5)
        return rm_fail(error, RM_E_ARGUMENT, "run: abort is 1; put it to 0 first") == RM_OK;
    return true;
}

/** Variables of a value that a sequence has begun with may change while it runs: the next state has them. */
static bool accept_variables(struct sequence_memory const *memory, double const *values, struct rm_error *error) {
    for (uint32_t i = 0; i < memory->file.variables; ++i) {
        struct sequence_variable const *const variable = &memory->file.variable[i];
        char const *const unit = variable->unit != NULL ? variable->unit : "";
        if (!(values[i] >= variable->low && values[i] <= variable->high))
            return rm_fail(error, RM_E_ARGUMENT, "variable[%u], %s: found %g %s, expected %g to %g %s", i,
                           variable->name, values[i], unit, variable->low, variable->high, unit) == RM_OK;
    }
    return true;
}

static bool sequence_accept(struct rm_application_setup const *setup, void const *state, double const *setting,
                            struct rm_error *error) {
    struct sequence_memory const *const memory = setup->memory;
    return accept_run(state, memory, setup, setting, error) &&
           accept_variables(memory, setting + setup->setting_at[SEQUENCE_SET_VARIABLE], error);
}

/* ── a step ── */

static void tell_readings(struct sequence_run const *run, struct sequence_step const *step, double *told) {
    struct sequence_frame const *const top = run->depth > 0 ? &run->frame[run->depth - 1] : NULL;
    double moving = 0.0;
    for (uint32_t f = 0; f < run->depth; ++f)
        moving += run->frame[f].motions;
    told[SEQUENCE_STATE] = top != NULL ? top->node + 1.0 : 0.0;
    told[SEQUENCE_SEQUENCE] = top != NULL ? top->chart + 1.0 : 0.0;
    told[SEQUENCE_DEPTH] = run->depth;
    told[SEQUENCE_STATE_TURNS] = top != NULL ? (double)top->state_turns : 0.0;
    told[SEQUENCE_RESULT] = run->result;
    told[SEQUENCE_CAUSE] = run->cause;
    told[SEQUENCE_CAUSE_TURN] = (double)run->cause_turn;
    told[SEQUENCE_CAUSE_STATE] = run->cause_state;
    told[SEQUENCE_CAUSE_OF] = run->told_of == SEQUENCE_NONE ? -1.0 : run->told_of;
    told[SEQUENCE_ABORTING] = run->is_aborting;
    told[SEQUENCE_MOVING] = moving;
    told[SEQUENCE_TRANSITIONS] = (double)run->transitions;
    told[SEQUENCE_MARKS] = (double)run->marks;
    told[SEQUENCE_RUNS] = (double)run->runs;
    told[SEQUENCE_LAST] = run->last;
    told[SEQUENCE_COST] = run->last > 0 ? step->program->chart[run->last - 1].cost : 0.0;
    told[SEQUENCE_ASKED] = (double)step->asks->asked;
    told[SEQUENCE_ANSWERED] = (double)atomic_load_explicit(&step->asks->granted, memory_order_relaxed);
    memcpy(told + SEQUENCE_TOLD_COUNTER, run->cell + SEQUENCE_CELL_COUNTER,
           step->program->file->counters * sizeof run->cell[0]);
}

static void tell_step(struct sequence_run const *run, struct sequence_step const *step, struct rm_command *command) {
    static enum sequence_reading const lanes[] = {
        SEQUENCE_SEQUENCE, SEQUENCE_STATE,       SEQUENCE_STATE_TURNS, SEQUENCE_DEPTH,  SEQUENCE_RESULT,
        SEQUENCE_CAUSE,    SEQUENCE_TRANSITIONS, SEQUENCE_MARKS,       SEQUENCE_MOVING, SEQUENCE_ABORTING};
    double *const told = command->reading;
    tell_readings(run, step, told);
    for (unsigned lane = 0; lane < sizeof lanes / sizeof lanes[0]; ++lane)
        command->stream[0][lane] = (float)told[lanes[lane]];
}

static enum rm_step_result sequence_step(struct rm_application_setup const *setup, void *state,
                                         struct rm_step const *given, struct rm_command *command) {
    struct sequence_run *const run = state;
    struct sequence_memory *const memory = setup->memory;
    struct sequence_step step = {.setup = setup,
                                 .given = given,
                                 .command = command,
                                 .program = &memory->program,
                                 .binding = &memory->binding,
                                 .asks = &memory->asks};
    sequence_run_step(run, &step);
    memory->running = run->depth > 0 ? run->last : 0;
    command->exchange.asked = memory->asks.asked;
    tell_step(run, &step, command);
    return RM_STEP_SEND;
}

static void sequence_work(struct rm_application_setup const *setup) {
    struct sequence_memory *const memory = setup->memory;
    sequence_asks_work(&memory->asks, setup, &memory->file);
}

/* ── another server ── */

/** Of memory steps change what runs, and how often others were asked. What they were asked is each server's own. */
static size_t sequence_pack(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity) {
    struct sequence_memory const *const memory = setup->memory;
    uint64_t const packed[] = {memory->running, memory->asks.asked};
    (void)state;
    if (bytes != NULL && capacity >= sizeof packed)
        memcpy(bytes, packed, sizeof packed);
    return sizeof packed;
}

static enum rm_code sequence_unpack(struct rm_application_setup const *setup, void *state, void const *bytes,
                                    size_t count, struct rm_error *error) {
    struct sequence_memory *const memory = setup->memory;
    uint64_t packed[2];
    (void)state;
    if (count != sizeof packed)
        return rm_fail(error, RM_E_CONFIG, "%zu bytes, expected %zu", count, sizeof packed);
    memcpy(packed, bytes, sizeof packed);
    memory->running = packed[0];
    memory->asks.asked = packed[1];
    return RM_OK;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .state_bytes = sizeof(struct sequence_run),
    .settings = sequence_settings,
    .setting_count = SEQUENCE_SETTINGS,
    .reading_count = SEQUENCE_READINGS,
    .readings = sequence_readings,
    .streams = sequence_streams,
    .stream_count = 1,
    .init = sequence_init,
    .step = sequence_step,
    .accept = sequence_accept,
    .open = sequence_open,
    .close = sequence_close,
    .length = sequence_length,
    .first = sequence_first,
    .work = sequence_work,
    .pack = sequence_pack,
    .unpack = sequence_unpack,
};
