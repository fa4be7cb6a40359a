// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ringmaster/errors.h>
#include <ringmaster/pattern.h>

enum { SIGNAL_BYTES = 128 };

/** "bpm01/x1" of "bpm01/raw" and "x1". */
static void name_signal(char const *input, char const *lane, char name[SIGNAL_BYTES]) {
    char const *slash = strrchr(input, '/');
    int const instrument = slash != NULL ? (int)(slash - input) : (int)strlen(input);
    snprintf(name, SIGNAL_BYTES, "%.*s/%s", instrument, input, lane);
}

static bool is_wanted(struct premortem_plan const *plan, char const *name) {
    for (uint32_t k = 0; k < plan->signals; ++k)
        if (rm_pattern_matches(plan->signal[k], name))
            return true;
    return false;
}

static enum rm_code add_signal(struct premortem_signals *signals, struct rm_table const *golden,
                               struct premortem_signal const *signal, char const *name, struct rm_error *error) {
    if (signals->count == PREMORTEM_SIGNALS_MAX)
        return rm_fail(error, RM_E_CONFIG, "has room for %d signals of all detectors, and is given more",
                       PREMORTEM_SIGNALS_MAX);
    uint32_t const at = signals->count++;
    signals->signal[at] = *signal;
    if (golden == NULL)
        return RM_OK;
    uint32_t const row = rm_table_row(golden, name);
    if (row == golden->rows)
        return rm_fail(error, RM_E_CONFIG, "the golden orbit has no row %s", name);
    signals->first[at] = golden->value[(size_t)row * golden->columns];
    signals->seen[at] = 1;
    return RM_OK;
}

static bool stream_is_decimated(struct rm_stream const *stream) {
    return strcmp(stream->filter, "none") != 0 && strcmp(stream->filter, "on-change") != 0;
}

static enum rm_code find_lanes(struct premortem_signals *signals, struct rm_application_setup const *setup,
                               uint32_t input, struct premortem_detector *detector, struct rm_table const *golden,
                               struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t lane = 0; lane < RM_LANES && code == RM_OK; ++lane) {
        struct rm_lane_info const *info = &setup->input[input]->lane[lane];
        char name[SIGNAL_BYTES];
        if (info->type == RM_LANE_UNUSED)
            continue;
        name_signal(setup->input_name[input], info->name, name);
        if (!is_wanted(detector->plan, name))
            continue;
        struct premortem_signal const signal = {
            .input = input,
            .lane = lane,
            .last = NAN,
            .is_whole = info->type == RM_LANE_I32,
            .is_decimated = stream_is_decimated(setup->input[input]),
        };
        code = add_signal(signals, golden, &signal, name, error);
        detector->signals += code == RM_OK;
    }
    return code;
}

enum rm_code premortem_signals_find(struct premortem_signals *signals, struct rm_application_setup const *setup,
                                    struct premortem_detector *detector, struct rm_table const *golden,
                                    struct rm_error *error) {
    enum rm_code code = RM_OK;
    detector->first_signal = signals->count;
    detector->signals = 0;
    for (uint32_t input = 0; input < setup->input_count && code == RM_OK; ++input)
        code = find_lanes(signals, setup, input, detector, golden, error);
    if (code == RM_OK && detector->signals == 0)
        return rm_fail(error, RM_E_CONFIG,
                       "%s: the detector %s has no signal: no lane of the application's %u inputs is called %s%s",
                       setup->configuration, detector->plan->name, setup->input_count, detector->plan->signal[0],
                       detector->plan->signals > 1 ? ", …" : "");
    return code;
}

struct premortem_values premortem_signals_read(struct premortem_signals *signals,
                                               struct rm_application_setup const *setup, struct rm_step const *given,
                                               struct premortem_detector const *detector) {
    uint32_t const begin = detector->first_signal, end = begin + detector->signals;
    struct premortem_values values = {.value = signals->value + begin,
                                      .is_good = signals->is_good + begin,
                                      .first = signals->first + begin,
                                      .seen = signals->seen + begin};
    for (uint32_t i = begin; i < end; ++i) {
        struct premortem_signal *signal = &signals->signal[i];
        struct rm_record const *record = &given->record[signal->input];
        double const value = rm_lane_value(setup->input[signal->input], record, signal->lane);
        bool const has_come = !given->is_missing[signal->input] && record->turn == given->turn;
        bool const is_whole = !signal->is_decimated || rm_tag_missing(record->tag) == 0;
        signals->value[i] = value;
        signals->is_good[i] =
            has_come && is_whole && premortem_signal_is_good(signal, value, detector->plan->frozen_steps);
        values.good += signals->is_good[i];
    }
    return values;
}

void premortem_signals_forget(struct premortem_signals *signals, struct premortem_detector const *detector) {
    memset(signals->first + detector->first_signal, 0, detector->signals * sizeof signals->first[0]);
    memset(signals->seen + detector->first_signal, 0, detector->signals * sizeof signals->seen[0]);
}

double premortem_signals_delay_turns(struct premortem_signals const *signals, struct rm_application_setup const *setup,
                                     struct premortem_detector const *detector) {
    double delay = 0.0;
    for (uint32_t i = 0; i < detector->signals; ++i) {
        uint32_t const input = signals->signal[detector->first_signal + i].input;
        delay = fmax(delay, setup->input[input]->closing_delay_turns);
    }
    return delay;
}
