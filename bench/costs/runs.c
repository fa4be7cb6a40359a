// SPDX-License-Identifier: Apache-2.0
/** The runs of a step (host/host_runs.h): all turns of some BPMs since the step before, read from their rings, and with
 * their checksum in the decision record. Steps are of 576 turns; the last case comes after 63 that were skipped. */
#include "base/zeroed.h"
#include "cost.h"
#include "fabric/stream_writer.h"
#include "host/host_decision.h"
#include "host/host_runs.h"

enum { INPUTS_MAX = 4, PERIOD = 576, RECORDS = 65536, MARGIN = 64, STEPS = 64, CALLS = 100 };

static struct rm_application_code const taking_code = {.takes_runs = 1};

struct runs_cost {
    struct rm_record record[INPUTS_MAX];
    struct rm_host_program program;
    struct rm_host_decisions decisions;
    struct rm_host_runs runs;
    struct rm_stream_view view[INPUTS_MAX];
    struct rm_stream const *input[INPUTS_MAX];
    rm_turn turn;
    uint64_t skipped;
    bool is_missing[INPUTS_MAX];
};

static void runs_put(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)context;
    (void)stream;
    (void)record;
    (void)tsc;
}

/** A ring that is full, of turns up to RECORDS. */
static void runs_fill_ring(struct runs_cost *cost, uint32_t input) {
    struct rm_stream *const stream = rm_zeroed(1, sizeof *stream + RECORDS * sizeof(struct rm_slot));
    struct rm_stream_writer writer;
    if (stream == NULL)
        bench_fail("no memory for a ring");
    *stream = (struct rm_stream){.slots_offset = sizeof *stream, .capacity = RECORDS, .period = 1, .margin = MARGIN};
    stream->lane_count = 8;
    stream->head = stream->first = RM_TURN_NONE;
    memset(stream + 1, 0xFF, RECORDS * sizeof(struct rm_slot));
    if (!rm_stream_writer_open(&writer, stream, 0))
        bench_fail("no ring");
    for (rm_turn turn = 1; turn <= RECORDS; ++turn) {
        struct rm_record const record = {.turn = turn, .lane = {{.i = (int32_t)turn}}};
        rm_stream_writer_put(&writer, &record);
        rm_stream_writer_publish(&writer, 0);
    }
    cost->view[input] = (struct rm_stream_view){stream, (struct rm_slot const *)(stream + 1), RECORDS - 1, 1};
    cost->input[input] = stream;
    if (!rm_host_runs_make_room(&cost->runs, input, stream))
        bench_fail("no memory for runs");
}

static struct runs_cost *runs_make(uint32_t inputs, uint64_t skipped) {
    struct runs_cost *const cost = rm_zeroed(1, sizeof *cost);
    if (cost == NULL || !rm_host_runs_open(&cost->runs, inputs, PERIOD))
        bench_fail("no memory for runs");
    for (uint32_t i = 0; i < inputs; ++i)
        runs_fill_ring(cost, i);
    cost->skipped = skipped;
    cost->program.setup = (struct rm_host_setup){.input_count = inputs, .period_turns = PERIOD};
    cost->program.code.it = &taking_code;
    cost->program.input = cost->input;
    cost->program.given = (struct rm_step){.record = cost->record, .is_missing = cost->is_missing};
    cost->decisions = (struct rm_host_decisions){.put = runs_put, .context = cost};
    if (!rm_host_decisions_open(&cost->decisions, &cost->program))
        bench_fail("no memory for a decision record");
    return cost;
}

/** One after the other; from the ring's newest back to where it still holds all. */
static void runs_read(struct runs_cost *cost) {
    uint64_t const held = RECORDS / PERIOD - STEPS - 2, step = cost->turn++ % (cost->skipped > 0 ? held : STEPS);
    rm_turn const turn = (RECORDS / PERIOD - step) * PERIOD;
    if (rm_host_runs_read(&cost->runs, cost->view, turn, cost->skipped) != 0)
        bench_fail("records are lost");
}

static uint64_t runs_read_steps(void *argument) {
    struct runs_cost *const cost = argument;
    uint64_t const calls = cost->skipped > 0 ? CALLS / 10 : CALLS;
    for (uint64_t call = 0; call < calls; ++call)
        runs_read(cost);
    return calls;
}

static uint64_t runs_record_steps(void *argument) {
    struct runs_cost *const cost = argument;
    struct rm_host_outcome const outcome = {.committed = true};
    for (uint64_t call = 0; call < CALLS; ++call) {
        runs_read(cost);
        rm_host_program_give_runs(&cost->program, &cost->runs);
        rm_host_decisions_record(&cost->decisions, &outcome);
    }
    return CALLS;
}

static size_t runs_prepare(struct bench_case *cases) {
    cases[0] = (struct bench_case){"1 BPM, read", runs_read_steps, runs_make(1, 0), NULL, NULL};
    cases[1] = (struct bench_case){"1 BPM, read and recorded", runs_record_steps, runs_make(1, 0), &cases[0], NULL};
    cases[2] = (struct bench_case){"4 BPMs, read", runs_read_steps, runs_make(INPUTS_MAX, 0), NULL, NULL};
    cases[3] = (struct bench_case){"1 BPM, 64 steps at once", runs_read_steps, runs_make(1, STEPS - 1), NULL, NULL};
    return 4;
}

struct bench_cost const runs_cost = {.name = "runs",
                                     .about = "to give a step all turns since the one before, 576 of each BPM",
                                     .rounds = 31,
                                     .unit = "µs",
                                     .unit_ns = 1000,
                                     .prepare = runs_prepare};
