// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compile.h"

enum {
    OPERANDS_OF_TIME = 1 << SEQUENCE_SECONDS | 1 << SEQUENCE_TURNS | 1 << SEQUENCE_DONE,
    OPERANDS_OF_SUPPLY = 1 << SEQUENCE_BASE | 1 << SEQUENCE_HERE
};

/** What an action of each kind is written with. */
struct act_keys {
    char const *name;
    bool to, in_s, sine;
};

static struct act_keys const KINDS[SEQUENCE_ACT_KINDS] = {
    [SEQUENCE_ACT_SET] = {"set", true, false, false},
    [SEQUENCE_ACT_RAMP] = {"ramp", true, true, false},
    [SEQUENCE_ACT_PULSE] = {"pulse", true, true, false},
    [SEQUENCE_ACT_EXCITE] = {"excite", false, true, true},
    [SEQUENCE_ACT_WAIT] = {"wait", false, false, false},
    [SEQUENCE_ACT_CALL] = {"call", false, false, false},
    [SEQUENCE_ACT_LET] = {"let", false, false, false},
    [SEQUENCE_ACT_PUT] = {"put", false, false, false},
    [SEQUENCE_ACT_FEEDBACK] = {"feedback", false, false, false},
    [SEQUENCE_ACT_TRIGGER] = {"trigger", false, false, false},
    [SEQUENCE_ACT_RECORD] = {"record", false, false, false},
};

char const *sequence_act_name(uint32_t kind) { return KINDS[kind].name; }

static bool has_kind(struct sequence_action const *action, uint32_t kind) {
    char const *const texts[] = {action->set,  action->ramp, action->pulse, action->excite,
                                 action->wait, action->call, action->let,   action->put};
    if (kind < sizeof texts / sizeof *texts)
        return texts[kind] != NULL;
    return kind == SEQUENCE_ACT_FEEDBACK  ? action->feedback != SEQUENCE_FEEDBACK_NOT
           : kind == SEQUENCE_ACT_TRIGGER ? action->trigger != NULL
                                          : action->record != NULL;
}

/** The kind of an action; SEQUENCE_ACT_KINDS with an error where it has none or several. */
static uint32_t find_kind(struct sequence_compiling *it, struct sequence_action const *action) {
    uint32_t found = SEQUENCE_ACT_KINDS;
    for (uint32_t kind = 0; kind < SEQUENCE_ACT_KINDS; ++kind) {
        if (!has_kind(action, kind))
            continue;
        if (found != SEQUENCE_ACT_KINDS) {
            sequence_refuse(it, NULL, "found %s and %s, expected one action: two are two entries of `do`",
                            KINDS[found].name, KINDS[kind].name);
            return SEQUENCE_ACT_KINDS;
        }
        found = kind;
    }
    if (found == SEQUENCE_ACT_KINDS)
        sequence_refuse(it, NULL,
                        "found no action, expected one of: set, ramp, pulse, excite, wait, call, let, put, "
                        "feedback, trigger, record");
    return found;
}

static void judge_key(struct sequence_compiling *it, char const *key, bool is_there, bool is_wanted, uint32_t kind) {
    if (is_there && !is_wanted)
        sequence_refuse(it, key, "%s has no \"%s\"", KINDS[kind].name, key);
    else if (!is_there && is_wanted)
        sequence_refuse(it, NULL, "%s needs the key \"%s\"", KINDS[kind].name, key);
}

static void judge_keys(struct sequence_compiling *it, struct sequence_action const *action, uint32_t kind) {
    struct act_keys const *keys = &KINDS[kind];
    judge_key(it, "to", action->to != NULL, keys->to, kind);
    judge_key(it, "in_s", action->in_s != NULL, keys->in_s, kind);
    judge_key(it, "amplitude", action->amplitude != NULL, keys->sine, kind);
    judge_key(it, "hz", action->hz != NULL, keys->sine, kind);
    judge_key(it, "value", action->value != NULL, kind == SEQUENCE_ACT_LET || kind == SEQUENCE_ACT_PUT, kind);
    if (action->phase != NULL)
        judge_key(it, "phase", true, keys->sine, kind);
    if (action->table != NULL)
        judge_key(it, "table", true, kind == SEQUENCE_ACT_RAMP, kind);
}

static uint32_t find_group(struct sequence_compiling *it, struct sequence_action const *action, uint32_t kind) {
    char const *const groups[] = {action->set, action->ramp, action->pulse, action->excite};
    if (kind > SEQUENCE_ACT_EXCITE)
        return SEQUENCE_NONE;
    return sequence_find(it, KINDS[kind].name, "group of supplies", groups[kind], it->file->group, it->file->groups,
                         sizeof it->file->group[0]);
}

static void compile_act(struct sequence_compiling *it, struct sequence_action const *action, struct sequence_act *act) {
    uint32_t const kind = find_kind(it, action);
    if (kind == SEQUENCE_ACT_KINDS)
        return;
    judge_keys(it, action, kind);
    *act = (struct sequence_act){.kind = kind, .shape = action->shape, .ramp_s = action->ramp_s, .ask = SEQUENCE_NONE};
    act->group = find_group(it, action, kind);
    act->table = sequence_find(it, "table", "table", action->table, it->file->table, it->file->tables,
                               sizeof it->file->table[0]);
    act->call = sequence_find(it, "call", "sequence", action->call, it->file->sequence, it->file->sequences,
                              sizeof it->file->sequence[0]);
    act->counter = sequence_find(it, "let", "counter", action->let, it->file->counter, it->file->counters,
                                 sizeof it->file->counter[0]);
    act->to = action->value != NULL ? sequence_compile_value(it, "value", action->value, false, 0)
                                    : sequence_compile_value(it, "to", action->to, false, OPERANDS_OF_SUPPLY);
    act->in_s = kind == SEQUENCE_ACT_WAIT ? sequence_compile_value(it, "wait", action->wait, false, 0)
                                          : sequence_compile_value(it, "in_s", action->in_s, false, 0);
    act->amplitude = sequence_compile_value(it, "amplitude", action->amplitude, false, OPERANDS_OF_SUPPLY);
    act->hz = sequence_compile_value(it, "hz", action->hz, false, 0);
    act->phase = sequence_compile_value(it, "phase", action->phase, false, 0);
    if (kind >= SEQUENCE_ACT_PUT && kind <= SEQUENCE_ACT_TRIGGER)
        act->ask = it->program->asks++;
}

