// SPDX-License-Identifier: Apache-2.0
#include "host/host_obey.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_checksum.h"

enum { MASK_BITS = 32 };

char const *rm_replay_difference_text(enum rm_replay_difference differs) {
    static char const *const TEXT[] = {"nothing", "decision", "settings",  "sent",
                                       "inputs",  "result",   "setpoints", "visible"};
    return TEXT[differs];
}

enum rm_obeyed rm_obey_differs(struct rm_obey_step *step, enum rm_replay_difference differs, char const *format, ...) {
    va_list arguments;
    if (step->obey->code != RM_OK)
        return RM_OBEY_DIFFERS;
    va_start(arguments, format);
    vsnprintf(step->told->text, sizeof step->told->text, format, arguments);
    va_end(arguments);
    step->told->differs = differs;
    return RM_OBEY_DIFFERS;
}

bool rm_host_obey_open(struct rm_host_obey *obey) {
    obey->reads = calloc(obey->program->setting_values + 1ul, sizeof *obey->reads);
    return obey->reads != NULL;
}

void rm_host_obey_close(struct rm_host_obey *obey) { free(obey->reads); }

void rm_host_obey_begin(struct rm_host_obey *obey, rm_turn turn, uint32_t generation) {
    obey->next = obey->next_adopted = turn + obey->program->setup.period_turns;
    obey->generation = obey->reads_generation = generation;
    memcpy(obey->reads, obey->program->setting, obey->program->setting_values * sizeof *obey->reads);
    obey->has_begun = true;
    obey->inputs_read = 0;
    obey->code = RM_OK;
}

static enum rm_obey_look obey_look(struct rm_host_obey *obey, enum rm_obey_stream stream, uint32_t number, rm_turn turn,
                                   struct rm_record const **record) {
    return obey->source.at(obey->source.context, stream, number, turn, record);
}

/* ── the record of the step ── */

enum rm_obeyed rm_host_obey_find(struct rm_host_obey *obey, struct rm_obey_step *step) {
    struct rm_record const *record = NULL;
    step->obey = obey;
    *step->told = (struct rm_host_replayed){.turn = RM_TURN_NONE};
    rm_turn at = obey->next;
    if (obey->source.next(obey->source.context, RM_OBEY_DECISION, &at, &record) != RM_OBEY_IS_THERE)
        return RM_OBEY_WAITS;
    step->decision = *record;
    step->told->turn = record->turn;
    uint32_t const number = rm_obey_lane(&step->decision, RM_DECISION_STEP);
    uint32_t const expected = obey->has_begun ? (uint32_t)obey->program->steps : 0;
    step->told->step = number;
    if (number == expected || number == 0)
        return RM_OBEY_GIVEN;
    return rm_obey_differs(step, RM_REPLAY_DECISION, "step %u is on record, and step %u is not", number, expected);
}

/* ── settings ── */

/** Reads the values of one record of `settings_adopted`. */
static enum rm_obeyed obey_read_values(struct rm_host_obey *obey, struct rm_obey_step *step,
                                       struct rm_record const *record) {
    for (unsigned v = 0; v < RM_ADOPTED_VALUES; ++v) {
        union rm_lane const *place = record->lane + RM_ADOPTED_FIRST + v * RM_ADOPTED_VALUE_LANES;
        if (place[0].i == -1)
            continue;
        if ((uint32_t)place[0].i >= obey->program->setting_values)
            return rm_obey_differs(step, RM_REPLAY_SETTINGS, "the record of turn %llu is of element %d of %u",
                                   (unsigned long long)record->turn, place[0].i, obey->program->setting_values);
        memcpy(&obey->reads[place[0].i], &place[1], sizeof obey->reads[0]);
    }
    return RM_OBEY_GIVEN;
}

