// SPDX-License-Identifier: Apache-2.0
/** Two that move one supply at the same time: two actions of a state; an action, and one of a sequence that the state
 * calls. Supplies are those of the application, or groups where none are known yet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/** What is there to be moved, and by which action of which sequence. */
struct writers {
    /** [supply] who moves it in the state that is looked at: index of the action, or of a called one's; NONE. */
    uint32_t *act;
    /** [chart][supply] an action of the sequence, or of one that it calls, which moves it; NONE. */
    uint32_t *of_chart;
    uint32_t supplies;
    bool is_bound;
    uint8_t reserved[3];
};

static uint32_t count_moved(struct writers const *writers, struct sequence_program const *program,
                            struct sequence_act const *act) {
    if (act->group == SEQUENCE_NONE)
        return 0;
    return writers->is_bound ? program->group[act->group].count : 1;
}

static uint32_t moved(struct writers const *writers, struct sequence_program const *program,
                      struct sequence_act const *act, uint32_t index) {
    return writers->is_bound ? program->member[program->group[act->group].first + index] : act->group;
}

/** All sequences are looked at in the order of their depth, so that those that are called are known. */
static void note_chart(struct writers *writers, struct sequence_program const *program, uint32_t chart) {
    struct sequence_chart const *const own = &program->chart[chart];
    uint32_t *const noted = writers->of_chart + (size_t)chart * writers->supplies;
    for (uint32_t n = own->node; n < own->node + own->nodes; ++n) {
        struct sequence_node const *const node = &program->node[n];
        for (uint32_t a = node->act; a < node->act + node->acts; ++a)
            for (uint32_t i = 0; i < count_moved(writers, program, &program->act[a]); ++i)
                noted[moved(writers, program, &program->act[a], i)] = a;
        if (node->call == SEQUENCE_NONE)
            continue;
        uint32_t const *const called = writers->of_chart + (size_t)node->call * writers->supplies;
        for (uint32_t s = 0; s < writers->supplies; ++s)
            noted[s] = called[s] != SEQUENCE_NONE ? called[s] : noted[s];
    }
}

static void refuse_writers(struct sequence_compiling *it, struct sequence_node const *node, uint32_t act,
                           uint32_t other, char const *supply) {
    struct sequence_program const *const program = it->program;
    bool const is_called = other < node->act || other >= node->act + node->acts;
    char place[32];
    snprintf(place, sizeof place, "do[%u]", act - node->act);
    if (is_called)
        sequence_refuse(it, place, "%s and the sequence %s, which the state calls, both move %s, expected one",
                        sequence_act_name(program->act[act].kind), program->file->sequence[node->call].name, supply);
    else
        sequence_refuse(it, place, "do[%u] moves %s too, expected one action for a supply in a state",
                        other - node->act, supply);
}

/** One error for an action, with the first supply. */
static void check_act(struct sequence_compiling *it, struct writers *writers, struct sequence_node const *node,
                      uint32_t act, char const *const *names) {
    struct sequence_program const *const program = it->program;
    struct sequence_act const *const own = &program->act[act];
    bool has_told = false;
    for (uint32_t i = 0; i < count_moved(writers, program, own); ++i) {
        uint32_t const supply = moved(writers, program, own, i);
        if (writers->act[supply] != SEQUENCE_NONE && !has_told) {
            refuse_writers(it, node, act, writers->act[supply],
                           writers->is_bound ? names[supply] : program->file->group[supply].name);
            has_told = true;
        }
        writers->act[supply] = act;
    }
}

static void check_node(struct sequence_compiling *it, struct writers *writers, uint32_t chart, uint32_t index) {
    struct sequence_node const *const node = &it->program->node[index];
    size_t const bytes = writers->supplies * sizeof writers->act[0];
    memset(writers->act, 0xff, bytes);
    if (node->call != SEQUENCE_NONE)
        memcpy(writers->act, writers->of_chart + (size_t)node->call * writers->supplies, bytes);
    sequence_place_state(it, chart, index);
    for (uint32_t a = node->act; a < node->act + node->acts; ++a)
        check_act(it, writers, node, a, it->supply_name);
}

void sequence_check_writers(struct sequence_compiling *it) {
    struct sequence_program const *const program = it->program;
    struct writers writers = {.is_bound = program->group != NULL};
    writers.supplies = writers.is_bound ? it->supplies : it->file->groups;
    size_t const bytes = (writers.supplies + 1) * sizeof writers.act[0];
    writers.act = malloc(bytes);
    writers.of_chart = malloc(program->charts * bytes);
    if (writers.act == NULL || writers.of_chart == NULL) {
        sequence_refuse(it, NULL, "no memory");
    } else {
        memset(writers.of_chart, 0xff, program->charts * bytes);
        for (uint32_t depth = 1; depth <= SEQUENCE_DEPTH_MAX; ++depth)
            for (uint32_t c = 0; c < program->charts; ++c)
                if (program->chart[c].depth == depth)
                    note_chart(&writers, program, c);
        for (uint32_t c = 0; c < program->charts; ++c)
            for (uint32_t n = 0; n < program->chart[c].nodes; ++n)
                check_node(it, &writers, c, program->chart[c].node + n);
    }
    free(writers.act);
    free(writers.of_chart);
}
