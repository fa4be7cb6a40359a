// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sequence_place_state(struct sequence_compiling *it, uint32_t chart, uint32_t node) {
    snprintf(it->place, sizeof it->place, "sequences[%u].states[%u]", chart, node - it->program->chart[chart].node);
}

char const *sequence_state_name(struct sequence_program const *program, uint32_t chart, uint32_t node) {
    return program->file->sequence[chart].state[node - program->chart[chart].node].name;
}

uint32_t sequence_calling_act(struct sequence_program const *program, uint32_t node) {
    struct sequence_node const *const it = &program->node[node];
    uint32_t a = 0;
    while (a + 1 < it->acts && program->act[it->act + a].call == SEQUENCE_NONE)
        ++a;
    return a;
}

/* ── calls ── */

enum call_mark { CALL_NEW, CALL_OPEN, CALL_CLOSED };

static void refuse_call(struct sequence_compiling *it, uint32_t chart, uint32_t node, char const *words) {
    struct sequence_program const *const program = it->program;
    char key[32];
    sequence_place_state(it, chart, node);
    snprintf(key, sizeof key, "do[%u].call", sequence_calling_act(program, node));
    sequence_refuse(it, key, "%s calls %s, %s", program->file->sequence[chart].name,
                    program->file->sequence[program->node[node].call].name, words);
}

static void find_depth(struct sequence_compiling *it, uint32_t chart, enum call_mark *marks) {
    struct sequence_chart *const own = &it->program->chart[chart];
    marks[chart] = CALL_OPEN;
    own->depth = 1;
    for (uint32_t n = own->node; n < own->node + own->nodes; ++n) {
        uint32_t const call = it->program->node[n].call;
        if (call == SEQUENCE_NONE)
            continue;
        if (marks[call] == CALL_NEW)
            find_depth(it, call, marks);
        if (marks[call] == CALL_OPEN)
            refuse_call(it, chart, n, "which calls it again: expected no circle");
        else if (it->program->chart[call].depth + 1 > own->depth)
            own->depth = it->program->chart[call].depth + 1;
        if (own->depth == SEQUENCE_DEPTH_MAX + 1)
            refuse_call(it, chart, n, "and more than 4 stand on each other, expected at most 4");
    }
    marks[chart] = CALL_CLOSED;
}

bool sequence_check_calls(struct sequence_compiling *it) {
    enum call_mark marks[SEQUENCE_SEQUENCES_MAX] = {CALL_NEW};
    enum rm_code const before = it->code;
    for (uint32_t c = 0; c < it->program->charts; ++c)
        if (marks[c] == CALL_NEW)
            find_depth(it, c, marks);
    return it->code == before;
}

/* ── states ── */

uint32_t sequence_after_timeout(struct sequence_program const *program, uint32_t chart, uint32_t node) {
    struct sequence_node const *const it = &program->node[node];
    if (!isfinite(it->timeout_s))
        return SEQUENCE_NONE;
    return it->on_timeout != SEQUENCE_NONE ? it->on_timeout : program->chart[chart].abort;
}

void sequence_mark_reached(struct sequence_program const *program, uint32_t chart, uint32_t from, bool *is_reached) {
    uint32_t const first = program->chart[chart].node;
    uint32_t waiting[SEQUENCE_STATES_MAX], count = 0;
    if (from != SEQUENCE_NONE && !is_reached[from - first]) {
        is_reached[from - first] = true;
        waiting[count++] = from;
    }
    while (count > 0) {
        struct sequence_node const *const node = &program->node[waiting[--count]];
        uint32_t const timeout = sequence_after_timeout(program, chart, waiting[count]);
        for (uint32_t a = 0; a <= node->arcs; ++a) {
            uint32_t const to = a < node->arcs ? program->arc[node->arc + a].to : timeout;
            if (to == SEQUENCE_NONE || is_reached[to - first])
                continue;
            is_reached[to - first] = true;
            waiting[count++] = to;
        }
    }
}

/** Whether an end can be reached from a state: backwards from the ends, until nothing changes. */
static void mark_ending(struct sequence_program const *program, uint32_t chart, bool *ends) {
    struct sequence_chart const *const own = &program->chart[chart];
    for (bool again = true; again;) {
        again = false;
        for (uint32_t n = 0; n < own->nodes; ++n) {
            struct sequence_node const *const node = &program->node[own->node + n];
            uint32_t const timeout = sequence_after_timeout(program, chart, own->node + n);
            bool can = node->end != SEQUENCE_END_NOT ||
                       (isfinite(node->timeout_s) && (timeout == SEQUENCE_NONE || ends[timeout - own->node]));
            for (uint32_t a = 0; a < node->arcs && !can; ++a)
                can = ends[program->arc[node->arc + a].to - own->node];
            again |= can && !ends[n];
            ends[n] |= can;
        }
    }
}

static void check_state(struct sequence_compiling *it, uint32_t chart, uint32_t n, bool is_reached, bool can_end) {
    struct sequence_program const *const program = it->program;
    struct sequence_node const *const node = &program->node[program->chart[chart].node + n];
    char const *const name = program->file->sequence[chart].state[n].name;
    sequence_place_state(it, chart, program->chart[chart].node + n);
    if (!is_reached)
        sequence_refuse(it, "name", "no way leads to the state \"%s\"", name);
    if (node->end != SEQUENCE_END_NOT)
        return;
    if (node->arcs == 0 && !isfinite(node->timeout_s))
        sequence_refuse(it, "name", "the state \"%s\" is a dead end, expected `then`, `end` or `timeout_s`", name);
    else if (!can_end)
        sequence_refuse(it, "name", "no way leads from the state \"%s\" to an end", name);
    if (!isfinite(node->timeout_s) && !isfinite(program->chart[chart].timeout_s))
        sequence_refuse(it, "name", "the state \"%s\" has no timeout, expected timeout_s of it or of its sequence",
                        name);
}

void sequence_check_states(struct sequence_compiling *it) {
    struct sequence_program const *const program = it->program;
    for (uint32_t c = 0; c < program->charts; ++c) {
        bool is_reached[SEQUENCE_STATES_MAX] = {false}, ends[SEQUENCE_STATES_MAX] = {false};
        sequence_mark_reached(program, c, program->chart[c].begin, is_reached);
        sequence_mark_reached(program, c, program->chart[c].abort, is_reached);
        mark_ending(program, c, ends);
        for (uint32_t n = 0; n < program->chart[c].nodes; ++n)
            check_state(it, c, n, is_reached[n], ends[n]);
    }
    it->place[0] = '\0';
}

void sequence_check(struct sequence_compiling *it) {
    sequence_check_states(it);
    sequence_check_abort(it);
    if (sequence_check_calls(it)) {
        sequence_check_writers(it);
        sequence_count_costs(it->program);
    }
    sequence_check_limits(it);
    it->place[0] = '\0';
}
