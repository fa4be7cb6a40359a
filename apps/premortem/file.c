// SPDX-License-Identifier: Apache-2.0
#include "file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "law/boxcar.h"

enum { NAME_LONGEST = 95 /* RM_NAME_BYTES - 1 */, OWN_NAME_LONGEST = 31, SIGNALS_MAX = 64 };

static char const *const kinds[] = {"rise", "runaway", "excursion", "growth", "drift", NULL};
static char const *const distances[] = {"rms", "worst", NULL};

static struct rm_key const action_keys[] = {
    RM_KEY_TEXT(struct premortem_action, name, "name", "Its name.", .example = "dump", .required = true,
                RM_BETWEEN(1, OWN_NAME_LONGEST)),
    RM_KEY_TEXT(struct premortem_action, permit, "permit", "Supply whose setpoint of 1 is withdrawn.",
                .example = "sr/mps/permit", RM_BETWEEN(1, NAME_LONGEST)),
    RM_KEY_TEXT(struct premortem_action, supply, "supply", "Supply that goes to `value`.", .example = "sr/rf/drive",
                .apart = true, RM_BETWEEN(1, NAME_LONGEST)),
    RM_KEY_TEXT(struct premortem_action, parameter, "parameter", "Parameter that is requested to be `value`.",
                .example = "feedback/loop", .apart = true, RM_BETWEEN(1, NAME_LONGEST)),
    RM_KEY_NUMBER(struct premortem_action, value, "value", "Of the supply or of the parameter.", .example = "2",
                  .apart = true),
    RM_KEYS_END,
};

static struct rm_key const detector_keys[] = {
    RM_KEY_TEXT(struct premortem_plan, name, "name", "Its name.", .example = "losses", .required = true,
                RM_BETWEEN(1, OWN_NAME_LONGEST)),
    RM_KEY_WORD(struct premortem_plan, kind, "kind", "What it looks for.", .words = kinds, .example = "rise",
                .required = true),
    RM_KEY_TEXTS(struct premortem_plan, signal, signals, "signals", "INSTRUMENT/LANE of its inputs, or patterns.",
                 .example = "[\"blm*/loss*\"]", .required = true, RM_BETWEEN(1, SIGNALS_MAX)),
    RM_KEY_NUMBER(struct premortem_plan, threshold, "threshold", "Level of an alarm, in the level's unit.",
                  .example = "50", .required = true, RM_BETWEEN(1e-12, 1e12)),
    RM_KEY_NUMBER(struct premortem_plan, warning, "warning", "Share of the threshold at which it warns.",
                  .fallback = "0.5", RM_BETWEEN(0, 1)),
    RM_KEY_WHOLE(struct premortem_plan, confirm, "confirm", "Records in a row that must be over.", .unit = "steps",
                 .fallback = "1", RM_BETWEEN(1, 10000)),
    RM_KEY_TEXTS(struct premortem_plan, act, acts, "acts", "Actions of an alarm; without, it says so only.",
                 .otherwise = "none", .example = "[dump]", RM_BETWEEN(0, PREMORTEM_ACTIONS_MAX)),
    RM_KEY_WHOLE(struct premortem_plan, steps, "steps", "Length of its mean, window or block.", .unit = "steps",
                 .fallback = "8", RM_BETWEEN(1, 1000000)),
    RM_KEY_WHOLE(struct premortem_plan, slow_steps, "slow_steps", "Of the baseline, or of the first orbit.",
                 .unit = "steps", .fallback = "10000", RM_BETWEEN(1, 100000000)),
    RM_KEY_WHOLE(struct premortem_plan, frozen_steps, "frozen_steps",
                 "Records of the very same value that make a signal bad; 0: never.", .unit = "steps", .fallback = "200",
                 RM_BETWEEN(0, 100000000)),
    RM_KEY_NUMBER(struct premortem_plan, good, "good", "Least share of its signals that must be good.",
                  .fallback = "0.8", RM_BETWEEN(0.01, 1)),
    RM_KEY_WORD(struct premortem_plan, distance, "distance", "runaway: RMS, or the worst signal.", .words = distances,
                .fallback = "rms"),
    RM_KEY_NUMBER(struct premortem_plan, ahead_steps, "ahead_steps", "runaway: how far it looks ahead.",
                  .unit = "steps", .fallback = "0", RM_BETWEEN(0, 1e6)),
    RM_KEY_TEXT(struct premortem_plan, golden_file, "golden", "runaway: the orbit that it compares with, a table.",
                .otherwise = "the first orbit", .example = "golden.csv", .apart = true),
    RM_KEY_NUMBER(struct premortem_plan, circle, "circle", "excursion: a whole turn of the phase; 0: not unwrapped.",
                  .fallback = "0", RM_BETWEEN(0, 1e12)),
    RM_KEY_WHOLE(struct premortem_plan, memory_windows, "memory_windows", "growth: windows that the fit remembers.",
                 .fallback = "8", RM_BETWEEN(4, 1000)),
    RM_KEY_NUMBER(struct premortem_plan, floor, "floor", "growth: least amplitude (RMS) that is fitted.",
                  .otherwise = "required", .example = "5000", .apart = true, RM_BETWEEN(1e-12, 1e12)),
    RM_KEY_NUMBER(struct premortem_plan, band_low_hz, "band_low_hz", "growth: lower edge of its band.", .unit = "Hz",
                  .otherwise = "no band", .example = "1000", .apart = true, RM_BETWEEN(1e-6, 1e9)),
    RM_KEY_NUMBER(struct premortem_plan, band_high_hz, "band_high_hz", "growth: upper edge of its band.", .unit = "Hz",
                  .otherwise = "no band", .example = "2000", .apart = true, RM_BETWEEN(1e-6, 1e9)),
    RM_KEY_NUMBER(struct premortem_plan, low, "low", "drift: the lower limit.", .otherwise = "none", .example = "-1e6",
                  .apart = true),
    RM_KEY_NUMBER(struct premortem_plan, high, "high", "drift: the upper limit.", .otherwise = "none", .example = "1e6",
                  .apart = true),
    RM_KEYS_END,
};

