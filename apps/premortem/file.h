// SPDX-License-Identifier: Apache-2.0
/** The application's own file: detectors and what they may do. docs/premortem.md has all keys. */
#ifndef PREMORTEM_FILE_H
#define PREMORTEM_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/configuration.h>

enum {
    /** Most detectors: each has a lane of the stream `levels`. */
    PREMORTEM_DETECTORS_MAX = 12,
    /** Most actions. */
    PREMORTEM_ACTIONS_MAX = 16,
};

/** An action has exactly one of `permit`, `supply` and `parameter`. */
struct premortem_action {
    char *name;
    /** Supply whose setpoint of 1 is the permit. */
    char *permit;
    /** Supply that goes to `value`, and back when the alarm is reset. */
    char *supply;
    /** Parameter of another owner that is requested to be `value`. */
    char *parameter;
    /** In the unit of the supply, or of the parameter. NaN with a permit. */
    double value;
};

/** In the order of the words in the file. */
enum premortem_kind {
    PREMORTEM_RISE,
    PREMORTEM_RUNAWAY,
    PREMORTEM_EXCURSION,
    PREMORTEM_GROWTH,
    PREMORTEM_DRIFT,
};

struct premortem_plan {
    char *name;
    /** enum premortem_kind */
    uint32_t kind;
    /** Patterns of INSTRUMENT/LANE. */
    char **signal;
    uint32_t signals;
    /** Of the level; law/ has its unit for each kind. */
    double threshold;
    /** Share of the threshold at which it warns. */
    double warning;
    /** Records in a row that must be over. */
    uint32_t confirm;
    /** Names of actions. */
    char **act;
    uint32_t acts;
    /** L and S of law/, in steps. */
    uint32_t steps, slow_steps;
    /** Records of the very same value that make a signal bad; 0: not looked for. */
    uint32_t frozen_steps;
    /** Least share of its signals that must be good. */
    double good;

    /* One kind each. */

    /** enum premortem_distance */
    uint32_t distance;
    double ahead_steps;
    char *golden_file;
    double circle;
    uint32_t memory_windows;
    double floor, band_low_hz, band_high_hz;
    double low, high;

    /* What the file's check makes of it. */

    /** Bits: actions. */
    uint32_t actions;
};

struct premortem_file {
    struct premortem_action *action;
    uint32_t actions;
    struct premortem_plan *detector;
    uint32_t detectors;
    /** Longest mask. */
    double mask_most_s;
};

extern struct rm_key const premortem_keys[];

/** What keys cannot judge, for rm_configuration_load: `values` is a struct premortem_file. */
enum rm_code premortem_file_check(char const *path, void *values, struct rm_errors *errors);

#endif
