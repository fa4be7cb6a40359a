// SPDX-License-Identifier: Apache-2.0
#include "host/host_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "host/host_obey.h"
#include "host/host_replay_stream.h"
#include "host/host_setup.h"

struct rm_host_replay {
    struct rm_replay_stream decision, adopted;
    /** [mask], [group], [end], [input]. */
    struct rm_replay_stream *mask, *sent, *end, *input;
    /** Of an application that takes runs. */
    struct rm_host_runs runs;
    struct rm_host_setup setup;
    struct rm_host_program *program;
    /** Makes the record that is compared with the recorded one. */
    struct rm_host_decisions decisions;
    struct rm_host_obey obey;
    /** [input] the last record that came. */
    struct rm_record *record;
    bool *missing;
    /** [actuator] the last command. */
    double *setpoint;

    uint32_t masks, groups, ends;
    /** Where a read that fails says why. */
    struct rm_error *error;
};

/** Its records go nowhere: the last one is compared. */
static void replay_put_nowhere(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)context;
    (void)stream;
    (void)record;
    (void)tsc;
}

/* ── its streams ── */

static struct rm_replay_stream *replay_stream(struct rm_host_replay *replay, enum rm_obey_stream stream,
                                              uint32_t number) {
    switch (stream) {
    case RM_OBEY_DECISION:
        return &replay->decision;
    case RM_OBEY_ADOPTED:
        return &replay->adopted;
    case RM_OBEY_MISSING:
        return &replay->mask[number];
    case RM_OBEY_SENT:
        return &replay->sent[number];
    case RM_OBEY_UNFINISHED:
        return &replay->end[number];
    case RM_OBEY_INPUT:
        break;
    }
    return &replay->input[number];
}

static enum rm_obey_look replay_at(void *context, enum rm_obey_stream stream, uint32_t number, rm_turn turn,
                                   struct rm_record const **record) {
    struct rm_host_replay *replay = context;
    struct rm_replay_stream *const from = replay_stream(replay, stream, number);
    *record = rm_replay_stream_at(from, turn, &replay->obey.code, replay->error);
    if (*record != NULL)
        return RM_OBEY_IS_THERE;
    return from->found.last == RM_TURN_NONE || from->found.last < turn ? RM_OBEY_HAS_ENDED : RM_OBEY_IS_NOWHERE;
}

static enum rm_obey_look replay_next(void *context, enum rm_obey_stream stream, rm_turn *turn,
                                     struct rm_record const **record) {
    struct rm_host_replay *replay = context;
    *record = rm_replay_stream_next(replay_stream(replay, stream, 0), *turn, &replay->obey.code, replay->error);
    if (*record == NULL)
        return RM_OBEY_IS_NOWHERE;
    *turn = (*record)->turn;
    return RM_OBEY_IS_THERE;
}

/* ── life ── */

/** The application, as a process that begins. */
static enum rm_code replay_open_program(struct rm_host_replay *replay, struct rm_error *error) {
    rm_host_decisions_close(&replay->decisions);
    rm_host_program_close(replay->program);
    replay->program = NULL;
    replay->decisions = (struct rm_host_decisions){.put = replay_put_nowhere};
    enum rm_code const code = rm_host_program_open(&replay->setup, &replay->program, error);
    if (code != RM_OK)
        return code;
    if (!rm_host_decisions_open(&replay->decisions, replay->program))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to replay \"%s\"", replay->setup.name);
    for (uint32_t i = 0; i < replay->setup.input_count; ++i)
        replay->program->input[i] = &replay->input[i].found.stream;
    return RM_OK;
}

/** Finds one of the application's own streams. Its period must be that of the steps. */
static enum rm_code replay_find(struct rm_host_replay *replay, struct rm_recorded_source const *recorded,
                                char const *name, struct rm_replay_stream *stream, struct rm_error *error) {
    enum rm_code const code = rm_replay_stream_open(stream, recorded, name, error);
    if (code == RM_OK && stream->found.stream.period != replay->setup.period_turns)
        return rm_fail(error, RM_E_CONFIG, "%s was recorded every %llu turns, and the configuration says %llu", name,
                       (unsigned long long)stream->found.stream.period, (unsigned long long)replay->setup.period_turns);
    return code;
}

