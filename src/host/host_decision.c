// SPDX-License-Identifier: Apache-2.0
#include "host/host_decision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"
#include "host/host_checksum.h"

enum {
    /** Kept of `decision`: at 10 kHz some seconds, as of an application's own streams. */
    STEP_RECORDS = 65536,
    /** Kept of the others, which are many, and which have no record of most steps. */
    CHANGE_RECORDS = 8192,

    MASK_BITS = 32,
    STATUS_BIT = 48,
    /** Of a record's number in its run, below those of the input's: together they stay below the status. */
    RUN_BITS = 32,
};

static uint32_t decisions_parts(uint32_t count, uint32_t each) { return (count + each - 1) / each; }

bool rm_host_decisions_open(struct rm_host_decisions *decisions, struct rm_host_program const *program) {
    struct rm_application_code const *code = program->code.it;
    decisions->program = program;
    decisions->masks = decisions_parts(program->setup.input_count, RM_DECISION_MASK_INPUTS);
    decisions->groups = decisions_parts(program->setup.actuator_count, RM_LANES);
    decisions->ends = code->takes_runs != 0 ? decisions_parts(program->setup.input_count, RM_LANES) : 0;
    decisions->stream_count = RM_FIRST_MASK_STREAM + decisions->masks + decisions->groups + decisions->ends;
    for (uint32_t i = 0; i < code->reading_count; ++i)
        decisions->arrays += code->readings[i].is_array && !code->readings[i].is_of_computer;
    decisions->sent = rm_zeroed(decisions->groups, sizeof *decisions->sent);
    return decisions->sent != NULL && rm_host_journal_allocate(&decisions->journal, program->setting_values);
}

void rm_host_decisions_close(struct rm_host_decisions *decisions) {
    free(decisions->sent);
    rm_host_journal_free(&decisions->journal);
}

/* ── its streams ── */

static char const *const DECISION_LANES[RM_LANES] = {
    "step",  "grant",   "flags", "missing", "skipped",   "settings",
    "asked", "adopted", "sent",  "inputs",  "setpoints", "visible",
};
static char const *const ADOPTED_LANES[RM_LANES] = {
    "generation", "left", "checksum", "element0", "low0", "high0",
    "element1",   "low1", "high1",    "element2", "low2", "high2",
};

static void decisions_describe_lanes(struct rm_stream *stream, char const *const names[RM_LANES]) {
    stream->lane_count = RM_LANES;
    for (uint32_t l = 0; l < RM_LANES; ++l) {
        stream->lane[l].type = RM_LANE_I32;
        snprintf(stream->lane[l].name, sizeof stream->lane[l].name, "%s", names[l]);
    }
}

/** Lanes of inputs, so many in each. */
static void decisions_describe_inputs(struct rm_stream *stream, char const *word, uint32_t each) {
    stream->lane_count = RM_LANES;
    for (uint32_t l = 0; l < RM_LANES; ++l) {
        stream->lane[l].type = RM_LANE_I32;
        snprintf(stream->lane[l].name, sizeof stream->lane[l].name, "%s%u", word, l * each);
    }
}

static void decisions_describe_sent(struct rm_host_setup const *setup, uint32_t group, struct rm_stream *stream) {
    for (uint32_t i = group * RM_LANES; i < setup->actuator_count && stream->lane_count < RM_LANES; ++i) {
        struct rm_lane_info *const lane = &stream->lane[stream->lane_count++];
        lane->type = RM_LANE_F32;
        snprintf(lane->name, sizeof lane->name, "value%u", i);
        snprintf(lane->unit, sizeof lane->unit, "%s", setup->actuator[i].unit != NULL ? setup->actuator[i].unit : "");
    }
}

