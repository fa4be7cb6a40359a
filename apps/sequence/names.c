// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#define CAUSES                                                                                                         \
    "1 abort, 2 state's timeout, 3 timeout, 4 enable, 5 beam, 6 input, 7 supply, 8 value, 9 refused, 10 server, 11 "   \
    "stopped, 12 failed state"

struct rm_setting const sequence_settings[SEQUENCE_SETTINGS] = {
    [SEQUENCE_RUN] = {.name = "run",
                      .description = "number of the sequence that begins; 0 ends it, and supplies stay where they are",
                      .limits = {.control_low = 0.0, .control_high = 64.0},
                      .is_permission = true},
    [SEQUENCE_ABORT] = {.name = "abort",
                        .description = "1 aborts what runs; while it is 1 nothing begins",
                        .limits = {.control_low = 0.0, .control_high = 1.0}},
    [SEQUENCE_PAUSE] = {.name = "pause",
                        .description = "1 stops the time of the sequence",
                        .limits = {.control_low = 0.0, .control_high = 1.0}},
    [SEQUENCE_SET_VARIABLE] = {.name = "variable",
                               .description = "variables, in the order of the file",
                               .is_array = true},
    [SEQUENCE_SET_PARAMETER] = {.name = "parameter",
                                .description = "parameters of others, in the order of the file: set by itself",
                                .is_array = true},
    [SEQUENCE_SET_REFUSED] = {.name = "refused", .description = "requests that were refused: set by itself"},
    [SEQUENCE_SET_LOST] = {.name = "lost",
                           .description = "parameters that are not read now: set by itself",
                           .is_array = true},
};

struct rm_reading const sequence_readings[SEQUENCE_READINGS] = {
    [SEQUENCE_STATE] = {.name = "state", .description = "number of the state; 0: none"},
    [SEQUENCE_SEQUENCE] = {.name = "sequence", .description = "number of the innermost sequence that runs; 0: none"},
    [SEQUENCE_DEPTH] = {.name = "depth", .description = "sequences that stand on each other"},
    [SEQUENCE_STATE_TURNS] = {.name = "turns", .unit = "turn", .description = "in this state"},
    [SEQUENCE_RESULT] = {.name = "result",
                         .description = "0 none yet, 1 running, 2 done, 3 failed, 4 stopped",
                         .limits = {.minor_low = -1.0, .minor_high = 2.5}},
    [SEQUENCE_CAUSE] = {.name = "cause", .description = "why it did not end well: " CAUSES},
    [SEQUENCE_CAUSE_TURN] = {.name = "cause_turn", .unit = "turn", .description = "when that was"},
    [SEQUENCE_CAUSE_STATE] = {.name = "cause_state", .description = "number of the state in which it was"},
    [SEQUENCE_CAUSE_OF] = {.name = "cause_of", .description = "index of the supply or the input that it was; -1: none"},
    [SEQUENCE_ABORTING] = {.name = "aborting", .description = "1: on the way of the abort"},
    [SEQUENCE_MOVING] = {.name = "moving", .description = "actions under way"},
    [SEQUENCE_TRANSITIONS] = {.name = "transitions", .description = "states entered since it began"},
    [SEQUENCE_MARKS] = {.name = "marks", .description = "actions `record` since it began"},
    [SEQUENCE_RUNS] = {.name = "runs", .description = "sequences begun"},
    [SEQUENCE_LAST] = {.name = "last", .description = "number of the one that was begun last"},
    [SEQUENCE_COST] = {.name = "cost", .description = "operations of the longest step that it may come to"},
    [SEQUENCE_ASKED] = {.name = "asked", .description = "requests to others since it began"},
    [SEQUENCE_ANSWERED] = {.name = "answered", .description = "of these granted", .is_of_computer = true},
    [SEQUENCE_TOLD_COUNTER] = {.name = "counter",
                               .description = "counters, in the order of the file",
                               .is_array = true},
};

struct rm_application_stream const sequence_streams[1] = {
    {.name = "trace",
     .description = "what the sequence does, by step",
     .lane = {{.name = "sequence"},
              {.name = "state"},
              {.name = "turns", .unit = "turn"},
              {.name = "depth"},
              {.name = "result"},
              {.name = "cause"},
              {.name = "transitions"},
              {.name = "marks"},
              {.name = "moving"},
              {.name = "aborting"}}},
};
