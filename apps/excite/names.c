// SPDX-License-Identifier: Apache-2.0
#include "names.h"

struct rm_setting const excite_settings[EXCITE_SETTINGS] = {
    [EXCITE_RUN] = {.name = "run",
                    .description = "1 begins the sines at the next step, 0 ends them by the ramp",
                    .limits = {.control_low = 0.0, .control_high = 1.0},
                    .is_permission = true},
    [EXCITE_POSITION] = {.name = "position",
                         .description = "of each supply, in its unit, which it goes to; 1e30: it stays where it stands",
                         .value = EXCITE_FIRST_POSITION,
                         .is_array = true},
    [EXCITE_RATE_S] = {.name = "rate_s",
                       .unit = "s",
                       .description = "least time that a way to another position takes",
                       .value = 0.1,
                       .limits = {.control_low = 0.0, .control_high = 1e4}},
    [EXCITE_AMPLITUDE] = {.name = "amplitude",
                          .description = "of each supply's sine, in its unit; 0: none",
                          .is_array = true},
    [EXCITE_HZ] = {.name = "hz",
                   .unit = "Hz",
                   .description = "of each supply's sine",
                   .limits = {.control_low = 0.0, .control_high = 1e6},
                   .is_array = true},
    [EXCITE_PHASE] = {.name = "phase",
                      .unit = "rad",
                      .description = "of each supply's sine at begin_turn",
                      .limits = {.control_low = -1e3, .control_high = 1e3},
                      .is_array = true},
    [EXCITE_RAMP_S] = {.name = "ramp_s",
                       .unit = "s",
                       .description = "in which the amplitude rises, and falls",
                       .value = 0.1,
                       .limits = {.control_low = 0.0, .control_high = 1e4}},
    [EXCITE_SECONDS] = {.name = "seconds",
                        .unit = "s",
                        .description = "at full amplitude",
                        .value = 10.0,
                        .limits = {.control_low = 0.0, .control_high = 1e6}},
};

struct rm_reading const excite_readings[EXCITE_READINGS] = {
    [EXCITE_TOLD_STATE] = {.name = "state", .description = "0 idle, 1 rising, 2 full, 3 falling"},
    [EXCITE_BEGIN_TURN] = {.name = "begin_turn", .unit = "turn", .description = "of the step at which the sines began"},
    [EXCITE_FULL_TURN] = {.name = "full_turn", .unit = "turn", .description = "of the first step at full amplitude"},
    [EXCITE_END_TURN] = {.name = "end_turn", .unit = "turn", .description = "of the first step without sines"},
    [EXCITE_RUNS] = {.name = "runs", .unit = "runs", .description = "that have ended"},
    [EXCITE_CLIPPED] = {.name = "clipped",
                        .unit = "steps",
                        .description = "in which a limit or a slew cut a sine",
                        .limits = {.minor_low = -1.0, .minor_high = 0.5}},
    [EXCITE_MOVING] = {.name = "moving", .unit = "supplies", .description = "on their way to a position"},
    [EXCITE_STANDING] = {.name = "standing",
                         .description = "where each supply is, in its unit, without its sine",
                         .is_array = true},
};

struct rm_application_stream const excite_streams[1] = {
    {.name = "state",
     .description =
         "state, share of the run that is over, envelope, largest excursion of a sine, supplies on their way",
     .lane =
         {{.name = "state"}, {.name = "progress"}, {.name = "envelope"}, {.name = "excursion"}, {.name = "moving"}}},
};
