// SPDX-License-Identifier: Apache-2.0
/** Readings: what the application tells, shown to all as parameters.
 *
 * Numbers are written after each step that changes them. An array takes the longer the longer it is, and the step's
 * thread has little time: so each is written ten times a second at most, and one of them in a step.
 */
#ifndef RM_HOST_HOST_READINGS_H
#define RM_HOST_HOST_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/parameter.h>

#include "host/host_program.h"

struct rm_host_readings {
    /** Of each, in the application's segment. */
    struct rm_parameter **parameter;
    /** Flat, as the program's. */
    double *shown;
    /** Of each, when it was written last; 0: never. */
    uint64_t *shown_tsc;
    /** From one writing of an array to the next. */
    uint64_t wait_ticks;
    /** Which is looked at first: all arrays get their turn. */
    uint32_t next;

    bool has_arrays;
};

bool rm_host_readings_allocate(struct rm_host_readings *readings, struct rm_host_program const *program, double tsc_hz);
void rm_host_readings_free(struct rm_host_readings *readings);

/** Writes all as they begin. */
void rm_host_readings_begin(struct rm_host_readings *readings, struct rm_host_program const *program);

/** Writes what has changed: all numbers, and at most one array. */
void rm_host_readings_show(struct rm_host_readings *readings, struct rm_host_program const *program,
                           struct rm_stamp stamp, uint64_t tsc);

#endif
