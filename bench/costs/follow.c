// SPDX-License-Identifier: Apache-2.0
/** What a standby server adds: to make a step of the other server's again (host/host_follow.h), and, once, to save the
 * state that it begins from (host/host_state_bytes.h). The orbit feedback, ON: 84 electronics of two rows, 264
 * correctors in two planes, thirteen lines in each of their channels. Records lie in memory: reading rings is what
 * leading takes too. The feedback is found as any application is (RINGMASTER_LIBEXEC). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/feedback/state/names.h"
#include "base/zeroed.h"
#include "cost.h"
#include "host/host_follow.h"
#include "host/host_state_bytes.h"

enum { INPUTS = 84, LANES = 2, CORRECTORS = 264, PLANES = 2, PERIOD = 120, CALLS = 20, STREAMS_MAX = 64 };

struct follow_side {
    struct rm_record record[INPUTS];
    struct rm_host_decisions decisions;
    struct rm_host_program *program;
};

struct follow_cost {
    struct follow_side leads, follows;
    /** What came in this cycle, and the records of its decision. */
    struct rm_record input[INPUTS], decision[STREAMS_MAX];
    struct rm_host_follow follow;
    struct rm_stream stream;
    rm_turn turn;
    uint8_t *bytes;
    size_t room;
    bool is_missing[INPUTS], missing[INPUTS];
};

static struct follow_cost *follow_subject;

/* ── files ── */

static FILE *follow_create(char const *folder, char const *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        bench_fail("no file");
    return file;
}

static char follow_plane(uint32_t corrector) { return corrector < CORRECTORS / PLANES ? 'x' : 'y'; }

static void follow_write_files(char const *folder) {
    FILE *matrix = follow_create(folder, "response.csv");
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        fprintf(matrix, ",ps/%c%03u", follow_plane(c), c);
    for (uint32_t row = 0; row < LANES * INPUTS; ++row) {
        char const plane = row % LANES == 0 ? 'x' : 'y';
        fprintf(matrix, "\nbpm%02u/%c1", row / LANES, plane);
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            fprintf(matrix, ",%.9g", follow_plane(c) == plane ? 1e4 * bench_draw() : 0.0);
    }
    fputc('\n', matrix);
    fclose(matrix);
    FILE *file = follow_create(folder, "feedback.yaml");
    fputs("matrix: response.csv\nper: mode\ntikhonov: 0.01\nfamilies:\n"
          "  - {name: all, actuators: [\"ps/*\"], plant: {bandwidth_hz: 1000, delay_us: 150}, integral_hz: 80, "
          "predictor: true, resonators: [50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900]}\n"
          "enable_conditions: {initial_error_um: 1e6}\nresonators:\n",
          file);
    for (int hz = 50; hz <= 900; hz += hz < 400 ? 50 : 100)
        fprintf(file, "  - {hz: %d, width_hz: %g, leak_hz: 0.01}\n", hz, 0.0125 * hz);
    fclose(file);
}

