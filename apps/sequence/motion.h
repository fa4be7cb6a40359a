// SPDX-License-Identifier: Apache-2.0
/** Supplies on their way: what actions have begun and not yet done. The hot path.
 *
 * A motion is an action under way. Its channels are supplies: setpoint = from + delta · share, with one share for all of
 * them in a step. Those of the motions of a state lie behind each other; a motion that is done is taken out, and the last
 * one takes its place.
 */
#ifndef SEQUENCE_MOTION_H
#define SEQUENCE_MOTION_H

#include "law/sine.h"
#include "program.h"

enum {
    /** Most supplies of the application; each is moved by one motion at most. */
    SEQUENCE_CHANNELS_MAX = 1024,
    SEQUENCE_MOTIONS_MAX = SEQUENCE_ACTIONS_MAX * SEQUENCE_DEPTH_MAX,
};

enum sequence_motion_kind {
    SEQUENCE_MOTION_LINEAR,
    SEQUENCE_MOTION_S_CURVE,
    SEQUENCE_MOTION_TABLE,
    SEQUENCE_MOTION_PULSE,
    SEQUENCE_MOTION_SINE,
};

struct sequence_motion {
    struct sequence_sine sine;
    /** Turns until it is done; 1 / these, and of pulse and sine 1 / those until it is at its height. */
    double total_turns;
    double inverse_turns, inverse_rise;
    uint32_t channel, channels;
    /** enum sequence_motion_kind; index of a table */
    uint32_t kind, table;
};

struct sequence_channels {
    double from[SEQUENCE_CHANNELS_MAX];
    double delta[SEQUENCE_CHANNELS_MAX];
    /** Where it stands when the motion is done. */
    double last[SEQUENCE_CHANNELS_MAX];
    uint32_t actuator[SEQUENCE_CHANNELS_MAX];
};

/** Moves the supplies of `count` motions, that begin at `motion`, to where they are so many turns after their state was
 * entered. Returns how many motions are left. */
uint32_t sequence_motions_step(struct sequence_motion *motion, uint32_t count, struct sequence_channels const *channels,
                               struct sequence_table const *tables, uint64_t turns, double *setpoint);

#endif
