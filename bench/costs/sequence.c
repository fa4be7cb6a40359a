// SPDX-License-Identifier: Apache-2.0
/** A step of a sequence: nothing that runs; a state that waits; 100 actions of a kind, each with a supply of its own, that
 * are all under way; 100 supplies in one action; 20 conditions, none of which is true; a state with some of all;
 * and 100 ramps as a `switch` that is written by hand, which neither watches nor judges anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringmaster/s_curve.h>

#include "apps/sequence/ask.h"
#include "apps/sequence/compile.h"
#include "apps/sequence/run.h"
#include "cost.h"

enum { SUPPLIES = 100, INPUTS = 20, STEPS = 2048, TEXT_BYTES = 1 << 16, PERIOD_TURNS = 120, NAME_BYTES = 16 };

static double const TURN_RATE_HZ = 1157000;

/** A program, and all that its host would give it. */
struct bench_sequence {
    struct rm_stream stream;
    struct rm_record record[INPUTS];
    struct rm_command command;
    struct rm_step given;
    struct sequence_file file;
    double setting[8 + 8];
    struct rm_application_setup setup;
    struct rm_stream const *inputs[INPUTS];
    char const *input[INPUTS];
    struct sequence_asks asks;
    double setpoint[SUPPLIES], sent[SUPPLIES], low[SUPPLIES], high[SUPPLIES], slew[SUPPLIES];
    char const *supply[SUPPLIES];
    struct sequence_binding binding;
    struct sequence_program program;
    struct sequence_run run;
    uint32_t setting_at[SEQUENCE_SETTINGS];
    bool is_missing[INPUTS];
    char input_names[INPUTS][NAME_BYTES], names[SUPPLIES][NAME_BYTES];
};

static uint64_t make_steps(void *subject) {
    struct bench_sequence *const bench = subject;
    struct sequence_step step = {.setup = &bench->setup,
                                 .given = &bench->given,
                                 .command = &bench->command,
                                 .program = &bench->program,
                                 .binding = &bench->binding,
                                 .asks = &bench->asks};
    for (uint32_t s = 0; s < STEPS; ++s) {
        bench->given.turn += PERIOD_TURNS;
        for (uint32_t i = 0; i < bench->setup.input_count; ++i)
            bench->record[i].turn = bench->given.turn;
        sequence_run_step(&bench->run, &step);
        memcpy(bench->sent, bench->setpoint, sizeof bench->sent);
    }
    return STEPS;
}

/** All of the setup but what the file says. */
static void describe_setup(struct bench_sequence *bench, char const *path) {
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        snprintf(bench->names[i], NAME_BYTES, "ps/%02u", i);
        bench->supply[i] = bench->names[i];
        bench->low[i] = -10.0;
        bench->high[i] = 10.0;
        bench->slew[i] = 1.0;
    }
    for (uint32_t i = 0; i < INPUTS; ++i) {
        snprintf(bench->input_names[i], NAME_BYTES, "bpm%02u/raw", i);
        bench->input[i] = bench->input_names[i];
        bench->inputs[i] = &bench->stream;
    }
    snprintf(bench->stream.lane[0].name, sizeof bench->stream.lane[0].name, "x1");
    bench->stream.lane[0].type = RM_LANE_I32;
    for (uint32_t s = 0; s < SEQUENCE_SETTINGS; ++s)
        bench->setting_at[s] = s;
    bench->setup = (struct rm_application_setup){.name = "sequence",
                                                 .turn_rate_hz = TURN_RATE_HZ,
                                                 .period_turns = PERIOD_TURNS,
                                                 .input_count = INPUTS,
                                                 .input = bench->inputs,
                                                 .input_name = bench->input,
                                                 .actuator_count = SUPPLIES,
                                                 .actuator_name = bench->supply,
                                                 .actuator_low = bench->low,
                                                 .actuator_high = bench->high,
                                                 .actuator_slew_per_step = bench->slew,
                                                 .setting = bench->setting,
                                                 .setting_at = bench->setting_at,
                                                 .configuration = path};
    bench->given = (struct rm_step){.turn = 1000 * PERIOD_TURNS,
                                    .record = bench->record,
                                    .is_missing = bench->is_missing,
                                    .setting = bench->setting,
                                    .sent = bench->sent,
                                    .allowed = {UINT64_MAX, UINT64_MAX}};
    bench->command.setpoint = bench->setpoint;
}

/** Ends the program where the file is refused. */
static struct bench_sequence *bench_sequence_make(char const *text) {
    struct bench_sequence *const bench = bench_allocate(sizeof *bench);
    struct rm_errors errors = {.count = 0};
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/ringmaster-cost-sequence-%ld", (long)getpid());
    FILE *const file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        bench_fail("no file in /dev/shm");
    describe_setup(bench, path);
    enum rm_code code = sequence_load(path, &bench->file, &bench->program, NULL, &errors);
    if (code == RM_OK)
        code = sequence_bind(&bench->setup, &bench->program, &bench->binding, &errors);
    if (code == RM_OK)
        code = sequence_bind_lanes(&bench->setup, &bench->program, &bench->binding, &errors.first[0]);
    unlink(path);
    bench_must(code, &errors.first[0]);
    if (!sequence_asks_make(&bench->asks, &bench->program))
        bench_fail("no memory");
    return bench;
}

