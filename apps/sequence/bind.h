// SPDX-License-Identifier: Apache-2.0
/** A program and the application that runs it: groups become supplies, inputs become lanes, and what only they can tell
 * is checked. */
#ifndef SEQUENCE_BIND_H
#define SEQUENCE_BIND_H

#include <ringmaster/application.h>

#include "program.h"

/** An input of the file. */
struct sequence_source {
    /** Index of the application's input, and lane; or of the actuator, and SEQUENCE_NONE. */
    uint32_t index, lane;
};

struct sequence_binding {
    /** [input of the file] */
    struct sequence_source source[SEQUENCE_INPUTS_MAX];
    /** [chart][actuator] whether the sequence, or one that it calls, moves it. */
    bool *uses;
    /** Inputs of the file that an expression has: the others are not looked at. */
    uint32_t used[SEQUENCE_INPUTS_MAX];
    uint32_t used_count;
    uint32_t reserved;
};

/** Binds groups to the application's supplies, looks for input streams, and checks writers and limits by supply. Adds all
 * that is wrong to `errors`. Before the streams are known: in `open`. */
enum rm_code sequence_bind(struct rm_application_setup const *setup, struct sequence_program *program,
                           struct sequence_binding *binding, struct rm_errors *errors);

/** Finds the lanes: in `init`. */
enum rm_code sequence_bind_lanes(struct rm_application_setup const *setup, struct sequence_program const *program,
                                 struct sequence_binding *binding, struct rm_error *error);

#endif