/** Reads one record of settings on the way to generation `wanted`. */
static enum rm_obeyed obey_read_settings(struct rm_host_obey *obey, struct rm_obey_step *step, uint32_t wanted) {
    struct rm_record const *record = NULL;
    enum rm_obey_look const look =
        obey->source.next(obey->source.context, RM_OBEY_ADOPTED, &obey->next_adopted, &record);
    if (look == RM_OBEY_COMES)
        return RM_OBEY_WAITS;
    uint32_t const generation = look == RM_OBEY_IS_THERE ? rm_obey_lane(record, RM_ADOPTED_GENERATION) : 0;
    if (look != RM_OBEY_IS_THERE || generation > wanted)
        return rm_obey_differs(step, RM_REPLAY_SETTINGS, "the values of generation %u are not all on record", wanted);
    obey->next_adopted = record->turn + obey->program->setup.period_turns;
    if (generation <= obey->reads_generation) /* told of what the program was restored with */
        return RM_OBEY_GIVEN;
    if (obey_read_values(obey, step, record) != RM_OBEY_GIVEN)
        return RM_OBEY_DIFFERS;
    if (rm_obey_lane(record, RM_ADOPTED_LEFT) != 0)
        return RM_OBEY_GIVEN;
    struct rm_checksum sum = rm_checksum_begin();
    rm_checksum_add(&sum, obey->reads, obey->program->setting_values);
    obey->reads_generation = generation;
    /* One before it may have begun where this recording had not. */
    if (generation == wanted && rm_checksum_end(&sum) != rm_obey_lane(record, RM_ADOPTED_CHECKSUM))
        return rm_obey_differs(step, RM_REPLAY_SETTINGS, "values of generation %u are not those that were adopted",
                               generation);
    return RM_OBEY_GIVEN;
}

/** Reads on until all values of the step's generation are there. */
static enum rm_obeyed obey_read_generation(struct rm_host_obey *obey, struct rm_obey_step *step) {
    uint32_t const wanted = rm_obey_lane(&step->decision, RM_DECISION_SETTINGS);
    while (obey->reads_generation != wanted) {
        enum rm_obeyed const obeyed = obey_read_settings(obey, step, wanted);
        if (obeyed != RM_OBEY_GIVEN)
            return obeyed;
    }
    return RM_OBEY_GIVEN;
}

/** They are adopted by its own steps too: where there is no room to tell what changed, all of them are told. */
static void obey_adopt_settings(struct rm_host_obey *obey) {
    struct rm_host_journal *journal = &obey->decisions->journal;
    if (obey->generation == obey->reads_generation)
        return;
    memcpy(obey->program->setting, obey->reads, obey->program->setting_values * sizeof obey->reads[0]);
    obey->generation = obey->reads_generation;
    if (rm_host_journal_has_room(journal))
        rm_host_journal_note(journal, obey->program->setting);
    else
        rm_host_journal_begin(journal, obey->program->setting);
}

/* ── what had been sent ── */

static enum rm_obeyed obey_take_sent(struct rm_host_obey *obey, struct rm_obey_step *step) {
    struct rm_host_program *program = obey->program;
    uint32_t const wanted = rm_obey_lane(&step->decision, RM_DECISION_SENT);
    uint32_t found = 0;
    for (uint32_t group = 0; wanted > 0 && group < obey->decisions->groups; ++group) {
        struct rm_record const *record = NULL;
        if (obey_look(obey, RM_OBEY_SENT, group, step->decision.turn, &record) != RM_OBEY_IS_THERE)
            continue;
        ++found;
        for (uint32_t i = 0; i < RM_LANES && group * RM_LANES + i < program->setup.actuator_count; ++i)
            program->sent[group * RM_LANES + i] = (double)record->lane[i].f;
    }
    if (found == wanted)
        return obey->code == RM_OK ? RM_OBEY_GIVEN : RM_OBEY_DIFFERS;
    return rm_obey_differs(step, RM_REPLAY_SENT, "%u records of what had been sent, and %u were written", found,
                           wanted);
}

/* ── inputs ── */

static enum rm_obeyed obey_take_mask(struct rm_host_obey *obey, struct rm_obey_step *step) {
    uint32_t const inputs = obey->program->setup.input_count;
    uint32_t const wanted = rm_obey_lane(&step->decision, RM_DECISION_MISSING);
    uint32_t found = 0;
    struct rm_record const *record = NULL;
    memset(obey->missing, 0, inputs);
    for (uint32_t i = 0; wanted > 0 && i < inputs; ++i) {
        uint32_t const mask = i / RM_DECISION_MASK_INPUTS, bit = i % RM_DECISION_MASK_INPUTS;
        if (bit == 0 && obey_look(obey, RM_OBEY_MISSING, mask, step->decision.turn, &record) != RM_OBEY_IS_THERE)
            return rm_obey_differs(step, RM_REPLAY_INPUTS, "%u inputs were missing, and it is not there which", wanted);
        obey->missing[i] = (rm_obey_lane(record, bit / MASK_BITS) >> bit % MASK_BITS & 1) != 0;
        found += obey->missing[i];
    }
    if (found == wanted)
        return RM_OBEY_GIVEN;
    return rm_obey_differs(step, RM_REPLAY_INPUTS, "%u inputs were missing, and the mask names %u", wanted, found);
}

