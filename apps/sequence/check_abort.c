// SPDX-License-Identifier: Apache-2.0
/** The abort path ends, whatever the machine does. */
#include <math.h>

#include "check.h"

/** Which states lie on the way from the abort's state to here, and which are done with. */
struct abort_path {
    bool is_open[SEQUENCE_STATES_MAX], is_closed[SEQUENCE_STATES_MAX];
};

/** Comes for certain: all of its actions end by themselves. One that is called might not. */
static bool has_certain_way(struct sequence_program const *program, struct sequence_node const *node) {
    if (isfinite(node->timeout_s))
        return true;
    for (uint32_t a = 0; a < node->arcs; ++a)
        if (program->arc[node->arc + a].is_done && node->call == SEQUENCE_NONE)
            return true;
    return false;
}

/** After the timeout of a state of the abort path the sequence ends, if no other state is said. */
static void follow_abort(struct sequence_compiling *it, uint32_t chart, uint32_t index, struct abort_path *path) {
    struct sequence_program const *const program = it->program;
    uint32_t const first = program->chart[chart].node;
    struct sequence_node const *const node = &program->node[index];
    path->is_open[index - first] = true;
    if (node->end == SEQUENCE_END_NOT && !has_certain_way(program, node)) {
        sequence_place_state(it, chart, index);
        sequence_refuse(it, "name",
                        "the state \"%s\" of the abort may wait for ever, expected timeout_s, or the way {when: done} "
                        "and no call",
                        sequence_state_name(program, chart, index));
    }
    for (uint32_t a = 0; a <= node->arcs; ++a) {
        uint32_t const to = a < node->arcs ? program->arc[node->arc + a].to : node->on_timeout;
        if (to == SEQUENCE_NONE || path->is_closed[to - first])
            continue;
        if (path->is_open[to - first]) {
            sequence_place_state(it, chart, index);
            sequence_refuse(it, "name", "the way of the abort leads from \"%s\" back to \"%s\", expected no circle",
                            sequence_state_name(program, chart, index), sequence_state_name(program, chart, to));
        } else {
            follow_abort(it, chart, to, path);
        }
    }
    path->is_open[index - first] = false;
    path->is_closed[index - first] = true;
}

void sequence_check_abort(struct sequence_compiling *it) {
    for (uint32_t c = 0; c < it->program->charts; ++c) {
        struct abort_path path = {.is_open = {false}};
        if (it->program->chart[c].abort != SEQUENCE_NONE)
            follow_abort(it, c, it->program->chart[c].abort, &path);
    }
}
