// SPDX-License-Identifier: Apache-2.0
/** What excite tells and what people set: parameters excite/NAME, and the stream excite/state. Names, units and
 * descriptions stand in names.c. Arrays have an element for each of its supplies, in their order. */
#ifndef EXCITE_NAMES_H
#define EXCITE_NAMES_H

#include <ringmaster/application.h>

/** A position of this size or more: the supply stays where it stood. */
#define EXCITE_STAY 1e29
/** The first value of all positions. */
#define EXCITE_FIRST_POSITION 1e30

enum excite_setting {
    /** run: 1 begins, 0 ends by the ramp. A permission. */
    EXCITE_RUN,
    /** position [supply] */
    EXCITE_POSITION,
    /** rate_s: least duration of a way to another position. */
    EXCITE_RATE_S,
    /** amplitude, hz, phase [supply] */
    EXCITE_AMPLITUDE,
    EXCITE_HZ,
    EXCITE_PHASE,
    /** ramp_s: duration of rise and of fall; seconds: at full amplitude. */
    EXCITE_RAMP_S,
    EXCITE_SECONDS,

    EXCITE_SETTINGS,
};

enum excite_reading {
    /** state: enum excite_state. */
    EXCITE_TOLD_STATE,
    /** begin_turn, full_turn, end_turn: of the run that began last; 0: not yet. */
    EXCITE_BEGIN_TURN,
    EXCITE_FULL_TURN,
    EXCITE_END_TURN,
    /** runs: that have ended. */
    EXCITE_RUNS,
    /** clipped: steps of all runs in which a limit cut a value. */
    EXCITE_CLIPPED,
    /** moving: supplies on their way to a position. */
    EXCITE_MOVING,
    /** standing [supply]: where each is, without its sine. */
    EXCITE_STANDING,

    EXCITE_READINGS,
};

enum excite_state { EXCITE_IDLE, EXCITE_RISING, EXCITE_FULL, EXCITE_FALLING };

extern struct rm_setting const excite_settings[EXCITE_SETTINGS];
extern struct rm_reading const excite_readings[EXCITE_READINGS];
extern struct rm_application_stream const excite_streams[1];

#endif
