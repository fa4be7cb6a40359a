// SPDX-License-Identifier: Apache-2.0
/** The application's own file. docs/tune-feedback.md explains every key. */
#ifndef TUNEFEEDBACK_FILE_H
#define TUNEFEEDBACK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/configuration.h>

#include "law/integrator.h"
#include "law/margins.h"
#include "law/resonances.h"

/** Quadrupoles that move together. */
struct tunefeedback_family {
    char *name;
    /** Names or patterns. */
    char **supply;
    uint32_t supplies;
    double excursion_a, step_a;
    /** For `ringmaster tunefeedback matrix` alone: elements of the lattice, and by which part of itself an ampere changes
     * their gradient. */
    char *elements;
    double strength_per_a;
};

/** From a setpoint to the field of the quadrupoles. */
struct tunefeedback_lag {
    /** Of supplies and vacuum chamber; 0: they follow at once. */
    double bandwidth_hz;
    /** From the setpoint vector to the supplies, beside the step that it takes. */
    double delay_s;
};

struct tunefeedback_enable {
    /** So many of the last tunes must be good. */
    uint32_t trusted, last;
    /** Largest standard deviation of a good tune, and its largest distance from where it is to be. */
    double sigma, far;
    /** How long it holds before it opens; how long all must be there before it goes on; how long it may push against a
     * limit. */
    double hold_s, return_s, limit_s;
};

struct tunefeedback_file {
    /** The input. */
    char *tune;
    uint32_t window_turns;
    /** enum tune_window_kind */
    uint32_t window;
    /** x and y; none: what there is when the loop is closed. */
    double *target;
    uint32_t targets;
    char *matrix;
    struct tunefeedback_family *family;
    uint32_t families;
    double integral_hz, deadband, target_speed_per_s;
    struct tunefeedback_lag plant;
    struct tunefeedback_enable enable;
    struct tunefeedback_resonances resonances;

    /** What the check has made of the matrix. [family][plane] */
    double inverse[TUNEFEEDBACK_FAMILIES][TUNEFEEDBACK_PLANES];
};

extern struct rm_key const tunefeedback_keys[];

/** What keys cannot judge, for rm_configuration_load: `values` is a struct tunefeedback_file. Reads the matrix. */
enum rm_code tunefeedback_file_check(char const *path, void *values, struct rm_errors *errors);

#endif