/** A file of groups of one supply each, inputs, and one state with these actions and ways, which lasts. */
static struct bench_sequence *bench_state(char const *actions, char const *ways) {
    static char text[TEXT_BYTES];
    size_t used = 0;
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, "inputs:\n");
    for (uint32_t i = 0; i < INPUTS; ++i)
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "  - {name: x%u, lane: bpm%02u/raw.x1}\n", i, i);
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, "supplies:\n  - {name: all, supplies: [\"ps/*\"]}\n");
    for (uint32_t i = 0; i < SUPPLIES; ++i)
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "  - {name: g%u, supplies: [ps/%02u]}\n", i, i);
    snprintf(text + used, TEXT_BYTES - used,
             "sequences:\n- name: s\n  timeout_s: 1000000\n  states:\n  - name: a\n    do:%s\n    then:%s\n"
             "    - {when: seconds > 900000, to: e}\n  - {name: e, end: done}\n",
             actions[0] != '\0' ? actions : " []", ways);
    struct bench_sequence *const bench = bench_sequence_make(text);
    bench->setting[SEQUENCE_RUN] = 1.0;
    make_steps(bench);
    return bench;
}

/** `count` lines of a format with one number, or with two of the same. */
static char *repeat(uint32_t first, uint32_t count, char const *format) {
    char *const text = bench_allocate(TEXT_BYTES);
    size_t used = 0;
    for (uint32_t i = first; i < first + count; ++i) {
        char line[160];
        snprintf(line, sizeof line, "%s", format);
        for (char *at = strchr(line, '#'); at != NULL; at = strchr(line, '#')) {
            char rest[160];
            snprintf(rest, sizeof rest, "%s", at + 1);
            snprintf(at, sizeof line - (size_t)(at - line), "%u%s", i, rest);
        }
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "\n    - %s", line);
    }
    return text;
}

/* ── the same by hand ── */

enum hand_state { HAND_RAMPS, HAND_ENDED };

/** What a programmer would write for 100 ramps: a state, a way of each supply, one clock. */
struct bench_hand {
    enum hand_state state;
    rm_turn turn, begun;
    double inverse_turns, from[SUPPLIES], way[SUPPLIES], setpoint[SUPPLIES], low[SUPPLIES], high[SUPPLIES];
};

static uint64_t make_hand_steps(void *subject) {
    struct bench_hand *const hand = subject;
    for (uint32_t s = 0; s < STEPS; ++s) {
        hand->turn += PERIOD_TURNS;
        double const share = (double)(hand->turn - hand->begun) * hand->inverse_turns;
        switch (hand->state) {
        case HAND_RAMPS:
            for (uint32_t i = 0; i < SUPPLIES; ++i) {
                double const x = hand->from[i] + hand->way[i] * rm_s_curve(share);
                hand->setpoint[i] = x < hand->low[i] ? hand->low[i] : x > hand->high[i] ? hand->high[i] : x;
            }
            hand->state = share < 1.0 ? HAND_RAMPS : HAND_ENDED;
            break;
        case HAND_ENDED:
            break;
        }
        asm volatile("" ::"r"(hand->setpoint) : "memory");
    }
    return STEPS;
}

static struct bench_hand *bench_hand_make(void) {
    struct bench_hand *const hand = bench_allocate(sizeof *hand);
    *hand = (struct bench_hand){.state = HAND_RAMPS, .inverse_turns = 1.0 / (900000.0 * TURN_RATE_HZ)};
    for (uint32_t i = 0; i < SUPPLIES; ++i) {
        hand->way[i] = 1.0;
        hand->low[i] = -10.0;
        hand->high[i] = 10.0;
    }
    return hand;
}

static char const RAMP[] = "{ramp: g#, to: 1, in_s: 900000}";
static char const SINE[] = "{excite: g#, amplitude: 0.1, hz: #, in_s: 900000}";
static char const WAY[] = "{when: abs(x# - 100) < 5 and x# > 3, to: e}";

static size_t sequence_prepare(struct bench_case *cases) {
    size_t count = 0;
    char *mixed = bench_allocate(TEXT_BYTES);
    snprintf(mixed, TEXT_BYTES, "%s%s", repeat(0, 50, RAMP), repeat(50, 50, SINE));
    struct bench_sequence *const idle = bench_state("", "");
    idle->setting[SEQUENCE_RUN] = 0.0;
    cases[count++] = (struct bench_case){"idle", make_steps, idle, NULL, NULL};
    cases[count++] = (struct bench_case){"a state that waits", make_steps, bench_state("", ""), NULL, NULL};
    cases[count++] = (struct bench_case){"100 sets, done", make_steps,
                                         bench_state(repeat(0, SUPPLIES, "{set: g#, to: 1}"), ""), NULL, NULL};
    cases[count++] =
        (struct bench_case){"100 ramps", make_steps, bench_state(repeat(0, SUPPLIES, RAMP), ""), NULL, NULL};
    cases[count++] = (struct bench_case){"a ramp of 100 supplies", make_steps,
                                         bench_state("\n    - {ramp: all, to: 1, in_s: 900000}", ""), NULL, NULL};
    cases[count++] =
        (struct bench_case){"100 sines", make_steps, bench_state(repeat(0, SUPPLIES, SINE), ""), NULL, NULL};
    cases[count++] =
        (struct bench_case){"20 conditions", make_steps, bench_state("", repeat(0, INPUTS, WAY)), NULL, NULL};
    cases[count++] = (struct bench_case){"50 ramps, 50 sines, 20 conditions", make_steps,
                                         bench_state(mixed, repeat(0, INPUTS, WAY)), NULL, NULL};
    cases[count++] = (struct bench_case){"100 ramps by hand", make_hand_steps, bench_hand_make(), NULL, NULL};
    return count;
}

struct bench_cost const sequence_cost = {.name = "sequence",
                                         .about = "a step of a sequence: waiting, moving supplies, conditions",
                                         .rounds = 31,
                                         .unit = "ns a step",
                                         .unit_ns = 1,
                                         .prepare = sequence_prepare};
