// SPDX-License-Identifier: Apache-2.0
/** One application without its surroundings: the loaded code, its inputs and its outputs.
 *
 *     struct rm_host_program *program;
 *     if (rm_host_program_open(&setup, &program, &error) != RM_OK) …
 *     … program->sent[i], where the supplies stand; program->input[i], the streams' headers, or NULL
 *     rm_host_program_init(program, &error);
 *     each cycle:
 *         … program->sent[i], what the guard sent last
 *         rm_host_program_expect(program, NULL);                 // and rm_host_program_follow, if `sent` changes again
 *         rm_host_program_arrive(program, input, &record) …      // each as it comes, in any order
 *         if (rm_host_program_step(program, turn, records, is_missing, missing) == RM_STEP_SEND)
 *             … program->command.setpoint[i]
 *         rm_host_program_prepare(program);
 *         … program->reading[i], program->stream[i][lane], program->rows.row[i]
 *     rm_host_program_close(program);
 *
 * It knows of no segment, no server and no clock: the host (host.h) runs it beside a server, and the simulation in
 * simulated time. The caller may read its members; it writes only `sent` and `input`, and `setting` only by
 * rm_host_program_set.
 */
#ifndef RM_HOST_HOST_PROGRAM_H
#define RM_HOST_HOST_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/error.h>

#include "host/host.h"
#include "host/host_code.h"
#include "host/host_rows.h"
#include "host/host_runs.h"

struct rm_host_program {
    /** A copy, with all it points to. */
    struct rm_host_setup setup;

    struct rm_host_code code;
    struct rm_application_setup passed;
    /** [input] header of the stream, or NULL. */
    struct rm_stream const **input;

    /* Settings and readings lie flat, one after the other, arrays whole. */

    /** Place of each setting or reading in its list, and its length. */
    uint32_t *setting_at, *setting_length;

    uint32_t *reading_at, *reading_length;
    /** Number of values in all settings, and in all readings. */
    uint32_t setting_values, reading_values;
    /** Values that are in force. */
    double *setting;
    /** Values as published last. */
    double *reading;
    /** [stream] its last record. */
    float (*stream)[RM_LANES];
    /** [stream] turns from what a record is of to the step. */
    double *delay;

    /** Rows of the code, and those of a step. */
    struct rm_host_rows rows;

    /** [actuator] what the guard sent last; NaN while that is unknown. */
    double *sent;

    struct rm_step given;
    /** `setpoint` is where rm_host_program_expect was told to put it. */
    struct rm_command command;
    /** Steps since init. */
    uint64_t steps;

    /* Its own. */
    char const **actuator;
    double *low, *high, *slew;
    /** Room for the command where the caller gives no other place. */
    double *wanted;
    /** [actuator] the next command comes with what was sent: the last one was no number, or there was none. */
    bool *unset;
    bool has_unset;
    /** There was a step since init. */
    bool has_stepped;
    /** The next command was prepared: `unset` is of it. */
    bool is_expected;

    void *state, *memory;
    /** `open` was called, so `close` must be. */
    bool opened;
};

/** Loads the code, calls its `open`, asks for the lengths of its arrays, and determines the first values of its
 * settings: the code's, those of `first`, the configuration's; `accept` is asked about them. Workspace, deadline and
 * `say` of `setup` may be absent. RM_E_CONFIG when code and configuration do not fit. */
enum rm_code rm_host_program_open(struct rm_host_setup const *setup, struct rm_host_program **program,
                                  struct rm_error *error);

/** Whether the code takes an input with a record every `period` turns: its own period, or with `takes_runs` one that
 * divides it. RM_E_CONFIG names the input. */
enum rm_code rm_host_program_takes(struct rm_host_program const *program, uint32_t input, uint64_t period,
                                   struct rm_error *error);

/** Begins anew: the state is zeroed, commands are what was sent, no steps were made; `init` is called. */
enum rm_code rm_host_program_init(struct rm_host_program *program, struct rm_error *error);

/** Prepares the next step, before its inputs come. The command will lie at `setpoint`, or if that is NULL at a place
 * of the program's own. It is filled with the last command, and with `sent` before the first step and where the last
 * command was not a number. */
void rm_host_program_expect(struct rm_host_program *program, double *setpoint);

/** `sent` has changed once more: so does the next command, where it comes with that. */
static inline void rm_host_program_follow(struct rm_host_program *program) {
    if (!program->has_unset)
        return;
    for (uint32_t i = 0; i < program->setup.actuator_count; ++i)
        if (program->unset[i])
            program->command.setpoint[i] = program->sent[i];
}

/** Hands in a record of the turn whose step is next, at most once for each input. Does nothing where the code has no
 * `arrive`. */
static inline void rm_host_program_arrive(struct rm_host_program *program, uint32_t input,
                                          struct rm_record const *record) {
    if (program->code.it->arrive != NULL)
        program->code.it->arrive(&program->passed, program->state, input, record);
}

/** Hands in the runs of the turn whose step is next, of a code that takes them; they stay valid until
 * rm_host_program_prepare. */
static inline void rm_host_program_give_runs(struct rm_host_program *program, struct rm_host_runs const *runs) {
    program->given.run = runs->run;
    program->given.run_turns = rm_host_runs_turns(runs);
}

/** Makes the step of `turn`. `record` and `is_missing` are per input, and stay valid until rm_host_program_prepare. */
static inline enum rm_step_result rm_host_program_step(struct rm_host_program *program, rm_turn turn,
                                                       struct rm_record const *record, bool const *is_missing,
                                                       uint32_t missing) {
    program->given.turn = turn;
    program->given.steps = program->steps;
    program->given.record = record;
    program->given.is_missing = is_missing;
    program->given.missing = missing;
    program->has_stepped = true;
    program->is_expected = false;
    rm_host_rows_expect(&program->rows, turn);
    return program->code.it->step(&program->passed, program->state, &program->given, &program->command);
}

/** Call it after each step, once its vector is on its way. */
void rm_host_program_prepare(struct rm_host_program *program);

/** For the thread beside: calls `work`. Does nothing where the code has none. */
static inline void rm_host_program_work(struct rm_host_program const *program) {
    if (program->code.it->work != NULL)
        program->code.it->work(&program->passed);
}

/** The setting's number by its name, or the settings' count. */
uint32_t rm_host_program_find(struct rm_host_program const *program, char const *setting);

/** Between two steps: sets elements `first` and following of a setting, if they are within its limits and the code
 * accepts them. */
enum rm_code rm_host_program_set(struct rm_host_program *program, char const *setting, uint32_t first,
                                 double const *values, uint32_t count, struct rm_error *error);

/** Calls `close`, and frees all. No thread may be in `work`. NULL is allowed. */
void rm_host_program_close(struct rm_host_program *program);

#endif
