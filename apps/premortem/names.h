// SPDX-License-Identifier: Apache-2.0
/** Parameters premortem/NAME: what people set, and what it publishes. Those marked [detector] have an element for each
 * detector, in the order of the file. Names, units and descriptions stand in names.c. */
#ifndef PREMORTEM_NAMES_H
#define PREMORTEM_NAMES_H

#include <ringmaster/application.h>

enum premortem_setting {
    /** arm: 1, alarms act; 0, shadow: they only say what they would have done. A permission. */
    PREMORTEM_ARM,
    /** reset: another value ends all alarms, and gives the permit. */
    PREMORTEM_RESET,
    /** learn: another value begins all detectors anew. */
    PREMORTEM_LEARN,
    /** threshold [detector]: level of an alarm. */
    PREMORTEM_THRESHOLD,
    /** masked_until [detector]: turn before which it does not alarm. */
    PREMORTEM_MASKED_UNTIL,

    PREMORTEM_SETTINGS,
};

enum premortem_reading {
    /** state [detector]: enum premortem_state; minor from 3 (it warns) on, major at 5 (alarm). */
    PREMORTEM_STATE,
    /** level [detector], in the unit of its kind. */
    PREMORTEM_LEVEL,
    /** crossed [detector]: turn that crossed of its last alarm; -1: none. */
    PREMORTEM_CROSSED,
    /** count [detector]: its alarms. */
    PREMORTEM_COUNT,
    /** masked [detector]: alarms that a mask has kept from being one. */
    PREMORTEM_MASKED_COUNT,
    /** bad [detector]: records in which too few of its signals were good. */
    PREMORTEM_BAD,
    /** delay [detector], turns: of its filter, beyond that of its inputs. */
    PREMORTEM_DELAY,
    /** permit: 0 withdrawn, 1 given and not sent yet, 2 given. */
    PREMORTEM_PERMIT,
    /** permit_lost: how often it ended because the guard had not sent it. */
    PREMORTEM_PERMIT_LOST,
    /** acted: actions that alarms have done. */
    PREMORTEM_ACTED,
    /** shadowed: actions that they would have done while it was not armed. */
    PREMORTEM_SHADOWED,
    /** asked: requests that were granted. */
    PREMORTEM_ASKED,
    /** refused: requests that were refused, or not answered. */
    PREMORTEM_REFUSED,
    /** latched: detectors whose alarm was not reset; major from 1 on. */
    PREMORTEM_LATCHED,
    /** alarm_detector: index of the detector of the last alarm; -1: none. */
    PREMORTEM_ALARM_DETECTOR,
    /** alarm_turn: turn that crossed of the last alarm; -1: none. */
    PREMORTEM_ALARM_TURN,
    /** alarms: all of them. Written after the two above, so who sees it change finds them. */
    PREMORTEM_ALARMS,

    PREMORTEM_READINGS,
};

enum premortem_stream {
    /** levels: the level of each detector, NaN where it has none. */
    PREMORTEM_LEVELS,

    PREMORTEM_STREAMS,
};

extern struct rm_setting const premortem_settings[PREMORTEM_SETTINGS];
extern struct rm_reading const premortem_readings[PREMORTEM_READINGS];
extern struct rm_application_stream const premortem_streams[PREMORTEM_STREAMS];

#endif
