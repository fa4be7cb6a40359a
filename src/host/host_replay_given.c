// SPDX-License-Identifier: Apache-2.0
#include "host/host_replay_given.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/host_checksum.h"

enum { MASK_BITS = 32 };

bool rm_replay_differs(struct rm_replay_step *step, enum rm_replay_difference differs, char const *format, ...) {
    va_list arguments;
    if (step->code != RM_OK)
        return false;
    va_start(arguments, format);
    vsnprintf(step->told->text, sizeof step->told->text, format, arguments);
    va_end(arguments);
    step->told->differs = differs;
    return false;
}

/** Puts the values of one record of `settings_adopted` where they belong. */
static bool replay_take_values(struct rm_host_replay *replay, struct rm_replay_step *step,
                               struct rm_record const *record) {
    for (unsigned v = 0; v < RM_ADOPTED_VALUES; ++v) {
        union rm_lane const *place = record->lane + RM_ADOPTED_FIRST + v * RM_ADOPTED_VALUE_LANES;
        if (place[0].i == -1)
            continue;
        if ((uint32_t)place[0].i >= replay->program->setting_values)
            return rm_replay_differs(step, RM_REPLAY_SETTINGS, "the record of turn %llu is of element %d of %u",
                                     (unsigned long long)record->turn, place[0].i, replay->program->setting_values);
        memcpy(&replay->program->setting[place[0].i], &place[1], sizeof replay->program->setting[0]);
    }
    return true;
}

bool rm_replay_adopt_settings(struct rm_host_replay *replay, struct rm_replay_step *step) {
    uint32_t const wanted = rm_replay_lane(&step->decision, RM_DECISION_SETTINGS);
    while (replay->generation != wanted) {
        struct rm_record const *record =
            rm_replay_stream_next(&replay->adopted, replay->next_adopted, &step->code, step->error);
        /* Generations go up, and begin at 1 in another process. */
        if (record == NULL || rm_replay_lane(record, RM_ADOPTED_GENERATION) > wanted ||
            rm_replay_lane(record, RM_ADOPTED_GENERATION) <= replay->generation)
            return rm_replay_differs(step, RM_REPLAY_SETTINGS, "the values of generation %u are not all on record",
                                     wanted);
        replay->next_adopted = record->turn + replay->setup.period_turns;
        if (!replay_take_values(replay, step, record))
            return false;
        if (rm_replay_lane(record, RM_ADOPTED_LEFT) != 0)
            continue;
        struct rm_checksum sum = rm_checksum_begin();
        rm_checksum_add(&sum, replay->program->setting, replay->program->setting_values);
        replay->generation = rm_replay_lane(record, RM_ADOPTED_GENERATION);
        /* One before it may have begun where this recording had not. */
        if (replay->generation == wanted && rm_checksum_end(&sum) != rm_replay_lane(record, RM_ADOPTED_CHECKSUM))
            return rm_replay_differs(step, RM_REPLAY_SETTINGS,
                                     "values of generation %u are not those that were adopted", replay->generation);
    }
    return true;
}

bool rm_replay_take_sent(struct rm_host_replay *replay, struct rm_replay_step *step) {
    uint32_t const wanted = rm_replay_lane(&step->decision, RM_DECISION_SENT);
    uint32_t found = 0;
    for (uint32_t group = 0; wanted > 0 && group < replay->groups; ++group) {
        struct rm_record const *record =
            rm_replay_stream_at(&replay->sent[group], step->decision.turn, &step->code, step->error);
        if (record == NULL)
            continue;
        ++found;
        for (uint32_t i = 0; i < RM_LANES && group * RM_LANES + i < replay->setup.actuator_count; ++i)
            replay->program->sent[group * RM_LANES + i] = (double)record->lane[i].f;
    }
    if (found == wanted)
        return step->code == RM_OK;
    return rm_replay_differs(step, RM_REPLAY_SENT, "%u records of what had been sent, and %u were written", found,
                             wanted);
}

