// SPDX-License-Identifier: Apache-2.0
#include "lanes.h"

#include <math.h>
#include <string.h>

#include <ringmaster/errors.h>

/** True where `name` is "bpm01/x1", the input "bpm01/turn", and the lane "x1". */
static bool is_lane(char const *name, char const *input, char const *lane) {
    char const *const slash = strchr(input, '/');
    size_t const front = slash != NULL ? (size_t)(slash - input) + 1 : strlen(input);
    return strncmp(name, input, front) == 0 && strcmp(name + front, lane) == 0;
}

static bool find_lane(struct rm_application_setup const *setup, char const *name, struct tune_lane *lane) {
    for (uint32_t i = 0; i < setup->input_count; ++i)
        for (uint32_t l = 0; l < RM_LANES; ++l)
            if (setup->input[i]->lane[l].type != RM_LANE_UNUSED &&
                is_lane(name, setup->input_name[i], setup->input[i]->lane[l].name)) {
                *lane = (struct tune_lane){i, l};
                return true;
            }
    return false;
}

enum rm_code tune_lane_find(struct rm_application_setup const *setup, char const *key, char const *name,
                            struct tune_lane *lane, struct rm_error *error) {
    if (!find_lane(setup, name, lane))
        return rm_fail(
            error, RM_E_CONFIG,
            "%s: %s: none of the application's %u inputs has the lane %s, expected a lane of one of them, or "
            "its stream among `inputs`",
            setup->configuration, key, setup->input_count, name);
    struct rm_stream const *const stream = setup->input[lane->input];
    char const *const input = setup->input_name[lane->input];
    if (stream->period != 1)
        return rm_fail(error, RM_E_CONFIG, "%s: %s: %s has a record every %llu turns, expected a stream of every turn",
                       setup->configuration, key, input, (unsigned long long)stream->period);
    if (stream->capacity != 0 && stream->capacity < 2 * (setup->period_turns + stream->margin))
        return rm_fail(
            error, RM_E_CONFIG,
            "%s keeps %llu turns, %llu of them not to be relied on, and a step takes %llu: expected room for "
            "two steps; make `buffers.turn_records` larger, or period_turns smaller",
            input, (unsigned long long)stream->capacity, (unsigned long long)stream->margin,
            (unsigned long long)setup->period_turns);
    return RM_OK;
}

enum rm_code tune_lane_check_unit(struct rm_application_setup const *setup, char const *key, struct tune_lane lane,
                                  char const *unit, struct rm_error *error) {
    struct rm_lane_info const *const info = &setup->input[lane.input]->lane[lane.lane];
    if (strncmp(info->unit, unit, sizeof info->unit) == 0)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "%s: %s: lane %s of %s is in \"%.*s\", expected \"%s\" as `unit` says; all BPMs have one unit: "
                   "write that",
                   setup->configuration, key, info->name, setup->input_name[lane.input], (int)sizeof info->unit,
                   info->unit, unit);
}

void tune_lane_read(struct rm_application_setup const *setup, struct rm_step const *given, struct tune_lane lane,
                    uint64_t first, uint64_t count, float *value, uint32_t stride) {
    struct rm_stream const *const stream = setup->input[lane.input];
    struct rm_record const *const run = given->run[lane.input].record + first;
    for (uint64_t n = 0; n < count; ++n)
        value[n * stride] = run[n].turn == RM_TURN_NONE ? NAN : (float)rm_lane_value(stream, &run[n], lane.lane);
}

double tune_lane_last(struct rm_application_setup const *setup, struct rm_step const *given, struct tune_lane lane) {
    struct rm_run const *const run = &given->run[lane.input];
    for (uint64_t n = run->count; n-- > 0;)
        if (run->record[n].turn != RM_TURN_NONE)
            return rm_lane_value(setup->input[lane.input], &run->record[n], lane.lane);
    return NAN;
}
