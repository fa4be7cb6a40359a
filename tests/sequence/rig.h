// SPDX-License-Identifier: Apache-2.0
/** For tests of the application sequence: a file of its own, four supplies that obey within a step, and one input. For
 * cmocka: what goes wrong fails the test that runs. */
#ifndef TEST_SEQUENCE_RIG_H
#define TEST_SEQUENCE_RIG_H

#include <stdbool.h>

#include "host/host_program.h"

enum { RIG_INPUTS = 1, RIG_ACTUATORS = 4, RIG_PERIOD = 100 };

/** Turns per second: a step is 0.1 ms. */
#define RIG_RATE_HZ 1e6

struct sequence_rig {
    struct rm_stream stream;
    struct rm_record record[RIG_INPUTS];
    struct rm_host_setup setup;
    struct rm_host_program *program;
    rm_turn turn;
    double x1;
    char file[64];
    bool is_missing[RIG_INPUTS];
    /** Supply that stands where it stood, whatever it is sent; RIG_ACTUATORS: none. */
    uint32_t tripped;
};

/** The rig has three supplies a/1 … a/3 of −10 to 10 A with a slew of 1000 A/s, that is 0.1 A a step, and b of −1 to 1;
 * they stand at 1, 2, 3 and 0.5. The input is bpm01/raw with the lanes x1 and y1. */
void rig_set_up(struct sequence_rig *rig, char const *code);
void rig_tear_down(struct sequence_rig *rig);

/** Begins with a file. What it refuses fails the test. */
void rig_begin(struct sequence_rig *rig, char const *text);

/** Opens a file that is to be refused; all that is told is in `told`. */
void rig_refused(struct sequence_rig *rig, char const *text, char const *words);

bool rig_set(struct sequence_rig *rig, char const *name, uint32_t first, double value);
double rig_reading(struct sequence_rig const *rig, char const *name);

/** One step, `skipped` periods behind the last but one. */
void rig_step_behind(struct sequence_rig *rig, uint32_t skipped);
void rig_steps(struct sequence_rig *rig, unsigned count);

/** Puts `run` to it, and makes the step in which it begins. */
void rig_run(struct sequence_rig *rig, double number);

/** Steps until nothing runs; fails after `most`. Returns how many. */
unsigned rig_finish(struct sequence_rig *rig, unsigned most);

double rig_setpoint(struct sequence_rig const *rig, uint32_t actuator);

#endif