static enum rm_code replay_find_own(struct rm_host_replay *replay, struct rm_recorded_source const *recorded,
                                    struct rm_error *error) {
    char name[RM_NAME_BYTES];
    snprintf(name, sizeof name, "%s/decision", replay->setup.name);
    enum rm_code code = replay_find(replay, recorded, name, &replay->decision, error);
    snprintf(name, sizeof name, "%s/settings_adopted", replay->setup.name);
    if (code == RM_OK)
        code = replay_find(replay, recorded, name, &replay->adopted, error);
    for (uint32_t i = 0; code == RM_OK && i < replay->masks; ++i) {
        snprintf(name, sizeof name, "%s/missing%u", replay->setup.name, i);
        code = replay_find(replay, recorded, name, &replay->mask[i], error);
    }
    for (uint32_t i = 0; code == RM_OK && i < replay->groups; ++i) {
        snprintf(name, sizeof name, "%s/sent%u", replay->setup.name, i);
        code = replay_find(replay, recorded, name, &replay->sent[i], error);
    }
    for (uint32_t i = 0; code == RM_OK && i < replay->setup.input_count; ++i)
        code = rm_replay_stream_open(&replay->input[i], recorded, replay->setup.input[i], error);
    return code;
}

/** Room for runs, and the streams that tell of their ends. */
static enum rm_code replay_open_runs(struct rm_host_replay *replay, struct rm_recorded_source const *recorded,
                                     struct rm_error *error) {
    char name[RM_NAME_BYTES];
    if (!rm_host_runs_open(&replay->runs, replay->setup.input_count, replay->setup.period_turns))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to replay \"%s\"", replay->setup.name);
    for (uint32_t i = 0; i < replay->setup.input_count; ++i)
        if (!rm_host_runs_make_room(&replay->runs, i, &replay->input[i].found.stream))
            return rm_fail(error, RM_E_NO_SPACE, "no memory for the runs of %s", replay->setup.input[i]);
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < replay->ends; ++i) {
        snprintf(name, sizeof name, "%s/unfinished%u", replay->setup.name, i);
        code = replay_find(replay, recorded, name, &replay->end[i], error);
    }
    return code;
}

/** What the program takes, it has: inputs of its own period, or runs. */
static enum rm_code replay_fit(struct rm_host_replay *replay, struct rm_recorded_source const *recorded,
                               struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; code == RM_OK && i < replay->setup.input_count; ++i)
        code = rm_host_program_takes(replay->program, i, replay->input[i].found.stream.period, error);
    if (code == RM_OK && replay->program->code.it->takes_runs != 0)
        code = replay_open_runs(replay, recorded, error);
    return code;
}

/** The first step 0. */
static enum rm_code replay_find_first(struct rm_host_replay *replay, struct rm_error *error) {
    enum rm_code code = RM_OK;
    struct rm_record const *at = rm_replay_stream_next(&replay->decision, 0, &code, error);
    while (at != NULL && rm_obey_lane(at, RM_DECISION_STEP) != 0)
        at = rm_replay_stream_next(&replay->decision, at->turn + replay->setup.period_turns, &code, error);
    if (code != RM_OK)
        return code;
    if (at == NULL)
        return rm_fail(error, RM_E_NOT_FOUND,
                       "%s/decision has no step 0: a replay begins where the application was granted its supplies, so "
                       "that has to be in the recording",
                       replay->setup.name);
    replay->obey.next = replay->obey.next_adopted = at->turn;
    return RM_OK;
}