void rm_host_decisions_stream(struct rm_host_decisions const *decisions, uint32_t i, struct rm_stream *stream,
                              char name[RM_LANE_NAME_BYTES + 8], char description[RM_DESCRIPTION_BYTES]) {
    size_t const bytes = RM_LANE_NAME_BYTES + 8;
    uint32_t const first_group = RM_FIRST_MASK_STREAM + decisions->masks;
    uint32_t const first_end = first_group + decisions->groups;
    *stream = (struct rm_stream){
        .capacity = i == RM_DECISION_STREAM ? STEP_RECORDS : CHANGE_RECORDS,
        .period = decisions->program->setup.period_turns,
        .instrument_kind = RM_KIND_APPLICATION,
        .filter = "on-change",
        .gain = 1.0,
    };
    if (i == RM_DECISION_STREAM) {
        snprintf(stream->filter, sizeof stream->filter, "none");
        decisions_describe_lanes(stream, DECISION_LANES);
        snprintf(name, bytes, "decision");
        snprintf(description, RM_DESCRIPTION_BYTES, "what each step depended on, and checksums of what came of it");
    } else if (i == RM_ADOPTED_STREAM) {
        decisions_describe_lanes(stream, ADOPTED_LANES);
        snprintf(name, bytes, "settings_adopted");
        snprintf(description, RM_DESCRIPTION_BYTES, "values of settings that the steps have adopted, in their order");
    } else if (i < first_group) {
        decisions_describe_inputs(stream, "inputs", MASK_BITS);
        snprintf(name, bytes, "missing%u", i - RM_FIRST_MASK_STREAM);
        snprintf(description, RM_DESCRIPTION_BYTES, "bits of the inputs that were missing, from input %u on",
                 (i - RM_FIRST_MASK_STREAM) * RM_DECISION_MASK_INPUTS);
    } else if (i >= first_end) {
        decisions_describe_inputs(stream, "input", 1);
        snprintf(name, bytes, "unfinished%u", i - first_end);
        snprintf(description, RM_DESCRIPTION_BYTES, "records at the end of a run that had not come, from input %u on",
                 (i - first_end) * RM_LANES);
    } else {
        decisions_describe_sent(&decisions->program->setup, i - first_group, stream);
        snprintf(name, bytes, "sent%u", i - first_group);
        snprintf(description, RM_DESCRIPTION_BYTES, "what had been sent, as the step saw it, from %.48s on",
                 decisions->program->actuator[(i - first_group) * RM_LANES]);
    }
}

/* ── checksums ── */

/** Status and lanes of record `number`. Those beside each other are in accumulators of their own. */
static void decisions_sum_record(struct rm_checksum *sum, struct rm_record const *record, uint64_t number,
                                 uint32_t words) {
    uint64_t all =
        rm_checksum_mix(sum->lane[number % RM_CHECKSUM_LANES], record->tag >> STATUS_BIT << STATUS_BIT | number);
    for (uint32_t word = 0; word < words; ++word)
        all = rm_checksum_mix(all, rm_checksum_word(record->lane, word));
    sum->lane[number % RM_CHECKSUM_LANES] = all;
}

/** A record's place tells which there are: of the others nothing is added. */
static void decisions_sum_run(struct rm_checksum *sum, struct rm_run const *run, uint32_t input, uint32_t words) {
    uint64_t const first = (uint64_t)input << RUN_BITS;
    for (uint64_t n = 0; n < run->count; ++n)
        if (run->record[n].turn != RM_TURN_NONE)
            decisions_sum_record(sum, &run->record[n], first | n, words);
}

/** Records that were not missing, of runs all that were there; and what had been sent, as recorded. */
static uint32_t decisions_sum_inputs(struct rm_host_decisions const *decisions) {
    struct rm_host_program const *program = decisions->program;
    bool const has_runs = program->code.it->takes_runs != 0;
    struct rm_checksum sum = rm_checksum_begin();
    rm_checksum_add(&sum, decisions->sent, (size_t)decisions->groups * RM_LANES / 2);
    for (uint32_t i = 0; i < program->setup.input_count; ++i) {
        uint32_t const lanes = program->input[i] != NULL ? program->input[i]->lane_count : RM_LANES;
        if (has_runs)
            decisions_sum_run(&sum, &program->given.run[i], i, (lanes + 1) / 2);
        else if (!program->given.is_missing[i])
            decisions_sum_record(&sum, &program->given.record[i], i, (lanes + 1) / 2);
    }
    return rm_checksum_end(&sum);
}

uint32_t rm_host_decisions_setpoints(struct rm_host_decisions const *decisions, bool committed) {
    struct rm_checksum sum = rm_checksum_begin();
    sum.lane[0] = rm_checksum_mix(sum.lane[0], committed);
    rm_checksum_add(&sum, decisions->program->command.setpoint, decisions->program->setup.actuator_count);
    return rm_checksum_end(&sum);
}

/** Numbers, streams, the rows of this step, and the array whose turn it is. */
static uint32_t decisions_sum_visible(struct rm_host_decisions const *decisions) {
    struct rm_host_program const *program = decisions->program;
    struct rm_application_code const *code = program->code.it;
    uint64_t const chosen = decisions->arrays > 0 ? program->given.steps % decisions->arrays : 0;
    struct rm_checksum sum = rm_checksum_begin();
    uint32_t array = 0;
    for (uint32_t i = 0; i < code->reading_count; ++i) {
        if (code->readings[i].is_of_computer || (code->readings[i].is_array && array++ != chosen))
            continue;
        rm_checksum_add(&sum, program->reading + program->reading_at[i], program->reading_length[i]);
    }
    rm_checksum_add(&sum, program->stream, (size_t)code->stream_count * RM_LANES / 2);
    rm_host_rows_add(&program->rows, &sum);
    return rm_checksum_end(&sum);
}

/* ── records ── */

void rm_host_decisions_begin(struct rm_host_decisions *decisions, uint64_t grant_number) {
    decisions->grant_number = grant_number;
    decisions->is_fresh = true;
    rm_host_journal_begin(&decisions->journal, decisions->program->setting);
}

