// SPDX-License-Identifier: Apache-2.0
/** The rows that an application gives in a simulation: a file OUT/NAME.rows for each of its row rings, with a row for
 * each step that gave one, little-endian.
 *
 *     turn        u64
 *     quality     u32
 *     zero        u32
 *     values      f32, as many as the ring is wide; simulation.json says how many, and what they are at
 */
#ifndef RM_SIMULATION_ROWS_H
#define RM_SIMULATION_ROWS_H

#include <stdio.h>

#include <ringmaster/error.h>

#include "host/host_program.h"

struct rm_simulation_rows {
    /** NULL: they are not wanted. */
    struct rm_host_program const *program;
    char const *folder;
    /** [rows of the code]; NULL where the configuration has none. */
    FILE **file;
};

/** Makes the files. RM_E_SYSTEM. */
enum rm_code rm_simulation_rows_open(struct rm_simulation_rows *rows, char const *out,
                                     struct rm_host_program const *program, struct rm_error *error);

/** After `prepare`: those that the step gave. Does nothing where they are not wanted. */
void rm_simulation_rows_put(struct rm_simulation_rows *rows, rm_turn turn);

/** Their part of simulation.json. */
void rm_simulation_rows_print(struct rm_simulation_rows const *rows, FILE *out);

/** Closes the files. RM_E_SYSTEM when something could not be written. */
enum rm_code rm_simulation_rows_close(struct rm_simulation_rows *rows, struct rm_error *error);

#endif
