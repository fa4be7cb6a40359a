// SPDX-License-Identifier: Apache-2.0
/** simulation.json, and the events as a file that --events takes. */
#ifndef RM_SIMULATION_SUMMARY_H
#define RM_SIMULATION_SUMMARY_H

#include <stdio.h>

#include <ringmaster/error.h>

#include "simulation.h"

/** Prints a JSON object: what was simulated, and where which number lies in the files. */
void rm_summary_print(struct rm_simulation const *simulation, FILE *out);

/** Writes simulation.json, events.yaml, and arrays.f64: all readings as they were at the end. */
enum rm_code rm_summary_write(struct rm_simulation const *simulation, struct rm_error *error);

#endif