struct rm_key const premortem_keys[] = {
    RM_KEY_NUMBER(struct premortem_file, mask_most_s, "mask_most_s", "Longest mask.", .unit = "s", .fallback = "600",
                  RM_BETWEEN(1e-3, 1e6)),
    RM_KEY_MAPPINGS(struct premortem_file, action, actions, "actions", "What alarms may do.", action_keys,
                    .otherwise = "none", RM_BETWEEN(0, PREMORTEM_ACTIONS_MAX)),
    RM_KEY_MAPPINGS(struct premortem_file, detector, detectors, "detectors", "What it looks for.", detector_keys,
                    .required = true, RM_BETWEEN(1, PREMORTEM_DETECTORS_MAX)),
    RM_KEYS_END,
};

/** One entry while it is judged. */
struct judging {
    char const *path, *list;
    uint32_t index;
    struct rm_errors *errors;
    enum rm_code code;
};

#define REFUSE(judging, key, ...)                                                                                      \
    do {                                                                                                               \
        char place_[64];                                                                                               \
        snprintf(place_, sizeof place_, "%s[%u].%s", (judging)->list, (judging)->index, key);                          \
        (judging)->code = rm_code_first(                                                                               \
            (judging)->code, rm_configuration_refuse((judging)->errors, (judging)->path, place_, __VA_ARGS__));        \
    } while (0)

static void judge_action(struct judging *judging, struct premortem_file const *file) {
    struct premortem_action const *action = &file->action[judging->index];
    int const targets = (action->permit != NULL) + (action->supply != NULL) + (action->parameter != NULL);
    if (targets != 1)
        REFUSE(judging, "name", "%s has %d of permit, supply and parameter, expected one", action->name, targets);
    if (targets == 1 && (action->permit != NULL) == isfinite(action->value))
        REFUSE(judging, "value",
               action->permit != NULL ? "a permit is 1 or 0, expected no value of its own"
                                      : "there is none, expected what it goes to");
    for (uint32_t i = 0; i < judging->index; ++i)
        if (strcmp(file->action[i].name, action->name) == 0)
            REFUSE(judging, "name", "actions[%u] has that name", i);
}

static void find_actions(struct judging *judging, struct premortem_file const *file, struct premortem_plan *plan) {
    for (uint32_t k = 0; k < plan->acts; ++k) {
        uint32_t a = 0;
        while (a < file->actions && strcmp(file->action[a].name, plan->act[k]) != 0)
            ++a;
        if (a == file->actions)
            REFUSE(judging, "acts", "found \"%s\", expected the name of one of the actions", plan->act[k]);
        else
            plan->actions |= 1u << a;
    }
}

static void judge_growth(struct judging *judging, struct premortem_plan const *plan) {
    bool const has_low = isfinite(plan->band_low_hz), has_high = isfinite(plan->band_high_hz);
    if (!isfinite(plan->floor))
        REFUSE(judging, "floor", "growth needs the amplitude below which there is only noise");
    if (has_low != has_high || (has_low && plan->band_low_hz >= plan->band_high_hz))
        REFUSE(judging, "band_high_hz", "expected both edges of the band, the lower one first, or none");
}

static void judge_detector(struct judging *judging, struct premortem_file const *file) {
    struct premortem_plan *plan = &file->detector[judging->index];
    bool const has_boxcar =
        plan->kind == PREMORTEM_RISE || plan->kind == PREMORTEM_RUNAWAY || plan->kind == PREMORTEM_EXCURSION;
    for (uint32_t i = 0; i < judging->index; ++i)
        if (strcmp(file->detector[i].name, plan->name) == 0)
            REFUSE(judging, "name", "detectors[%u] has that name", i);
    if (has_boxcar && plan->steps > PREMORTEM_STEPS_MAX)
        REFUSE(judging, "steps", "found %u, expected 1 to %d for a mean", plan->steps, PREMORTEM_STEPS_MAX);
    if (plan->golden_file != NULL && plan->kind != PREMORTEM_RUNAWAY)
        REFUSE(judging, "golden", "only runaway compares with an orbit");
    if (plan->kind == PREMORTEM_GROWTH)
        judge_growth(judging, plan);
    if (plan->kind == PREMORTEM_DRIFT && !isfinite(plan->low) && !isfinite(plan->high))
        REFUSE(judging, "high", "drift needs a limit: low, high, or both");
    if (plan->kind == PREMORTEM_DRIFT && plan->low >= plan->high)
        REFUSE(judging, "high", "found %g, expected more than low, %g", plan->high, plan->low);
    find_actions(judging, file, plan);
}

enum rm_code premortem_file_check(char const *path, void *values, struct rm_errors *errors) {
    struct premortem_file *file = values;
    struct judging judging = {path, "actions", 0, errors, RM_OK};
    for (; judging.index < file->actions; ++judging.index)
        judge_action(&judging, file);
    judging.list = "detectors";
    for (judging.index = 0; judging.index < file->detectors; ++judging.index)
        judge_detector(&judging, file);
    return judging.code;
}
