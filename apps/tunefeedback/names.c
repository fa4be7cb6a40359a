// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#define CONDITIONS "1 tune, 2 beam, 4 quality, 8 sigma, 16 nearness, 32 supplies, 64 room"

struct rm_setting const tunefeedback_settings[TUNEFEEDBACK_SETTINGS] = {
    [TUNEFEEDBACK_CLOSED] = {.name = "closed",
                             .description = "1 closes the loop, 0 opens it: supplies stay where they are",
                             .limits = {.control_low = 0.0, .control_high = 1.0},
                             .is_permission = true},
    [TUNEFEEDBACK_TARGET] = {.name = "target",
                             .description = "tunes of x and y; 0: that which is there when the loop is closed",
                             .limits = {.control_low = 0.0, .control_high = 0.5},
                             .is_array = true},
    [TUNEFEEDBACK_GAIN] = {.name = "gain",
                           .description = "of the whole loop",
                           .value = 1.0,
                           .limits = {.control_low = 0.0, .control_high = 1000.0}},
};

struct rm_reading const tunefeedback_readings[TUNEFEEDBACK_READINGS] = {
    [TUNEFEEDBACK_STATE] = {.name = "state",
                            .description = "0 off, 1 ready, 2 on, 3 hold, 4 fault",
                            .limits = {.minor_high = 2.5, .major_high = 3.5}},
    [TUNEFEEDBACK_MISSING] = {.name = "missing", .description = "what is missing: " CONDITIONS},
    [TUNEFEEDBACK_CAUSE] = {.name = "cause", .description = "of leaving ON: " CONDITIONS},
    [TUNEFEEDBACK_CAUSE_TURN] = {.name = "cause_turn", .unit = "turn", .description = "at which it did"},
    [TUNEFEEDBACK_WANTED_X] = {.name = "wanted_x",
                               .description = "horizontal tune, on its way to the target; 0: not closed"},
    [TUNEFEEDBACK_WANTED_Y] = {.name = "wanted_y",
                               .description = "vertical tune, on its way to the target; 0: not closed"},
    [TUNEFEEDBACK_ERROR_X] = {.name = "error_x", .description = "wanted_x less the tune measured; 0: not closed"},
    [TUNEFEEDBACK_ERROR_Y] = {.name = "error_y", .description = "wanted_y less the tune measured; 0: not closed"},
    [TUNEFEEDBACK_OFFSET_1] = {.name = "offset_1",
                               .unit = "A",
                               .description = "of the first family, from where it stood when the loop was closed"},
    [TUNEFEEDBACK_OFFSET_2] = {.name = "offset_2", .unit = "A", .description = "of the second family"},
    [TUNEFEEDBACK_TRUSTED] = {.name = "trusted", .description = "good tunes among the last"},
    [TUNEFEEDBACK_GAIN_MARGIN] = {.name = "gain_margin",
                                  .description = "factor by which gain or matrix may be wrong",
                                  .limits = {.minor_low = 2.0, .minor_high = 1e30}},
    [TUNEFEEDBACK_PHASE_MARGIN] = {.name = "phase_margin", .unit = "°", .description = "of the open loop"},
    [TUNEFEEDBACK_SENSITIVITY_PEAK] = {.name = "sensitivity_peak",
                                       .description = "most by which a ripple of the tune is made larger"},
    [TUNEFEEDBACK_SENSITIVITY_HZ] = {.name = "sensitivity_hz", .unit = "Hz", .description = "where that is"},
    [TUNEFEEDBACK_DELAY] = {.name = "delay", .unit = "s", .description = "from a tune to the setpoint at the supplies"},
};

struct rm_application_stream const tunefeedback_streams[1] = {
    {.name = "loop",
     .description = "state, tunes wanted, errors, and offsets of the families",
     .lane = {{.name = "state"},
              {.name = "missing"},
              {.name = "wanted_x"},
              {.name = "wanted_y"},
              {.name = "error_x"},
              {.name = "error_y"},
              {.name = "offset_1", .unit = "A"},
              {.name = "offset_2", .unit = "A"},
              {.name = "trusted"}}},
};
