// SPDX-License-Identifier: Apache-2.0
/** The most that steps take, in operations: of expressions, and of supplies that are moved. */
#include "check.h"

/** What an operation of each kind weighs, beside one of an expression. */
enum { COST_ACT = 4, COST_SUPPLY = 1, COST_STATE = 10 };

static uint32_t count_members(struct sequence_program const *program, struct sequence_act const *act) {
    if (act->group == SEQUENCE_NONE)
        return 0;
    return program->group != NULL ? program->group[act->group].count : 1;
}

static void count_node(struct sequence_program *program, struct sequence_node *node) {
    node->cost_step = node->cost_enter = COST_STATE;
    for (uint32_t a = node->act; a < node->act + node->acts; ++a) {
        struct sequence_act const *const act = &program->act[a];
        uint32_t const members = count_members(program, act);
        node->cost_enter += COST_ACT + act->in_s.ops + act->hz.ops + act->phase.ops +
                            (act->to.ops + act->amplitude.ops) * (members > 0 ? members : 1) + members * 4;
        node->cost_step += sequence_act_moves(act) ? COST_ACT + COST_SUPPLY * members : 0;
    }
    for (uint32_t a = node->arc; a < node->arc + node->arcs; ++a)
        node->cost_step += 1 + program->arc[a].when.ops;
    if (node->call != SEQUENCE_NONE) {
        node->cost_step += program->chart[node->call].cost;
        node->cost_enter += program->node[program->chart[node->call].begin].cost_enter;
    }
}

/** A step watches, leaves a state and enters another; called sequences are counted already. */
static void count_chart(struct sequence_program *program, struct sequence_chart *chart) {
    uint32_t step = 0, enter = 0;
    for (uint32_t n = chart->node; n < chart->node + chart->nodes; ++n) {
        count_node(program, &program->node[n]);
        step = program->node[n].cost_step > step ? program->node[n].cost_step : step;
        enter = program->node[n].cost_enter > enter ? program->node[n].cost_enter : enter;
    }
    chart->cost = step + enter + chart->enable.ops + program->beam_lost.ops;
}

void sequence_count_costs(struct sequence_program *program) {
    for (uint32_t depth = 1; depth <= SEQUENCE_DEPTH_MAX; ++depth)
        for (uint32_t c = 0; c < program->charts; ++c)
            if (program->chart[c].depth == depth)
                count_chart(program, &program->chart[c]);
}