/** Records at the end of an input's run that the step did not have, also where they are on record. */
static enum rm_obeyed obey_take_end(struct rm_host_obey *obey, struct rm_obey_step *step, uint32_t input,
                                    uint64_t *unfinished) {
    struct rm_record const *record = NULL;
    if (obey_look(obey, RM_OBEY_UNFINISHED, input / RM_LANES, step->decision.turn, &record) != RM_OBEY_IS_THERE)
        return rm_obey_differs(step, RM_REPLAY_INPUTS, "%s was missing, and it is not there how much of its run",
                               obey->program->setup.input[input]);
    *unfinished = rm_obey_lane(record, input % RM_LANES);
    return RM_OBEY_GIVEN;
}

static enum rm_obeyed obey_take_run(struct rm_host_obey *obey, struct rm_obey_step *step, uint32_t input) {
    struct rm_host_runs *runs = obey->runs;
    uint64_t const count = runs->run[input].count;
    uint64_t unfinished = 0;
    if (obey->missing[input] && obey_take_end(obey, step, input, &unfinished) != RM_OBEY_GIVEN)
        return RM_OBEY_DIFFERS;
    for (uint64_t n = 0; n < count; ++n) {
        rm_turn const turn = rm_host_runs_turn(runs, input, n);
        struct rm_record const *record = NULL;
        if (turn != RM_TURN_NONE && n + unfinished < count &&
            obey_look(obey, RM_OBEY_INPUT, input, turn, &record) == RM_OBEY_COMES)
            return RM_OBEY_WAITS;
        runs->record[input][n] = record != NULL ? *record : (struct rm_record){.turn = RM_TURN_NONE};
    }
    return obey->code == RM_OK ? RM_OBEY_GIVEN : RM_OBEY_DIFFERS;
}

/** As far back as the step had them. */
static enum rm_obeyed obey_take_span(struct rm_host_obey *obey, struct rm_obey_step *step) {
    uint64_t const steps = rm_obey_lane(&step->decision, RM_DECISION_FLAGS) >> RM_DECISION_RUN_SHIFT;
    if (steps < 1 || steps > obey->runs->steps_max)
        return rm_obey_differs(step, RM_REPLAY_INPUTS, "runs of %llu steps are on record, expected 1 to %llu",
                               (unsigned long long)steps, (unsigned long long)obey->runs->steps_max);
    rm_host_runs_span(obey->runs, step->decision.turn, steps);
    rm_host_program_give_runs(obey->program, obey->runs);
    return RM_OBEY_GIVEN;
}

static enum rm_obeyed obey_take_record(struct rm_host_obey *obey, struct rm_obey_step *step, uint32_t input) {
    struct rm_record const *record = NULL;
    if (obey->missing[input])
        return RM_OBEY_GIVEN;
    enum rm_obey_look const look = obey_look(obey, RM_OBEY_INPUT, input, step->decision.turn, &record);
    if (look == RM_OBEY_COMES)
        return RM_OBEY_WAITS;
    if (look != RM_OBEY_IS_THERE)
        return rm_obey_differs(step, RM_REPLAY_INPUTS, "%s has no record of this turn%s, and the step had one",
                               obey->program->setup.input[input], look == RM_OBEY_HAS_ENDED ? " or a later one" : "");
    obey->record[input] = *record;
    return RM_OBEY_GIVEN;
}

/** The inputs that had come, and which had not. Those that are there are read once, also where others are waited for. */
static enum rm_obeyed obey_take_inputs(struct rm_host_obey *obey, struct rm_obey_step *step) {
    bool const has_runs = obey->program->code.it->takes_runs != 0;
    if (obey_take_mask(obey, step) != RM_OBEY_GIVEN || (has_runs && obey_take_span(obey, step) != RM_OBEY_GIVEN))
        return RM_OBEY_DIFFERS;
    for (uint32_t i = obey->inputs_read; i < obey->program->setup.input_count; ++i) {
        enum rm_obeyed obeyed = has_runs ? obey_take_run(obey, step, i) : RM_OBEY_GIVEN;
        if (obeyed == RM_OBEY_GIVEN)
            obeyed = obey_take_record(obey, step, i);
        if (obeyed != RM_OBEY_GIVEN)
            return obeyed;
        obey->inputs_read = i + 1;
    }
    return RM_OBEY_GIVEN;
}

/* ── results of `work` ── */

/** `low` as the number of 64 bits that is next to `near`, at or above it. */
static uint64_t obey_extend(uint64_t near, uint32_t low) { return near + (uint32_t)(low - (uint32_t)near); }

