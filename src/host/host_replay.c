// SPDX-License-Identifier: Apache-2.0
#include "host/host_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "host/host_replay_given.h"
#include "host/host_setup.h"

static void replay_capture(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)tsc;
    struct rm_host_replay *replay = context;
    if (stream == RM_DECISION_STREAM)
        replay->own = *record;
}

/* ── life ── */

/** The application, as a process that begins. */
static enum rm_code replay_open_program(struct rm_host_replay *replay, struct rm_error *error) {
    rm_host_decisions_close(&replay->decisions);
    rm_host_program_close(replay->program);
    replay->program = NULL;
    replay->decisions = (struct rm_host_decisions){.put = replay_capture, .context = replay};
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
    while (at != NULL && rm_replay_lane(at, RM_DECISION_STEP) != 0)
        at = rm_replay_stream_next(&replay->decision, at->turn + replay->setup.period_turns, &code, error);
    if (code != RM_OK)
        return code;
    if (at == NULL)
        return rm_fail(error, RM_E_NOT_FOUND,
                       "%s/decision has no step 0: a replay begins where the application was granted its supplies, so "
                       "that has to be in the recording",
                       replay->setup.name);
    replay->next = replay->next_adopted = at->turn;
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
    return code == RM_OK ? replay_fit(replay, recorded, error) : code;
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

char const *rm_replay_difference_text(enum rm_replay_difference differs) {
    static char const *const TEXT[] = {"nothing", "decision", "settings",  "sent",
                                       "inputs",  "result",   "setpoints", "visible"};
    return TEXT[differs];
}

/* ── one step ── */

/** A step 0: `init`, in a process that was opened anew where it was so. */
static bool replay_begin(struct rm_host_replay *replay, struct rm_replay_step *step) {
    bool const was_opened = (rm_replay_lane(&step->decision, RM_DECISION_FLAGS) & RM_DECISION_OPENED) != 0;
    if (was_opened && replay->has_begun)
        step->code = replay_open_program(replay, step->error);
    if (was_opened)
        replay->generation = 0;
    if (step->code != RM_OK || !rm_replay_adopt_settings(replay, step) || !rm_replay_take_sent(replay, step))
        return false;
    step->code = rm_host_program_init(replay->program, step->error);
    for (uint32_t i = 0; i < replay->setup.input_count; ++i)
        replay->record[i] = (struct rm_record){.turn = RM_TURN_NONE};
    rm_host_decisions_begin(&replay->decisions, rm_replay_lane(&step->decision, RM_DECISION_GRANT));
    return step->code == RM_OK;
}

/** `low` as the number of 64 bits that is next to `near`, at or above it. */
static uint64_t replay_extend(uint64_t near, uint32_t low) { return near + (uint32_t)(low - (uint32_t)near); }

static void replay_make_step(struct rm_host_replay *replay, struct rm_replay_step *step) {
    struct rm_host_program *program = replay->program;
    struct rm_exchange const *now = &program->command.exchange;
    program->given.allowed = (struct rm_exchange){
        .asked = replay_extend(now->asked, rm_replay_lane(&step->decision, RM_DECISION_ASKED)),
        .adopted = replay_extend(now->adopted, rm_replay_lane(&step->decision, RM_DECISION_ADOPTED)),
    };
    rm_host_program_expect(program, NULL);
    for (uint32_t i = 0; i < replay->setup.input_count; ++i)
        if (!replay->missing[i])
            rm_host_program_arrive(program, i, &replay->record[i]);
    uint32_t const missing = rm_replay_lane(&step->decision, RM_DECISION_MISSING);
    struct rm_host_outcome outcome = {.skipped = rm_replay_lane(&step->decision, RM_DECISION_SKIPPED)};
    outcome.committed =
        rm_host_program_step(program, step->decision.turn, replay->record, replay->missing, missing) == RM_STEP_SEND;
    outcome.setpoints = rm_host_decisions_setpoints(&replay->decisions, outcome.committed);
    memcpy(replay->setpoint, program->command.setpoint, replay->setup.actuator_count * sizeof replay->setpoint[0]);
    rm_host_program_prepare(program);
    rm_host_decisions_record(&replay->decisions, &outcome);
    rm_host_program_work(program);
    step->told->step = program->given.steps;
    step->told->committed = outcome.committed;
}

/** The first lane that is not as it was recorded. */
static void replay_compare(struct rm_host_replay const *replay, struct rm_replay_step *step) {
    static struct {
        enum rm_decision_lane lane;
        enum rm_replay_difference differs;
        char const *what;
    } const COMPARED[] = {
        {RM_DECISION_INPUTS, RM_REPLAY_INPUTS, "the inputs, or what had been sent, are not those that the step had"},
        {RM_DECISION_ASKED, RM_REPLAY_RESULT, "what was asked of `work`"},
        {RM_DECISION_ADOPTED, RM_REPLAY_RESULT, "results of `work` that were adopted"},
        {RM_DECISION_SETPOINTS, RM_REPLAY_SETPOINTS, "the setpoints are others"},
        {RM_DECISION_VISIBLE, RM_REPLAY_VISIBLE, "readings or streams are others"},
    };
    for (unsigned i = 0; i < sizeof COMPARED / sizeof COMPARED[0]; ++i) {
        uint32_t const own = rm_replay_lane(&replay->own, COMPARED[i].lane);
        uint32_t const recorded = rm_replay_lane(&step->decision, COMPARED[i].lane);
        if (own == recorded)
            continue;
        if (COMPARED[i].differs == RM_REPLAY_RESULT)
            rm_replay_differs(step, RM_REPLAY_RESULT, "%s: %u, and %u on record", COMPARED[i].what, own, recorded);
        else
            rm_replay_differs(step, COMPARED[i].differs, "%s: checksum %08x, and %08x on record", COMPARED[i].what, own,
                              recorded);
        return;
    }
}

/** The step is the one that follows; or another beginning. */
static bool replay_check_order(struct rm_host_replay *replay, struct rm_replay_step *step) {
    uint32_t const number = rm_replay_lane(&step->decision, RM_DECISION_STEP);
    uint32_t const expected = replay->has_begun ? (uint32_t)replay->program->steps : 0;
    step->told->step = number;
    if (number == expected || number == 0)
        return true;
    return rm_replay_differs(step, RM_REPLAY_DECISION, "step %u is on record, and step %u is not", number, expected);
}

enum rm_code rm_host_replay_step(struct rm_host_replay *replay, struct rm_host_replayed *told, struct rm_error *error) {
    struct rm_replay_step step = {.told = told, .code = RM_OK, .error = error};
    struct rm_record const *record = rm_replay_stream_next(&replay->decision, replay->next, &step.code, error);
    if (record == NULL)
        return step.code != RM_OK ? step.code : RM_E_ABSENT;
    step.decision = *record;
    *told = (struct rm_host_replayed){.turn = record->turn, .setpoint = replay->setpoint};
    replay->next = record->turn + replay->setup.period_turns;
    if (!replay_check_order(replay, &step))
        return step.code;
    bool const begins = rm_replay_lane(&step.decision, RM_DECISION_STEP) == 0;
    bool const is_given = begins ? replay_begin(replay, &step)
                                 : rm_replay_adopt_settings(replay, &step) && rm_replay_take_sent(replay, &step);
    if (!is_given || !rm_replay_take_inputs(replay, &step))
        return step.code;
    replay_make_step(replay, &step);
    replay->has_begun = true;
    replay_compare(replay, &step);
    return step.code;
}
