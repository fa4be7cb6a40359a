// SPDX-License-Identifier: Apache-2.0
/** One application without its surroundings: the loaded code, all that it is told, and all that it says.
 *
 *     struct rm_host_program *program;
 *     if (rm_host_program_open(&setup, &program, &error) != RM_OK) …
 *     … program->sent[i], where the supplies stand; program->input[i], the streams' headers, or NULL
 *     rm_host_program_init(program, &error);
 *     each cycle:
 *         … program->sent[i], what the guard sent last
 *         rm_host_program_expect(program, NULL);
 *         rm_host_program_arrive(program, input, &record) …      // each as it comes, in any order
 *         if (rm_host_program_step(program, turn, records, is_missing, missing) == RM_STEP_SEND)
 *             … program->command.setpoint[i]
 *         rm_host_program_prepare(program);
 *         … program->reading[i], program->stream[i][lane]
 *     rm_host_program_close(program);
 *
 * It knows of no segment, no server and no clock: the host (host.h) runs it beside a server, and the simulation in
 * simulated time. What it holds is for who runs it to read; only `sent` and `input` are for him to write, and `setting`
 * by rm_host_program_set alone.
 */
#ifndef RM_HOST_HOST_PROGRAM_H
#define RM_HOST_HOST_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/error.h>

#include "host/host.h"
#include "host/host_code.h"

struct rm_host_program {
    /** A copy, with all it points to. */
    struct rm_host_setup setup;

    struct rm_host_code code;
    struct rm_application_setup passed;
    /** Of each input, or NULL. */
    struct rm_stream const **input;

    /* Settings and readings lie flat, one after the other, arrays whole. */

    /** Of each in its list. */
    uint32_t *setting_at, *setting_length;

    uint32_t *reading_at, *reading_length;
    /** Of all together. */
    uint32_t setting_values, reading_values;
    /** In force. */
    double *setting;
    /** Told last. */
    double *reading;
    /** Of each, its last record. */
    float (*stream)[RM_LANES];

    /** Per actuator: what the guard sent last; NaN while nobody knows. */
    double *sent;

    struct rm_step given;
    /** `setpoint` is where rm_host_program_expect was told to put it. */
    struct rm_command command;
    /** Since init. */
    uint64_t steps;

    /* Its own. */
    char const **actuator;
    double *low, *high, *slew;
    /** The command of who has no better place for it. */
    double *wanted;

    void *state, *memory;
    /** `open` was called and is to be paid back by `close`. */
    bool opened;
};

/** Loads the code, calls its `open`, asks for the lengths of its arrays, and settles the first values of its settings:
 * the code's, those of `first`, the configuration's; `accept` is asked about them. Of `setup` the workspace, deadline
 * and what is said need not be there. RM_E_CONFIG when code and configuration do not fit. */
enum rm_code rm_host_program_open(struct rm_host_setup const *setup, struct rm_host_program **program,
                                  struct rm_error *error);

/** Begins anew: a state of zeros, commands that are what was sent, no steps; `init` is called. */
enum rm_code rm_host_program_init(struct rm_host_program *program, struct rm_error *error);

/** Makes ready for the next step, before its inputs come. `setpoint`, or NULL for a place of the program's own, is
 * where the command will lie: it is filled with the last command, and with `sent` where that was no number. */
void rm_host_program_expect(struct rm_host_program *program, double *setpoint);

/** A record of the turn whose step is next. Once for each input at most; nothing where the code has no `arrive`. */
static inline void rm_host_program_arrive(struct rm_host_program *program, uint32_t input,
                                          struct rm_record const *record) {
    if (program->code.it->arrive != NULL)
        program->code.it->arrive(&program->passed, program->state, input, record);
}

/** The step of `turn`. `record` and `is_missing` are per input, and stay until rm_host_program_prepare. */
static inline enum rm_step_result rm_host_program_step(struct rm_host_program *program, rm_turn turn,
                                                       struct rm_record const *record, bool const *is_missing,
                                                       uint32_t missing) {
    program->given.turn = turn;
    program->given.steps = program->steps;
    program->given.record = record;
    program->given.is_missing = is_missing;
    program->given.missing = missing;
    return program->code.it->step(&program->passed, program->state, &program->given, &program->command);
}

/** After each step, once its vector is on its way. */
void rm_host_program_prepare(struct rm_host_program *program);

/** For the thread beside: nothing where the code has no `work`. */
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

/** Calls `close`, and frees all. Nobody is in `work`. NULL is allowed. */
void rm_host_program_close(struct rm_host_program *program);

#endif