static bool replay_take_mask(struct rm_host_replay *replay, struct rm_replay_step *step) {
    uint32_t const wanted = rm_replay_lane(&step->decision, RM_DECISION_MISSING);
    uint32_t found = 0;
    memset(replay->missing, 0, replay->setup.input_count);
    for (uint32_t i = 0; wanted > 0 && i < replay->setup.input_count; ++i) {
        uint32_t const mask = i / RM_DECISION_MASK_INPUTS, bit = i % RM_DECISION_MASK_INPUTS;
        struct rm_record const *record =
            rm_replay_stream_at(&replay->mask[mask], step->decision.turn, &step->code, step->error);
        if (record == NULL)
            return rm_replay_differs(step, RM_REPLAY_INPUTS, "%u inputs were missing, and it is not there which",
                                     wanted);
        replay->missing[i] = (rm_replay_lane(record, bit / MASK_BITS) >> bit % MASK_BITS & 1) != 0;
        found += replay->missing[i];
    }
    if (found == wanted)
        return true;
    return rm_replay_differs(step, RM_REPLAY_INPUTS, "%u inputs were missing, and the mask names %u", wanted, found);
}

static bool replay_has_ended(struct rm_replay_stream const *stream, struct rm_replay_step const *step) {
    return stream->found.last == RM_TURN_NONE || stream->found.last < step->decision.turn;
}

/** Records at the end of an input's run that the step did not have, also where they are on record. */
static bool replay_take_end(struct rm_host_replay *replay, struct rm_replay_step *step, uint32_t input,
                            uint64_t *unfinished) {
    struct rm_record const *record =
        rm_replay_stream_at(&replay->end[input / RM_LANES], step->decision.turn, &step->code, step->error);
    if (record == NULL)
        return rm_replay_differs(step, RM_REPLAY_INPUTS, "%s was missing, and it is not there how much of its run",
                                 replay->setup.input[input]);
    *unfinished = rm_replay_lane(record, input % RM_LANES);
    return true;
}

static bool replay_take_run(struct rm_host_replay *replay, struct rm_replay_step *step, uint32_t input) {
    struct rm_host_runs *runs = &replay->runs;
    uint64_t const count = runs->run[input].count;
    uint64_t unfinished = 0;
    if (replay->missing[input] && !replay_take_end(replay, step, input, &unfinished))
        return false;
    for (uint64_t n = 0; n < count; ++n) {
        rm_turn const turn = rm_host_runs_turn(runs, input, n);
        struct rm_record const *record = NULL;
        if (turn != RM_TURN_NONE && n + unfinished < count)
            record = rm_replay_stream_at(&replay->input[input], turn, &step->code, step->error);
        runs->record[input][n] = record != NULL ? *record : (struct rm_record){.turn = RM_TURN_NONE};
    }
    return step->code == RM_OK;
}

/** As far back as the step had them. */
static bool replay_take_runs(struct rm_host_replay *replay, struct rm_replay_step *step) {
    uint64_t const steps = rm_replay_lane(&step->decision, RM_DECISION_FLAGS) >> RM_DECISION_RUN_SHIFT;
    if (steps < 1 || steps > replay->runs.steps_max)
        return rm_replay_differs(step, RM_REPLAY_INPUTS, "runs of %llu steps are on record, expected 1 to %llu",
                                 (unsigned long long)steps, (unsigned long long)replay->runs.steps_max);
    rm_host_runs_span(&replay->runs, step->decision.turn, steps);
    rm_host_program_give_runs(replay->program, &replay->runs);
    for (uint32_t i = 0; i < replay->setup.input_count; ++i)
        if (!replay_take_run(replay, step, i))
            return false;
    return true;
}

bool rm_replay_take_inputs(struct rm_host_replay *replay, struct rm_replay_step *step) {
    if (!replay_take_mask(replay, step))
        return false;
    if (replay->program->code.it->takes_runs != 0 && !replay_take_runs(replay, step))
        return false;
    for (uint32_t i = 0; i < replay->setup.input_count; ++i) {
        if (replay->missing[i])
            continue;
        struct rm_record const *record =
            rm_replay_stream_at(&replay->input[i], step->decision.turn, &step->code, step->error);
        if (record == NULL)
            return rm_replay_differs(step, RM_REPLAY_INPUTS, "%s has no record of this turn%s, and the step had one",
                                     replay->setup.input[i],
                                     replay_has_ended(&replay->input[i], step) ? " or a later one" : "");
        replay->record[i] = *record;
    }
    return true;
}