static enum rm_code replay_make(struct rm_host_replay *replay, struct rm_host_setup const *setup,
                                struct rm_recorded_source const *recorded, struct rm_error *error) {
    enum rm_code code = rm_host_setup_copy(&replay->setup, setup, error);
    if (code != RM_OK)
        return code;
    replay->masks = (setup->input_count + RM_DECISION_MASK_INPUTS - 1) / RM_DECISION_MASK_INPUTS;
    replay->groups = (setup->actuator_count + RM_LANES - 1) / RM_LANES;
    replay->ends = (setup->input_count + RM_LANES - 1) / RM_LANES;
    replay->mask = calloc(replay->masks + 1ul, sizeof *replay->mask);
    replay->sent = calloc(replay->groups + 1ul, sizeof *replay->sent);
    replay->end = calloc(replay->ends + 1ul, sizeof *replay->end);
    replay->input = calloc(setup->input_count + 1ul, sizeof *replay->input);
    replay->record = rm_zeroed(setup->input_count, sizeof *replay->record);
    replay->missing = calloc(setup->input_count + 1ul, sizeof *replay->missing);
    replay->setpoint = calloc(setup->actuator_count + 1ul, sizeof *replay->setpoint);
    if (!replay->mask || !replay->sent || !replay->end || !replay->input || !replay->record || !replay->missing ||
        !replay->setpoint)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to replay \"%s\"", setup->name);
    code = replay_find_own(replay, recorded, error);
    if (code == RM_OK)
        code = replay_find_first(replay, error);
    if (code == RM_OK)
        code = replay_open_program(replay, error);
    if (code == RM_OK)
        code = replay_fit(replay, recorded, error);
    if (code != RM_OK)
        return code;
    replay->obey.source = (struct rm_obey_source){.at = replay_at, .next = replay_next, .context = replay};
    replay->obey.program = replay->program;
    replay->obey.decisions = &replay->decisions;
    replay->obey.runs = &replay->runs;
    replay->obey.record = replay->record;
    replay->obey.missing = replay->missing;
    if (!rm_host_obey_open(&replay->obey))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to replay \"%s\"", setup->name);
    return RM_OK;
}

enum rm_code rm_host_replay_open(struct rm_host_setup const *setup, struct rm_recorded_source const *recorded,
                                 struct rm_host_replay **replay, struct rm_error *error) {
    struct rm_host_replay *made = rm_zeroed(1, sizeof *made);
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to replay \"%s\"", setup->name);
    enum rm_code const code = replay_make(made, setup, recorded, error);
    if (code == RM_OK)
        *replay = made;
    else
        rm_host_replay_close(made);
    return code;
}

static void replay_close_streams(struct rm_replay_stream *stream, uint32_t count) {
    for (uint32_t i = 0; stream != NULL && i < count; ++i)
        rm_replay_stream_close(&stream[i]);
    free(stream);
}

void rm_host_replay_close(struct rm_host_replay *replay) {
    if (replay == NULL)
        return;
    rm_host_obey_close(&replay->obey);
    rm_host_decisions_close(&replay->decisions);
    rm_host_program_close(replay->program);
    replay_close_streams(replay->mask, replay->masks);
    replay_close_streams(replay->sent, replay->groups);
    replay_close_streams(replay->end, replay->ends);
    rm_host_runs_close(&replay->runs);
    replay_close_streams(replay->input, replay->setup.input_count);
    rm_replay_stream_close(&replay->decision);
    rm_replay_stream_close(&replay->adopted);
    rm_host_setup_free(&replay->setup);
    free(replay->record);
    free(replay->missing);
    free(replay->setpoint);
    free(replay);
}

struct rm_host_program const *rm_host_replay_program(struct rm_host_replay const *replay) {
    return replay->program;
}

/* ── one step ── */

/** A step 0 in a process that was opened anew. */
static bool replay_opens_again(struct rm_host_replay *replay, struct rm_obey_step const *step) {
    if (!rm_host_obey_is_first(step) || !rm_host_obey_is_opened(step) || !replay->obey.has_begun)
        return true;
    replay->obey.code = replay_open_program(replay, replay->error);
    replay->obey.program = replay->program;
    return replay->obey.code == RM_OK;
}

enum rm_code rm_host_replay_step(struct rm_host_replay *replay, struct rm_host_replayed *told, struct rm_error *error) {
    struct rm_obey_step step = {.told = told};
    struct rm_host_obey *const obey = &replay->obey;
    replay->error = error;
    enum rm_obeyed obeyed = rm_host_obey_find(obey, &step);
    if (obeyed == RM_OBEY_WAITS)
        return obey->code != RM_OK ? obey->code : RM_E_ABSENT;
    if (obeyed != RM_OBEY_GIVEN || !replay_opens_again(replay, &step) ||
        rm_host_obey_give(obey, &step, error) != RM_OBEY_GIVEN)
        return obey->code;
    rm_host_obey_make_step(obey, &step, replay->setpoint);
    rm_host_program_work(replay->program);
    rm_host_obey_compare(&step, &replay->decisions.last);
    return obey->code;
}
