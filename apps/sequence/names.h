// SPDX-License-Identifier: Apache-2.0
/** What sequences tell and what people set: parameters NAME/…, and the stream NAME/trace. Names, units and descriptions
 * stand in names.c; `ringmaster sequence` knows them by name. */
#ifndef SEQUENCE_NAMES_H
#define SEQUENCE_NAMES_H

#include <ringmaster/application.h>

enum sequence_setting {
    /** run: number of the sequence that begins; 0 ends it where it is. A permission. */
    SEQUENCE_RUN,
    /** abort: 1 aborts what runs, and keeps others from beginning. */
    SEQUENCE_ABORT,
    /** pause: 1 stops the time of the sequence. */
    SEQUENCE_PAUSE,
    /** variable [variables of the file] */
    SEQUENCE_SET_VARIABLE,
    /** parameter [parameters of the file]: written by the application's own `work`, so that they are on record. */
    SEQUENCE_SET_PARAMETER,
    /** refused: requests of the application that were refused, likewise. */
    SEQUENCE_SET_REFUSED,
    /** lost [1]: parameters that are not read at present, likewise. In simulated time none is, and none is lost. */
    SEQUENCE_SET_LOST,

    SEQUENCE_SETTINGS,
};

enum sequence_reading {
    /** state, sequence, depth: numbers, from 1; 0: none. Of the innermost sequence. */
    SEQUENCE_STATE,
    SEQUENCE_SEQUENCE,
    SEQUENCE_DEPTH,
    /** turns: since the state was entered. */
    SEQUENCE_STATE_TURNS,
    /** result: enum sequence_result. */
    SEQUENCE_RESULT,
    /** cause: enum sequence_cause; cause_turn, cause_state: when and in which state; cause_of: index of the supply or of
     * the input that it was. */
    SEQUENCE_CAUSE,
    SEQUENCE_CAUSE_TURN,
    SEQUENCE_CAUSE_STATE,
    SEQUENCE_CAUSE_OF,
    /** aborting: 1 on the way of the abort. */
    SEQUENCE_ABORTING,
    /** moving: actions under way. */
    SEQUENCE_MOVING,
    SEQUENCE_TRANSITIONS,
    SEQUENCE_MARKS,
    SEQUENCE_RUNS,
    /** last: number of the sequence that was begun last, outermost. */
    SEQUENCE_LAST,
    /** cost: operations of the slowest step that the sequence may come to. */
    SEQUENCE_COST,
    /** asked, answered: requests to others, and those that were granted. */
    SEQUENCE_ASKED,
    SEQUENCE_ANSWERED,
    /** counter [counters of the file]; an element at least. */
    SEQUENCE_TOLD_COUNTER,

    SEQUENCE_READINGS,
};

enum sequence_result {
    SEQUENCE_RESULT_NONE,
    SEQUENCE_RUNNING,
    SEQUENCE_DONE_GOOD,
    SEQUENCE_FAILED,
    SEQUENCE_STOPPED,
};

/** Why a sequence did not end well; the first of several. */
enum sequence_cause {
    SEQUENCE_CAUSE_NONE,
    SEQUENCE_CAUSE_ABORT,
    SEQUENCE_CAUSE_STATE_TIMEOUT,
    SEQUENCE_CAUSE_TIMEOUT,
    SEQUENCE_CAUSE_ENABLE,
    SEQUENCE_CAUSE_BEAM,
    SEQUENCE_CAUSE_INPUT,
    SEQUENCE_CAUSE_SUPPLY,
    SEQUENCE_CAUSE_VALUE,
    SEQUENCE_CAUSE_REFUSED,
    SEQUENCE_CAUSE_SERVER,
    SEQUENCE_CAUSE_STOPPED,
    SEQUENCE_CAUSE_FAILED_STATE,
};

extern struct rm_setting const sequence_settings[SEQUENCE_SETTINGS];
extern struct rm_reading const sequence_readings[SEQUENCE_READINGS];
extern struct rm_application_stream const sequence_streams[1];

#endif