static void follow_remove_files(char const *folder) {
    char path[128];
    snprintf(path, sizeof path, "%s/response.csv", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/feedback.yaml", folder);
    unlink(path);
    rmdir(folder);
}

/* ── two of them ── */

static void follow_open_side(struct follow_cost *cost, struct follow_side *side, struct rm_host_setup const *setup) {
    struct rm_error error;
    if (rm_host_program_open(setup, &side->program, &error) != RM_OK)
        bench_fail(error.text);
    for (uint32_t i = 0; i < INPUTS; ++i)
        side->program->input[i] = &cost->stream;
    if (!rm_host_decisions_open(&side->decisions, side->program) || side->decisions.stream_count > STREAMS_MAX ||
        rm_host_program_init(side->program, &error) != RM_OK)
        bench_fail("it does not begin");
    rm_host_decisions_begin(&side->decisions, 1);
}

static void follow_put(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    struct follow_cost *cost = context;
    (void)tsc;
    cost->decision[stream] = *record;
}

static void follow_put_nowhere(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    (void)context;
    (void)stream;
    (void)record;
    (void)tsc;
}

static struct rm_record const *follow_record(struct follow_cost const *cost, enum rm_obey_stream stream,
                                             uint32_t number) {
    switch (stream) {
    case RM_OBEY_DECISION:
        return &cost->decision[RM_DECISION_STREAM];
    case RM_OBEY_ADOPTED:
        return &cost->decision[RM_ADOPTED_STREAM];
    case RM_OBEY_MISSING:
        return &cost->decision[RM_FIRST_MASK_STREAM + number];
    case RM_OBEY_SENT:
        return &cost->decision[RM_FIRST_MASK_STREAM + cost->leads.decisions.masks + number];
    default:
        return &cost->input[number];
    }
}

static enum rm_obey_look follow_at(void *context, enum rm_obey_stream stream, uint32_t number, rm_turn turn,
                                   struct rm_record const **record) {
    *record = follow_record(context, stream, number);
    return (*record)->turn == turn ? RM_OBEY_IS_THERE : RM_OBEY_IS_NOWHERE;
}

static enum rm_obey_look follow_next(void *context, enum rm_obey_stream stream, rm_turn *turn,
                                     struct rm_record const **record) {
    *record = follow_record(context, stream, 0);
    if ((*record)->turn == RM_TURN_NONE || (*record)->turn < *turn)
        return RM_OBEY_COMES;
    *turn = (*record)->turn;
    return RM_OBEY_IS_THERE;
}

/* ── a step ── */

static void follow_lead(struct follow_cost *cost) {
    struct rm_host_program *program = cost->leads.program;
    cost->turn += PERIOD;
    for (uint32_t i = 0; i < INPUTS; ++i) {
        cost->input[i] = (struct rm_record){.turn = cost->turn};
        for (uint32_t l = 0; l < LANES; ++l)
            cost->input[i].lane[l].i = (int32_t)(1e4 * bench_draw());
    }
    for (uint32_t c = 0; c < CORRECTORS; ++c)
        program->sent[c] = (double)(float)program->command.setpoint[c];
    rm_host_program_expect(program, NULL);
    for (uint32_t i = 0; i < INPUTS; ++i) {
        cost->leads.record[i] = cost->input[i];
        rm_host_program_arrive(program, i, &cost->leads.record[i]);
    }
    struct rm_host_outcome outcome = {.skipped = 0};
    outcome.committed =
        rm_host_program_step(program, cost->turn, cost->leads.record, cost->is_missing, 0) == RM_STEP_SEND;
    outcome.setpoints = rm_host_decisions_setpoints(&cost->leads.decisions, outcome.committed);
    rm_host_program_prepare(program);
    rm_host_decisions_record(&cost->leads.decisions, &outcome);
}

static uint64_t follow_leads_alone(void *argument) {
    for (unsigned call = 0; call < CALLS; ++call)
        follow_lead(argument);
    return CALLS;
}

static size_t follow_save(struct follow_cost *cost) {
    return rm_host_state_save(cost->leads.program, &cost->leads.decisions, cost->leads.record, cost->bytes, cost->room);
}

static uint64_t follow_leads_and_saves(void *argument) {
    struct follow_cost *cost = argument;
    for (unsigned call = 0; call < CALLS; ++call) {
        follow_lead(cost);
        if (follow_save(cost) == 0)
            bench_fail("nothing was saved");
    }
    return CALLS;
}

/** The other one begins where this one stands: other cases have led it on. */
static void follow_join(struct follow_cost *cost) {
    struct rm_host_state_place place;
    struct rm_error error;
    struct follow_side *const side = &cost->follows;
    if (rm_host_state_restore(side->program, &side->decisions, side->record, cost->bytes, follow_save(cost), &place,
                              &error) != RM_OK)
        bench_fail(error.text);
    rm_host_follow_begin(&cost->follow, place.turn, place.generation);
}

static uint64_t follow_leads_and_follows(void *argument) {
    struct follow_cost *cost = argument;
    struct rm_host_replayed told;
    for (unsigned call = 0; call < CALLS; ++call) {
        follow_lead(cost);
        if (rm_host_follow_step(&cost->follow, &told) != RM_FOLLOW_STEPPED || told.differs != RM_REPLAY_SAME)
            bench_fail(told.text);
    }
    return CALLS;
}

static void follow_close_loop(struct follow_cost *cost) {
    struct rm_error error;
    struct rm_host_program *program = cost->leads.program;
    for (unsigned i = 0; i < 20; ++i) {
        follow_lead(cost);
        rm_host_program_work(program);
    }
    if (rm_host_program_set(program, "loop", 0, &(double){1.0}, 1, &error) != RM_OK)
        bench_fail(error.text);
    rm_host_decisions_adopt(&cost->leads.decisions);
    for (unsigned i = 0; i < 2000; ++i)
        follow_lead(cost);
    if (program->reading[program->reading_at[FEEDBACK_STATE]] != FEEDBACK_ON)
        bench_fail("the feedback is not ON");
}

static struct follow_cost *follow_make(void) {
    static char names[CORRECTORS][16], inputs[INPUTS][16];
    static struct rm_host_actuator actuator[CORRECTORS];
    static char const *input[INPUTS];
    char folder[] = "/tmp/ringmaster-follow-XXXXXX", path[128];
    struct follow_cost *const cost = rm_zeroed(1, sizeof *cost);
    if (cost == NULL || mkdtemp(folder) == NULL)
        bench_fail("no memory, or no folder");
    follow_write_files(folder);
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        snprintf(names[c], sizeof names[c], "ps/%c%03u", follow_plane(c), c);
        actuator[c] =
            (struct rm_host_actuator){.name = names[c], .unit = "A", .low = -10, .high = 10, .slew_per_s = 1e5};
    }
    for (uint32_t i = 0; i < INPUTS; ++i) {
        snprintf(inputs[i], sizeof inputs[i], "bpm%02u/raw", i);
        input[i] = inputs[i];
    }
    cost->stream.lane_count = LANES;
    for (uint32_t l = 0; l < LANES; ++l) {
        snprintf(cost->stream.lane[l].name, sizeof cost->stream.lane[l].name, "%c1", l == 0 ? 'x' : 'y');
        snprintf(cost->stream.lane[l].unit, sizeof cost->stream.lane[l].unit, "nm");
        cost->stream.lane[l].type = RM_LANE_I32;
    }
    snprintf(path, sizeof path, "%s/feedback.yaml", folder);
    struct rm_host_setup const setup = {.name = "feedback",
                                        .code = "feedback",
                                        .turn_rate_hz = 1.157e6,
                                        .period_turns = PERIOD,
                                        .input_count = INPUTS,
                                        .input = input,
                                        .actuator_count = CORRECTORS,
                                        .actuator = actuator,
                                        .configuration = path};
    cost->turn = 1000ull * PERIOD;
    cost->leads.decisions = (struct rm_host_decisions){.put = follow_put, .context = cost};
    cost->follows.decisions = (struct rm_host_decisions){.put = follow_put_nowhere};
    follow_open_side(cost, &cost->leads, &setup);
    follow_open_side(cost, &cost->follows, &setup);
    follow_remove_files(folder);
    cost->room = rm_host_state_room(cost->leads.program);
    cost->bytes = rm_zeroed(1, cost->room);
    cost->follow.obey = (struct rm_host_obey){
        .source = {.at = follow_at, .next = follow_next, .context = cost},
        .program = cost->follows.program,
        .decisions = &cost->follows.decisions,
        .record = cost->follows.record,
        .missing = cost->missing,
    };
    if (cost->bytes == NULL || !rm_host_follow_open(&cost->follow))
        bench_fail("no memory to follow");
    follow_close_loop(cost);
    return cost;
}

static size_t follow_prepare(struct bench_case *cases) {
    struct follow_cost *const alone = follow_make(), *const pair = follow_make();
    follow_subject = alone;
    follow_join(pair);
    cases[0] = (struct bench_case){"a step that leads", follow_leads_alone, alone, NULL, NULL};
    cases[1] = (struct bench_case){"and another follows", follow_leads_and_follows, pair, &cases[0], NULL};
    cases[2] = (struct bench_case){"and its state is saved", follow_leads_and_saves, alone, &cases[0], NULL};
    return 3;
}

static void follow_check(void) { printf("%zu bytes of state\n", follow_save(follow_subject)); }

struct bench_cost const follow_cost = {.name = "follow",
                                       .about = "to make another server's step of the orbit feedback again",
                                       .rounds = 31,
                                       .unit = "µs",
                                       .unit_ns = 1000,
                                       .prepare = follow_prepare,
                                       .check = follow_check};