/** The exchange goes as far as on record: `work` must have run since it went on last. */
static enum rm_obeyed obey_allow(struct rm_host_obey *obey, struct rm_obey_step const *step) {
    struct rm_exchange const *now = &obey->program->command.exchange;
    struct rm_exchange const allowed = {
        .asked = obey_extend(now->asked, rm_obey_lane(&step->decision, RM_DECISION_ASKED)),
        .adopted = obey_extend(now->adopted, rm_obey_lane(&step->decision, RM_DECISION_ADOPTED)),
    };
    bool const goes_on = allowed.asked != now->asked || allowed.adopted != now->adopted;
    if (goes_on && obey->source.has_worked != NULL && !obey->source.has_worked(obey->source.context))
        return RM_OBEY_WAITS;
    obey->program->given.allowed = allowed;
    return RM_OBEY_GIVEN;
}

/* ── the step ── */

/** A step 0: `init`, with its settings and with what had been sent. */
static enum rm_obeyed obey_begin_grant(struct rm_host_obey *obey, struct rm_obey_step *step, struct rm_error *error) {
    obey_adopt_settings(obey);
    if (obey_take_sent(obey, step) != RM_OBEY_GIVEN)
        return RM_OBEY_DIFFERS;
    obey->code = rm_host_program_init(obey->program, error);
    for (uint32_t i = 0; i < obey->program->setup.input_count; ++i)
        if (obey->missing[i])
            obey->record[i] = (struct rm_record){.turn = RM_TURN_NONE};
    rm_host_decisions_begin(obey->decisions, rm_obey_lane(&step->decision, RM_DECISION_GRANT));
    return obey->code == RM_OK ? RM_OBEY_GIVEN : RM_OBEY_DIFFERS;
}

enum rm_obeyed rm_host_obey_give(struct rm_host_obey *obey, struct rm_obey_step *step, struct rm_error *error) {
    bool const begins = rm_host_obey_is_first(step);
    if (begins && rm_host_obey_is_opened(step) && obey->generation != 0)
        obey->generation = obey->reads_generation = 0;
    enum rm_obeyed obeyed = obey_read_generation(obey, step);
    if (obeyed == RM_OBEY_GIVEN)
        obeyed = obey_take_inputs(obey, step);
    if (obeyed == RM_OBEY_GIVEN)
        obeyed = obey_allow(obey, step);
    if (obeyed != RM_OBEY_GIVEN)
        return obeyed;
    if (begins)
        return obey_begin_grant(obey, step, error);
    obey_adopt_settings(obey);
    return obey_take_sent(obey, step);
}

void rm_host_obey_go_on(struct rm_host_obey *obey, struct rm_obey_step const *step) {
    obey->next = step->decision.turn + obey->program->setup.period_turns;
    obey->inputs_read = 0;
    obey->has_begun = true;
}

void rm_host_obey_make_step(struct rm_host_obey *obey, struct rm_obey_step *step, double *setpoint) {
    struct rm_host_program *program = obey->program;
    rm_host_program_expect(program, NULL);
    for (uint32_t i = 0; i < program->setup.input_count; ++i)
        if (!obey->missing[i])
            rm_host_program_arrive(program, i, &obey->record[i]);
    uint32_t const missing = rm_obey_lane(&step->decision, RM_DECISION_MISSING);
    struct rm_host_outcome outcome = {.skipped = rm_obey_lane(&step->decision, RM_DECISION_SKIPPED)};
    outcome.committed =
        rm_host_program_step(program, step->decision.turn, obey->record, obey->missing, missing) == RM_STEP_SEND;
    outcome.setpoints = rm_host_decisions_setpoints(obey->decisions, outcome.committed);
    memcpy(setpoint, program->command.setpoint, program->setup.actuator_count * sizeof setpoint[0]);
    rm_host_program_prepare(program);
    rm_host_decisions_record(obey->decisions, &outcome);
    step->told->step = program->given.steps;
    step->told->committed = outcome.committed;
    step->told->setpoint = setpoint;
    rm_host_obey_go_on(obey, step);
}

void rm_host_obey_compare(struct rm_obey_step *step, struct rm_record const *made) {
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
        uint32_t const own = rm_obey_lane(made, COMPARED[i].lane);
        uint32_t const recorded = rm_obey_lane(&step->decision, COMPARED[i].lane);
        if (own == recorded)
            continue;
        if (COMPARED[i].differs == RM_REPLAY_RESULT)
            rm_obey_differs(step, RM_REPLAY_RESULT, "%s: %u, and %u on record", COMPARED[i].what, own, recorded);
        else
            rm_obey_differs(step, COMPARED[i].differs, "%s: checksum %08x, and %08x on record", COMPARED[i].what, own,
                            recorded);
        return;
    }
}