static uint32_t find_state(struct sequence_compiling *it, char const *key, char const *name,
                           struct sequence_sequence const *sequence, struct sequence_chart const *chart) {
    uint32_t const found =
        sequence_find(it, key, "state", name, sequence->state, sequence->states, sizeof sequence->state[0]);
    return found == SEQUENCE_NONE ? SEQUENCE_NONE : chart->node + found;
}

static void compile_arcs(struct sequence_compiling *it, struct sequence_state const *state,
                         struct sequence_sequence const *sequence, struct sequence_chart const *chart,
                         struct sequence_node *node) {
    struct sequence_program *const program = it->program;
    size_t const length = strlen(it->place);
    node->arc = program->arcs;
    node->arcs = state->ways;
    for (uint32_t w = 0; w < state->ways; ++w) {
        struct sequence_arc *arc = &program->arc[program->arcs++];
        snprintf(it->place + length, sizeof it->place - length, ".then[%u]", w);
        arc->when = sequence_compile_value(it, "when", state->way[w].when, true, OPERANDS_OF_TIME);
        arc->is_done = arc->when.ops == 1 && program->op[arc->when.first].code == SEQUENCE_DONE;
        arc->to = find_state(it, "to", state->way[w].to, sequence, chart);
        it->place[length] = '\0';
    }
}

static void compile_acts(struct sequence_compiling *it, struct sequence_state const *state,
                         struct sequence_node *node) {
    struct sequence_program *const program = it->program;
    size_t const length = strlen(it->place);
    node->act = program->acts;
    node->acts = state->actions;
    node->call = SEQUENCE_NONE;
    for (uint32_t a = 0; a < state->actions; ++a) {
        struct sequence_act *act = &program->act[program->acts++];
        snprintf(it->place + length, sizeof it->place - length, ".do[%u]", a);
        act->group = act->table = act->call = act->ask = act->counter = SEQUENCE_NONE;
        act->kind = SEQUENCE_ACT_RECORD;
        compile_act(it, &state->action[a], act);
        if (act->call != SEQUENCE_NONE && node->call != SEQUENCE_NONE)
            sequence_refuse(it, "call", "the state calls a sequence already, expected one: another state for this one");
        node->call = act->call != SEQUENCE_NONE ? act->call : node->call;
        it->place[length] = '\0';
    }
}

static void compile_state(struct sequence_compiling *it, struct sequence_state const *state,
                          struct sequence_sequence const *sequence, struct sequence_chart const *chart,
                          struct sequence_node *node) {
    node->timeout_s = isnan(state->timeout_s) ? (double)INFINITY : state->timeout_s;
    node->end = state->end;
    compile_acts(it, state, node);
    compile_arcs(it, state, sequence, chart, node);
    node->on_timeout = find_state(it, "on_timeout", state->on_timeout, sequence, chart);
    if (state->on_timeout != NULL && isnan(state->timeout_s))
        sequence_refuse(it, "on_timeout", "the state has no timeout, expected timeout_s beside it");
    if (state->on_timeout != NULL && node->call != SEQUENCE_NONE)
        sequence_refuse(
            it, "on_timeout",
            "the state calls a sequence, which goes the way of its abort after a timeout, and then this one "
            "does: expected no on_timeout");
    if (state->end != SEQUENCE_END_NOT && (state->actions > 0 || state->ways > 0))
        sequence_refuse(it, "end", "the sequence ends in this state, expected neither `do` nor `then`");
}

static void compile_chart(struct sequence_compiling *it, uint32_t index) {
    struct sequence_sequence const *const sequence = &it->file->sequence[index];
    struct sequence_program *const program = it->program;
    struct sequence_chart *const chart = &program->chart[index];
    size_t const length = strlen(it->place);
    chart->node = program->nodes;
    chart->nodes = sequence->states;
    program->nodes += sequence->states;
    chart->timeout_s = isnan(sequence->timeout_s) ? (double)INFINITY : sequence->timeout_s;
    chart->enable = sequence_compile_value(it, "enable", sequence->enable, true, 0);
    chart->begin = find_state(it, "begin", sequence->begin, sequence, chart);
    chart->abort = find_state(it, "abort", sequence->abort, sequence, chart);
    if (sequence->begin == NULL)
        chart->begin = chart->node;
    for (uint32_t n = 0; n < chart->nodes; ++n) {
        snprintf(it->place + length, sizeof it->place - length, ".states[%u]", n);
        compile_state(it, &sequence->state[n], sequence, chart, &program->node[chart->node + n]);
        it->place[length] = '\0';
    }
}

void sequence_compile_states(struct sequence_compiling *it) {
    it->program->charts = it->file->sequences;
    for (uint32_t s = 0; s < it->file->sequences; ++s) {
        snprintf(it->place, sizeof it->place, "sequences[%u]", s);
        compile_chart(it, s);
    }
    it->place[0] = '\0';
}
