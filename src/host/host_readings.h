// SPDX-License-Identifier: Apache-2.0
/** Readings: what the application publishes, as parameters.
 *
 * Numbers are written after each step that changes them. The longer an array is, the longer it takes, and the step's
 * thread has little time. So each array is written ten times a second at most, and one of them in a step.
 */
#ifndef RM_HOST_HOST_READINGS_H
#define RM_HOST_HOST_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/parameter.h>

#include "host/host_program.h"

struct rm_host_readings {
    /** [reading] its parameter in the application's segment. */
    struct rm_parameter **parameter;
    /** Values as published, flat like the program's. */
    double *shown;
    /** [reading] TSC when it was written last; 0: never. */
    uint64_t *shown_tsc;
    /** TSC ticks from one writing of an array to the next. */
    uint64_t wait_ticks;
    /** Array that is looked at first, so that all get their turn. */
    uint32_t next;

    bool has_arrays;
};

bool rm_host_readings_allocate(struct rm_host_readings *readings, struct rm_host_program const *program, double tsc_hz);
void rm_host_readings_free(struct rm_host_readings *readings);

/** Writes the first values of all readings. */
void rm_host_readings_begin(struct rm_host_readings *readings, struct rm_host_program const *program);

/** Writes what has changed: all single numbers, and at most one array. */
void rm_host_readings_show(struct rm_host_readings *readings, struct rm_host_program const *program,
                           struct rm_stamp stamp, uint64_t tsc);

#endif
