// SPDX-License-Identifier: Apache-2.0
/** The feedback's own file, as `configuration:` of the application names it; docs/feedback.md has all keys.
 *
 *     matrix: response.csv                # rows BPM readings, columns actuators; matrix.h
 *     golden: golden.csv                  # NAME,nm per row; absent: 0
 *     golden_speed: 100                   # µm/s at which another golden orbit is approached
 *     weights: weights.csv                # NAME,weight of rows and actuators; absent: 1
 *     coupled: false                      # true: one matrix of both planes
 *     per: mode                           # mode or corrector
 *     modes: 0                            # first value of the setting
 *     tikhonov: 0.01                      # first value of the setting
 *     families:
 *       - name: fast
 *         actuators: ["sr/ps/cf_*"]       # names or patterns with *
 *         plant: {bandwidth_hz: 5000, second_hz: 0, delay_us: 150}
 *         proportional: 0.0
 *         integral_hz: 150
 *         predictor: true
 *         resonators: [50, 100, 150]      # of those below; absent: none
 *         unload_to: slow                 # or absent
 *         crossover_hz: 1
 *       - name: slow                      # integral_hz and proportional absent: takes only what is handed over
 *         actuators: ["sr/ps/cs_*"]
 *         plant: {bandwidth_hz: 300, delay_us: 150}
 *     resonators:                         # absent: none
 *       - {hz: 50, width_hz: 0.625, leak_hz: 0.0025}   # absent: these, in proportion to the frequency
 *     mains_hz: 50                        # which of them is measured, when they track
 *     rf: {actuator: sr/rf/frequency, hz: 10, gain: 0.3, slew: 2}   # every 1/hz s; slew in its unit per s
 *     enable_conditions:
 *       beam: {lanes: [sum1, sum2], least: 1e5, drop: 0.5}   # mean of these; drop: lost so much of it in a cycle
 *       bpms: 0.9                         # share of rows that must be in use
 *       actuators: 0.9
 *       saturated: 4                      # so many actuators at a limit are allowed …
 *       saturated_s: 0.5                  # … for so long
 *       initial_error_um: 500
 *       missing: 0.3                      # share of inputs missing in one cycle that holds
 *     watch: {missing_cycles: 3, frozen_cycles: 10, jump_um: 500, invalid_status: 0x0000, return_s: 1}
 *     gate: {input: timing01/raw, lane: flags1, bit: 0, cycles: 30}   # held so long from the bit's rise
 *     feed_forward:
 *       - {input: id01/raw, lane: x1, table: id01.csv}   # columns: the lane's value, then actuators
 *     shadow: {inputs: [c01_a/raw, c01_b/raw]}   # readbacks of another system: first lanes are setpoints, as actuators
 *     soft_start_s: 1
 *
 * Paths are from the file's own folder. `matrix` and `families` must be there, and of a family its name, actuators and
 * plant. Values above are examples; defaults stand in configuration_keys.c and in docs/feedback.md.
 */
#ifndef FEEDBACK_CONFIGURATION_H
#define FEEDBACK_CONFIGURATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/configuration.h>
#include <ringmaster/table.h>

#include "../law/law.h"
#include "planes.h"

enum {
    FEEDBACK_FAMILIES_MAX = 8,
    FEEDBACK_PATTERNS_MAX = 64,
    FEEDBACK_TABLES_MAX = 16,
};

/** Keys of the file, for struct feedback_configuration. */
extern struct rm_key const feedback_keys[];

/** Poles and delay from a family's setpoints to the orbit; second_hz 0: there is no second pole. */
struct feedback_family_plant {
    double bandwidth_hz, second_hz, delay_s;
};

struct feedback_family {
    char *name;
    char **patterns;
    uint32_t pattern_count;
    /** The family has a law of its own. */
    bool acts;

    struct feedback_family_plant plant;
    /** `resonators` names them by these frequencies. */
    struct feedback_tuning tuning;
    double *resonators_hz;
    uint32_t resonators_named;
    /** The family that takes over its DC, and its index; NULL and −1: none does. */
    char *taker;
    int32_t unload_to;

    double crossover_hz;
};

/** A line that families take away. */
struct feedback_resonator {
    double hz, width_hz, leak_hz;
};

struct feedback_rf_configuration {
    char *actuator;
    /** Column of the matrix, or −1: the loop has no RF actuator. */
    int32_t column;

    double hz, gain, slew;
};

