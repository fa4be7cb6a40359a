// SPDX-License-Identifier: Apache-2.0
#include "host/host_stream.h"

#include <stdio.h>

struct rm_stream rm_host_stream_describe(struct rm_application_stream const *it, uint64_t period_turns) {
    struct rm_stream stream = {
        .period = period_turns,
        .instrument_kind = RM_KIND_APPLICATION,
        .filter = "none",
        .gain = 1.0,
    };
    while (stream.lane_count < RM_LANES && it->lane[stream.lane_count].name != NULL) {
        struct rm_lane_info *lane = &stream.lane[stream.lane_count];
        char const *unit = it->lane[stream.lane_count].unit;
        snprintf(lane->name, sizeof lane->name, "%s", it->lane[stream.lane_count].name);
        snprintf(lane->unit, sizeof lane->unit, "%s", unit != NULL ? unit : "");
        lane->type = RM_LANE_F32;
        ++stream.lane_count;
    }
    return stream;
}
