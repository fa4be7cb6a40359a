// SPDX-License-Identifier: Apache-2.0
/** What the application knows: its file and what passes between its threads, which stay; and its state. */
#ifndef PREMORTEM_PREMORTEM_H
#define PREMORTEM_PREMORTEM_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/table.h>

#include "actions.h"
#include "ask.h"
#include "detector.h"
#include "file.h"
#include "signals.h"

/** From open to close. */
struct premortem_memory {
    struct premortem_file file;
    /** [detector] its golden orbit; without one of no rows. */
    struct rm_table golden[PREMORTEM_DETECTORS_MAX];
    struct premortem_asks asks;
};

/** From one init to the next; zeroed before. */
struct premortem {
    struct premortem_detector detector[PREMORTEM_DETECTORS_MAX];
    struct premortem_signals signals;
    struct premortem_outputs outputs;

    double steps_per_second;
    /** Turns of the longest mask. */
    double mask_most_turns;
    /** Settings as they were in the last step. */
    double reset, learn;
    bool was_armed, has_begun;
    /** Turn of the last step. */
    rm_turn turn;

    uint64_t alarms, acted, shadowed;
    /** Of the last alarm; −1 before the first. */
    double alarm_detector, alarm_turn;
};

/** Detectors whose alarm was not reset. */
uint32_t premortem_latched(struct premortem const *premortem, struct premortem_file const *file);

/** Writes readings and stream. */
void premortem_tell(struct premortem const *premortem, struct rm_application_setup const *setup,
                    struct rm_command *command);

#endif
