// SPDX-License-Identifier: Apache-2.0
/** The feedback's file as libcyaml gives it: what is not there is NULL. Only configuration*.c know it. */
#ifndef FEEDBACK_CONFIGURATION_FILE_H
#define FEEDBACK_CONFIGURATION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cyaml/cyaml.h>

#include "base/errors.h"
#include "configuration.h"

struct feedback_file_plant {
    double *bandwidth_hz, *second_hz, *delay_us;
};

struct feedback_file_family {
    char *name;
    char **actuators;
    uint32_t actuators_count;
    struct feedback_file_plant plant;
    double *proportional, *integral_hz;
    bool *predictor;
    double *resonators;
    uint32_t resonators_count;
    char *unload_to;
    double *crossover_hz;
};

struct feedback_file_resonator {
    double *hz, *width_hz, *leak_hz;
};

struct feedback_file_rf {
    char *actuator;
    double *hz, *gain, *slew;
};

struct feedback_file_beam {
    char **lanes;
    uint32_t lanes_count;
    double *least, *drop, *rearm_s;
};

struct feedback_file_enable_conditions {
    struct feedback_file_beam *beam;
    double *bpms, *actuators;
    uint32_t *saturated;
    double *saturated_s, *initial_error_um, *missing;
};

struct feedback_file_watch {
    uint32_t *missing_cycles, *frozen_cycles;
    double *jump_um;
    uint32_t *invalid_status;
    double *return_s;
};

struct feedback_file_gate {
    char *input, *lane;
    uint32_t *bit, *cycles;
};

struct feedback_file_table {
    char *input, *lane, *table;
};

struct feedback_file_shadow {
    char **inputs;
    uint32_t inputs_count;
};

/** What the design says of the correctors. Only `ringmaster feedback matrix twin` reads it. */
struct feedback_file_correctors {
    char *elements;
    enum feedback_file_plane { FEEDBACK_FILE_X, FEEDBACK_FILE_Y } plane;
    char *actuators;
    double *urad_per_unit;
};

struct feedback_file_lattice_rf {
    char *actuator;
    double *hz_per_unit;
};

struct feedback_file_lattice {
    char *bpms;
    char *rows;
    struct feedback_file_correctors *correctors;
    uint32_t correctors_count;
    struct feedback_file_lattice_rf *rf;
};

enum feedback_file_per { FEEDBACK_PER_MODE, FEEDBACK_PER_CORRECTOR };

struct feedback_file {
    char *matrix, *golden, *weights;
    double *golden_speed;
    bool *coupled;
    enum feedback_file_per *per;
    uint32_t *modes;
    double *tikhonov;
    struct feedback_file_family *families;
    uint32_t families_count;
    struct feedback_file_resonator *resonators;
    uint32_t resonators_count;
    double *mains_hz;
    struct feedback_file_rf *rf;
    struct feedback_file_enable_conditions *enable_conditions;
    struct feedback_file_watch *watch;
    struct feedback_file_gate *gate;
    struct feedback_file_table *feed_forward;
    uint32_t feed_forward_count;
    struct feedback_file_shadow *shadow;
    double *soft_start_s;
    struct feedback_file_lattice *lattice;
};

extern cyaml_schema_value_t const feedback_schema;

/** Adds "FILE:LINE:COLUMN: KEY: text" to the errors, at the value of the key ("families[1].plant.delay_us"), or of the
 * nearest that is there above it. Returns RM_E_CONFIG. */
enum rm_code feedback_refuse(struct rm_errors *errors, char const *path, char const *key, char const *format, ...)
    __attribute__((format(printf, 4, 5)));

/** `name` in the folder of `path`, unless it begins with a slash; to be freed. NULL without memory. */
char *feedback_beside(char const *path, char const *name);

/** All that the file says without the files that it names, which are read afterwards. All that is wrong is added to
 * `errors`; what was allocated is in `configuration`, to be freed. */
enum rm_code feedback_configuration_resolve(char const *path, struct feedback_file const *file,
                                            struct feedback_configuration *configuration, struct rm_errors *errors);

/** As feedback_families_assign, with every pattern that is wrong. `family` has room for the matrix's columns. */
enum rm_code feedback_families_check(struct feedback_configuration const *configuration, int32_t *family,
                                     struct rm_errors *errors);

#endif