struct feedback_beam_condition {
    /** Lanes whose mean tells of beam; without any the beam is not watched. */
    char **lane;
    uint32_t lanes;
    double least, drop;
    /** Time for which a lost beam may come back without a person's reset. 0: none. */
    double rearm_s;
};

struct feedback_enable_limits {
    struct feedback_beam_condition beam;
    /** Shares that must be in use, 0 to 1. */
    double bpms, actuators;

    uint32_t saturated;
    double saturated_s, initial_error_um, missing;
};

struct feedback_watch_configuration {
    /** Cycles until a row that is missing, or frozen, is out. frozen_cycles 0: frozen rows are not looked for. */
    uint32_t missing_cycles, frozen_cycles;

    double jump_um;
    /** Mask of status bits that must be 0. */
    uint32_t invalid_status;
    /** A row is used again after so long without a fault. */
    double return_s;
};

struct feedback_gate_configuration {
    /** `input` NULL: there is no gate. */
    char *input, *lane;

    uint32_t bit, cycles;
};

struct feedback_table {
    char *input, *lane, *path;
};

struct feedback_shadow {
    char **input;
    uint32_t inputs;
};

/** What the design says of correctors and RF. Only `ringmaster feedback matrix twin` reads it, from the file. */
struct feedback_lattice_correctors {
    char *elements, *actuators;
    enum feedback_lattice_plane { FEEDBACK_LATTICE_X, FEEDBACK_LATTICE_Y } plane;
    double urad_per_unit;
};

struct feedback_lattice_rf {
    char *actuator;
    double hz_per_unit;
};

struct feedback_lattice {
    char *bpms, *rows;
    struct feedback_lattice_correctors *correctors;
    uint32_t correctors_count;
    struct feedback_lattice_rf rf;
};

struct feedback_configuration {
    char *path;
    /** Files that it names, as it names them. */
    char *matrix_file, *golden_file, *weights_file;
    /** The response matrix, loaded. */
    struct rm_table matrix;
    /** Arrays of one element per row. */
    double *golden_nm, *row_weight;
    /** Array of one element per column. */
    double *column_weight;

    double golden_speed_um_s;
    bool coupled;
    enum feedback_per { FEEDBACK_PER_MODE, FEEDBACK_PER_CORRECTOR } per;
    uint32_t modes;
    double tikhonov;
    struct feedback_family *family;
    uint32_t family_count;
    struct feedback_resonator *resonator;
    uint32_t resonator_count;
    /** Frequency of the resonator by which the mains are measured. */
    double mains_hz;

    struct feedback_rf_configuration rf;
    struct feedback_enable_limits enable_conditions;
    struct feedback_watch_configuration watch;
    struct feedback_gate_configuration gate;
    struct feedback_table *table;
    uint32_t table_count;
    struct feedback_shadow shadow;
    double soft_start_s;
    struct feedback_lattice lattice;
};

/** Reads the file and all that it names. Errors have file, line and what was expected: all that is wrong with the file,
 * and the first that is wrong with each that it names. */
enum rm_code feedback_configuration_load_all(char const *path, struct feedback_configuration *configuration,
                                             struct rm_errors *errors);

/** The same, with the first error alone. */
enum rm_code feedback_configuration_load(char const *path, struct feedback_configuration *configuration,
                                         struct rm_error *error);
void feedback_configuration_free(struct feedback_configuration *configuration);

/** Judges what the file says without the files that it names, and works out what follows from it. Adds what is wrong to
 * `errors`. */
enum rm_code feedback_configuration_resolve(char const *path, struct feedback_configuration *configuration,
                                            struct rm_errors *errors);

/** Family of each column of the matrix, or −1; the RF's column has none, whatever pattern would find it. RM_E_CONFIG
 * when a pattern finds no actuator, or when two patterns find the same one. */
enum rm_code feedback_families_assign(struct feedback_configuration const *configuration, int32_t *family,
                                      struct rm_error *error);

/** The same, with every pattern that is wrong. `family` has room for the matrix's columns. */
enum rm_code feedback_families_check(struct feedback_configuration const *configuration, int32_t *family,
                                     struct rm_errors *errors);

/** Matrix column of each actuator that the application has. RM_E_CONFIG when an actuator has none, or when a column
 * that a family or the RF takes has no actuator. Other columns need no actuator. */
enum rm_code feedback_actuators_find(struct feedback_configuration const *configuration, char const *const *actuator,
                                     uint32_t actuators, uint32_t *column, struct rm_error *error);

#endif