static void decisions_put(struct rm_host_decisions *decisions, uint32_t stream, struct rm_record const *record) {
    decisions->put(decisions->context, stream, record, decisions->tsc);
}

static void decisions_put_missing(struct rm_host_decisions *decisions, struct rm_record *record) {
    bool const *is_missing = decisions->program->given.is_missing;
    uint32_t const inputs = decisions->program->setup.input_count;
    for (uint32_t mask = 0; mask < decisions->masks; ++mask) {
        uint32_t const first = mask * RM_DECISION_MASK_INPUTS;
        memset(record->lane, 0, sizeof record->lane);
        for (uint32_t i = first; i < inputs && i < first + RM_DECISION_MASK_INPUTS; ++i) {
            uint32_t const bit = (uint32_t)is_missing[i] << (i - first) % MASK_BITS;
            record->lane[(i - first) / MASK_BITS].i |= (int32_t)bit;
        }
        decisions_put(decisions, RM_FIRST_MASK_STREAM + mask, record);
    }
}

/** How many records at the end of each run had not come. */
static void decisions_put_unfinished(struct rm_host_decisions *decisions, struct rm_record *record) {
    uint32_t const inputs = decisions->program->setup.input_count;
    for (uint32_t part = 0; part < decisions->ends; ++part) {
        memset(record->lane, 0, sizeof record->lane);
        for (uint32_t i = part * RM_LANES; i < inputs && i < (part + 1) * RM_LANES; ++i)
            record->lane[i % RM_LANES].i = (int32_t)rm_host_runs_unfinished(&decisions->program->given.run[i]);
        decisions_put(decisions, RM_FIRST_MASK_STREAM + decisions->masks + decisions->groups + part, record);
    }
}

/** Puts those that have changed. Returns how many. */
static uint32_t decisions_put_sent(struct rm_host_decisions *decisions, struct rm_record *record) {
    uint32_t const actuators = decisions->program->setup.actuator_count;
    uint32_t put = 0;
    for (uint32_t group = 0; group < decisions->groups; ++group) {
        uint32_t const first = group * RM_LANES;
        uint32_t const count = actuators - first < RM_LANES ? actuators - first : RM_LANES;
        double const *const sent = decisions->program->sent + first;
        float now[RM_LANES] = {0};
        for (uint32_t i = 0; i < count; ++i)
            now[i] = (float)sent[i];
        if (!decisions->is_fresh && memcmp(now, decisions->sent[group], sizeof now) == 0)
            continue;
        memcpy(decisions->sent[group], now, sizeof now);
        memcpy(record->lane, now, sizeof now);
        decisions_put(decisions, RM_FIRST_MASK_STREAM + decisions->masks + group, record);
        ++put;
    }
    decisions->is_fresh = false;
    return put;
}

void rm_host_decisions_record(struct rm_host_decisions *decisions, struct rm_host_outcome const *outcome) {
    struct rm_host_program const *program = decisions->program;
    struct rm_record record = {.turn = program->given.turn, .tag = rm_tag_full_rate(outcome->tsc, 0)};
    decisions->tsc = outcome->tsc;
    if (rm_host_journal_step(&decisions->journal, program->setting, record.lane))
        decisions_put(decisions, RM_ADOPTED_STREAM, &record);
    if (program->given.missing > 0) {
        decisions_put_missing(decisions, &record);
        decisions_put_unfinished(decisions, &record);
    }
    uint32_t const run_steps = (uint32_t)(program->given.run_turns / program->setup.period_turns);
    uint32_t const sent = decisions_put_sent(decisions, &record);
    uint32_t const lane[RM_LANES] = {
        [RM_DECISION_STEP] = (uint32_t)program->given.steps,
        [RM_DECISION_GRANT] = (uint32_t)decisions->grant_number,
        [RM_DECISION_FLAGS] = (outcome->committed ? RM_DECISION_COMMITTED : 0) |
                              (outcome->late ? RM_DECISION_LATE : 0) |
                              (decisions->has_stepped ? 0 : RM_DECISION_OPENED) | run_steps << RM_DECISION_RUN_SHIFT,
        [RM_DECISION_MISSING] = program->given.missing,
        [RM_DECISION_SKIPPED] = (uint32_t)outcome->skipped,
        [RM_DECISION_SETTINGS] = decisions->journal.generation,
        [RM_DECISION_ASKED] = (uint32_t)program->command.exchange.asked,
        [RM_DECISION_ADOPTED] = (uint32_t)program->command.exchange.adopted,
        [RM_DECISION_SENT] = sent,
        [RM_DECISION_INPUTS] = decisions_sum_inputs(decisions),
        [RM_DECISION_SETPOINTS] = outcome->setpoints,
        [RM_DECISION_VISIBLE] = decisions_sum_visible(decisions),
    };
    memcpy(record.lane, lane, sizeof lane);
    decisions->last = record;
    decisions_put(decisions, RM_DECISION_STREAM, &record);
    decisions->has_stepped = true;
}
