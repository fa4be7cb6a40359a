// SPDX-License-Identifier: Apache-2.0
/** The decision record of an application's step: what the host adds behind a step's vector. 168 inputs of four lanes; 20
 * readings that are numbers and four that are arrays, as many as the orbit feedback's; three streams. Its supplies
 * stand still, or all of them move in every step; one record of a settings' journal, or masks of missing inputs, is put
 * with it in the last two. */
#include "base/zeroed.h"
#include "cost.h"
#include "fabric/stream_writer.h"
#include "host/host_decision.h"

enum {
    CALLS = 2000,
    INPUTS = 168,
    ACTUATORS = 528,
    NUMBERS = 20,
    ARRAYS = 4,
    ARRAY_VALUES = 336,
    SETTING_VALUES = 900,
    STREAMS = 3,
    STREAMS_MAX = 64,
    PERIOD = 12,
};

static struct rm_reading const numbers_and_arrays[NUMBERS + ARRAYS] = {
    [NUMBERS] = {.is_array = true},
    [NUMBERS + 1] = {.is_array = true},
    [NUMBERS + 2] = {.is_array = true},
    [NUMBERS + 3] = {.is_array = true},
};
static struct rm_application_code const measured_code = {
    .readings = numbers_and_arrays, .reading_count = NUMBERS + ARRAYS, .stream_count = STREAMS};

/** What a program gives to its decision record, made by hand. */
struct decision_cost {
    struct rm_host_program program;
    struct rm_host_decisions decisions;
    struct rm_stream_writer writer[STREAMS_MAX];
    struct rm_stream input;
    struct rm_stream const *inputs[INPUTS];
    struct rm_record record[INPUTS];
    struct rm_host_actuator actuator[ACTUATORS];
    char const *name[ACTUATORS];
    bool is_missing[INPUTS];
    double sent[ACTUATORS], setpoint[ACTUATORS], setting[SETTING_VALUES];
    double reading[NUMBERS + ARRAYS * ARRAY_VALUES];
    float stream[STREAMS][RM_LANES];
    uint32_t at[NUMBERS + ARRAYS], length[NUMBERS + ARRAYS];
    /** What each step changes. */
    bool moves, adopts;
};

static void decision_put(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    struct decision_cost *cost = context;
    rm_stream_writer_put(&cost->writer[stream], record);
    rm_stream_writer_publish(&cost->writer[stream], tsc);
}

static void decision_open_writers(struct decision_cost *cost) {
    for (uint32_t i = 0; i < cost->decisions.stream_count; ++i) {
        struct rm_stream described;
        char name[RM_LANE_NAME_BYTES + 8], description[RM_DESCRIPTION_BYTES];
        rm_host_decisions_stream(&cost->decisions, i, &described, name, description);
        described.slots_offset = sizeof described;
        described.margin = described.capacity / 8;
        struct rm_stream *stream = rm_zeroed(1, sizeof described + described.capacity * sizeof(struct rm_slot));
        *stream = described;
        stream->head = stream->first = RM_TURN_NONE;
        memset(stream + 1, 0xFF, described.capacity * sizeof(struct rm_slot));
        if (!rm_stream_writer_open(&cost->writer[i], stream, 0))
            bench_fail("no memory for a stream");
    }
}

static struct decision_cost *decision_make(uint32_t actuators, bool moves, bool misses, bool adopts) {
    struct decision_cost *cost = rm_zeroed(1, sizeof *cost);
    struct rm_host_program *program = &cost->program;
    cost->moves = moves;
    cost->adopts = adopts;
    cost->input.lane_count = 4;
    for (uint32_t i = 0; i < INPUTS; ++i)
        cost->inputs[i] = &cost->input;
    for (uint32_t i = 0; i < ACTUATORS; ++i)
        cost->name[i] = "ps";
    for (uint32_t i = 0, at = 0; i < NUMBERS + ARRAYS; at += cost->length[i++]) {
        cost->at[i] = at;
        cost->length[i] = i < NUMBERS ? 1 : ARRAY_VALUES;
    }
    for (uint32_t i = 0; misses && i < INPUTS; i += 50)
        cost->is_missing[i] = true;
    program->setup = (struct rm_host_setup){
        .input_count = INPUTS, .actuator_count = actuators, .actuator = cost->actuator, .period_turns = PERIOD};
    program->code.it = &measured_code;
    program->input = cost->inputs;
    program->actuator = cost->name;
    program->sent = cost->sent;
    program->setting = cost->setting;
    program->setting_values = SETTING_VALUES;
    program->reading = cost->reading;
    program->reading_at = cost->at;
    program->reading_length = cost->length;
    program->stream = cost->stream;
    program->command.setpoint = cost->setpoint;
    program->given =
        (struct rm_step){.record = cost->record, .is_missing = cost->is_missing, .missing = misses ? 4 : 0};
    cost->decisions = (struct rm_host_decisions){.put = decision_put, .context = cost};
    if (!rm_host_decisions_open(&cost->decisions, program))
        bench_fail("no memory for a decision record");
    decision_open_writers(cost);
    return cost;
}

static uint64_t decision_make_records(void *argument) {
    struct decision_cost *cost = argument;
    struct rm_host_outcome outcome = {.committed = true};
    for (uint64_t call = 0; call < CALLS; ++call) {
        for (uint32_t i = 0; cost->moves && i < cost->program.setup.actuator_count; i += RM_LANES)
            cost->sent[i] = (double)(float)call;
        cost->setting[0] += 1.0;
        if (cost->adopts && rm_host_journal_has_room(&cost->decisions.journal))
            rm_host_decisions_adopt(&cost->decisions);
        cost->program.given.turn += PERIOD;
        ++cost->program.given.steps;
        outcome.setpoints = rm_host_decisions_setpoints(&cost->decisions, true);
        rm_host_decisions_record(&cost->decisions, &outcome);
    }
    return CALLS;
}

static size_t decision_prepare(struct bench_case *cases) {
    static struct {
        char const *name;
        uint32_t actuators;
        bool moves, misses, adopts;
    } const kinds[] = {
        {"168 actuators, at rest", 168, false, false, false},    {"168 actuators, all move", 168, true, false, false},
        {"528 actuators, at rest", 528, false, false, false},    {"528 actuators, all move", 528, true, false, false},
        {"168, at rest, some missing", 168, false, true, false}, {"168, at rest, a setting", 168, false, false, true},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    for (size_t i = 0; i < KINDS; ++i)
        cases[i] = (struct bench_case){
            kinds[i].name, decision_make_records,
            decision_make(kinds[i].actuators, kinds[i].moves, kinds[i].misses, kinds[i].adopts), NULL, NULL};
    return KINDS;
}

struct bench_cost const decision_cost = {.name = "decision",
                                         .about = "to leave the decision record of an application's step",
                                         .rounds = 15,
                                         .unit = "ns",
                                         .unit_ns = 1,
                                         .prepare = decision_prepare};
