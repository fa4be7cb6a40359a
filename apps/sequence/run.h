// SPDX-License-Identifier: Apache-2.0
/** The state of what runs, and one step of it: a function of inputs, settings and this state alone.
 *
 * A frame is a sequence that runs; what it calls stands on it. In a step, in this order:
 *
 *     time passes        that of all frames, by the turns since the last step; none while it is paused
 *     supplies move      those of all frames
 *     it is watched      abort, beam, enable conditions, timeouts, inputs, supplies, requests (watch.h): the first that is
 *                        wrong begins the abort
 *     a way out          of the innermost state: the first whose condition is true; its actions begin (enter.h),
 *                        and supplies move from the next step on
 *
 * An abort ends all motions, and takes the frames from the innermost on: each goes the way of its own abort, and is gone
 * at its end.
 */
#ifndef SEQUENCE_RUN_H
#define SEQUENCE_RUN_H

#include <ringmaster/application.h>

#include "bind.h"
#include "cells.h"
#include "motion.h"
#include "names.h"
#include "program.h"

/** One sequence that runs. */
struct sequence_frame {
    /** Turns since its state was entered, and since it began. */
    uint64_t state_turns, turns;
    /** Longest of the state's waits. */
    double wait_turns;
    uint32_t chart, node;
    /** Its motions and channels, among those of the run. */
    uint32_t motion, motions, channel, channels;
    /** It is on the way of its abort, or at its end. */
    bool is_aborting;
    uint8_t reserved[7];
};

struct sequence_run {
    struct sequence_channels channels;
    struct sequence_motion motion[SEQUENCE_MOTIONS_MAX];
    /** [actuator] where it stood when the outermost sequence began; what it may differ from its command; steps in a row
     * for which it has. */
    double base[SEQUENCE_CHANNELS_MAX];
    double tolerance[SEQUENCE_CHANNELS_MAX];
    uint32_t unfollowed[SEQUENCE_CHANNELS_MAX];
    /** [input of the file] steps in a row for which it was missing. */
    uint32_t missing[SEQUENCE_INPUTS_MAX];
    /** Values of names, numbers and what is worked out: cells.h. */
    double cell[SEQUENCE_CELLS];
    struct sequence_frame frame[SEQUENCE_DEPTH_MAX];
    uint64_t transitions, marks, runs;
    rm_turn turn, cause_turn;
    /** The setting `refused` when the outermost sequence began; and `run` as it was in the last step. */
    double refused, run_before;
    uint32_t depth;
    /** enum sequence_result, enum sequence_cause */
    uint32_t result, cause;
    uint32_t cause_state;
    /** Supply or input of what was found last, and of the cause; NONE. */
    uint32_t cause_of, told_of;
    /** The largest of `missing`. */
    uint32_t most_missing;
    /** Number of the outermost sequence that was begun last. */
    uint32_t last;
    /** `has_unfollowed`: one of `unfollowed` is not 0. */
    bool is_aborting, has_begun, has_unfollowed;
    uint8_t reserved[5];
};

/** What passes between steps and the thread beside. */
struct sequence_asks;

/** One step, for all that it touches. */
struct sequence_step {
    struct rm_application_setup const *setup;
    struct rm_step const *given;
    struct rm_command *command;
    struct sequence_program const *program;
    struct sequence_binding const *binding;
    struct sequence_asks *asks;
};

void sequence_run_step(struct sequence_run *run, struct sequence_step *step);

/** The innermost frame; there is one. */
static inline struct sequence_frame *sequence_top(struct sequence_run *run) { return &run->frame[run->depth - 1]; }

/** Cells of a frame's names: its time, and whether it is done. */
void sequence_see_frame(struct sequence_run *run, struct sequence_step const *step, struct sequence_frame const *frame);

/** Works an expression out. */
static inline double sequence_value_of(struct sequence_run *run, struct sequence_program const *program,
                                       struct sequence_value value) {
    sequence_work_out(program->instruction + value.instruction, value.instructions, run->cell);
    return run->cell[value.cell];
}

/** The value of a setting. */
static inline double sequence_setting(struct sequence_step const *step, enum sequence_setting which) {
    return step->given->setting[step->setup->setting_at[which]];
}

#endif
