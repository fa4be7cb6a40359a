// SPDX-License-Identifier: Apache-2.0
/** What the tune feedback tells and what people set: parameters tunefeedback/NAME, and the stream tunefeedback/loop.
 * Names, units and descriptions stand in names.c; `ringmaster tunefeedback` knows them by name. */
#ifndef TUNEFEEDBACK_NAMES_H
#define TUNEFEEDBACK_NAMES_H

#include <ringmaster/application.h>

enum tunefeedback_setting {
    /** closed: 1 closes the loop. A permission. */
    TUNEFEEDBACK_CLOSED,
    /** target [plane]: 0 is the tune that there is when the loop is closed. */
    TUNEFEEDBACK_TARGET,
    /** gain: of the whole loop. */
    TUNEFEEDBACK_GAIN,

    TUNEFEEDBACK_SETTINGS,
};

enum tunefeedback_reading {
    /** state: enum tunefeedback_state. */
    TUNEFEEDBACK_STATE,
    /** missing: bits of enum tunefeedback_condition, of this step. */
    TUNEFEEDBACK_MISSING,
    /** cause: those for which it last left ON by itself. */
    TUNEFEEDBACK_CAUSE,
    /** cause_turn: when that was. */
    TUNEFEEDBACK_CAUSE_TURN,
    /** wanted_x, wanted_y: where the tunes are to be now, on the way to the target. */
    TUNEFEEDBACK_WANTED_X,
    TUNEFEEDBACK_WANTED_Y,
    /** error_x, error_y: wanted less measured. */
    TUNEFEEDBACK_ERROR_X,
    TUNEFEEDBACK_ERROR_Y,
    /** offset_1, offset_2, A: by how much each family stands off from where it was when the loop was closed. */
    TUNEFEEDBACK_OFFSET_1,
    TUNEFEEDBACK_OFFSET_2,
    /** trusted: how many of the last tunes are good. The stream has a lane for each of those so far, but for cause and
     * cause_turn. */
    TUNEFEEDBACK_TRUSTED,
    /** gain_margin, phase_margin, sensitivity_peak, sensitivity_hz, delay: of the loop at this gain (law/margins.h). */
    TUNEFEEDBACK_GAIN_MARGIN,
    TUNEFEEDBACK_PHASE_MARGIN,
    TUNEFEEDBACK_SENSITIVITY_PEAK,
    TUNEFEEDBACK_SENSITIVITY_HZ,
    TUNEFEEDBACK_DELAY,

    TUNEFEEDBACK_READINGS,
};

enum tunefeedback_state {
    /** Not closed, and an enable condition is missing. */
    TUNEFEEDBACK_OFF,
    /** Not closed, and could be. */
    TUNEFEEDBACK_READY,
    TUNEFEEDBACK_ON,
    /** Closed, and supplies stay where they are: an enable condition is missing, or has just come back. */
    TUNEFEEDBACK_HOLD,
    /** One was missing for too long. Ends when `closed` is put to 0. */
    TUNEFEEDBACK_FAULT,
};

/** Enable conditions, as bits: what is missing. */
enum tunefeedback_condition {
    /** The record of the tune did not come. */
    TUNEFEEDBACK_NO_TUNE = 1 << 0,
    TUNEFEEDBACK_NO_BEAM = 1 << 1,
    /** Too few of the last tunes are to be trusted. */
    TUNEFEEDBACK_QUALITY = 1 << 2,
    /** Too few of them have a standard deviation below the limit. */
    TUNEFEEDBACK_SIGMA = 1 << 3,
    /** Too few of them are near where the tune is to be. */
    TUNEFEEDBACK_FAR = 1 << 4,
    /** A supply is not where it was sent to. */
    TUNEFEEDBACK_SUPPLIES = 1 << 5,
    /** A family has reached its excursion, or a supply its limit, and the tune is still off. */
    TUNEFEEDBACK_LIMIT = 1 << 6,
};

extern struct rm_setting const tunefeedback_settings[TUNEFEEDBACK_SETTINGS];
extern struct rm_reading const tunefeedback_readings[TUNEFEEDBACK_READINGS];
extern struct rm_application_stream const tunefeedback_streams[1];

#endif
