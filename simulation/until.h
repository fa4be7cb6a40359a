// SPDX-License-Identifier: Apache-2.0
/** When a simulation ends by itself: some time after a reading of the application has reached a value.
 *
 *     --until edges:2         when the reading `edges` is 2 or more
 *     --until edges:2:0.1     0.1 s after that
 */
#ifndef RM_SIMULATION_UNTIL_H
#define RM_SIMULATION_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "host/host_program.h"

struct rm_simulation_until {
    double least;
    /** Of the reading, or of its first element. */
    uint32_t at;
    bool is_set;
    bool has_come;
    /** Cycles from there to the end. */
    uint64_t left;
};

/** `text` is READING:VALUE or READING:VALUE:SECONDS; NULL: it never ends by itself. RM_E_ARGUMENT. */
enum rm_code rm_simulation_until_open(struct rm_simulation_until *until, char const *text,
                                      struct rm_host_program const *program, double rate_hz, struct rm_error *error);

/** After each cycle: is it over? */
bool rm_simulation_until_over(struct rm_simulation_until *until, struct rm_host_program const *program);

#endif
