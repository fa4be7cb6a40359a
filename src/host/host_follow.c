// SPDX-License-Identifier: Apache-2.0
#include "host/host_follow.h"

#include <stdio.h>
#include <stdlib.h>

bool rm_host_follow_open(struct rm_host_follow *follow) {
    follow->waited = RM_TURN_NONE;
    follow->setpoint = calloc(follow->obey.program->setup.actuator_count + 1ul, sizeof *follow->setpoint);
    return rm_host_obey_open(&follow->obey) && follow->setpoint != NULL;
}

void rm_host_follow_close(struct rm_host_follow *follow) {
    rm_host_obey_close(&follow->obey);
    free(follow->setpoint);
}

void rm_host_follow_begin(struct rm_host_follow *follow, rm_turn turn, uint32_t generation) {
    rm_host_obey_begin(&follow->obey, turn, generation);
    follow->has_state = true;
}

/** A process that was opened anew begins with what its `open` made: so does this one, if it has not stepped yet. One that
 * begins anew with what it keeps in memory is followed by those alone that followed it before. */
static bool follow_can_begin(struct rm_host_follow *follow) {
    if (!rm_host_obey_is_first(&follow->step) || rm_host_obey_is_opened(&follow->step) != follow->has_state)
        return true;
    rm_obey_differs(&follow->step, RM_REPLAY_DECISION, "the application was started anew on the active server");
    return false;
}

enum rm_host_followed rm_host_follow_give(struct rm_host_follow *follow, struct rm_host_replayed *told) {
    struct rm_error error = {.text = ""};
    follow->step.told = told;
    enum rm_obeyed obeyed = rm_host_obey_find(&follow->obey, &follow->step);
    if (obeyed == RM_OBEY_GIVEN && !follow_can_begin(follow))
        obeyed = RM_OBEY_DIFFERS;
    if (obeyed == RM_OBEY_GIVEN)
        obeyed = rm_host_obey_give(&follow->obey, &follow->step, &error);
    if (obeyed == RM_OBEY_GIVEN)
        return RM_FOLLOW_STEPPED;
    if (obeyed == RM_OBEY_WAITS) {
        follow->waits += told->turn != RM_TURN_NONE && told->turn != follow->waited;
        follow->waited = told->turn;
        return RM_FOLLOW_WAITING;
    }
    if (told->differs == RM_REPLAY_SAME) { /* `init` refused */
        told->differs = RM_REPLAY_DECISION;
        snprintf(told->text, sizeof told->text, "%.150s", error.text);
    }
    return RM_FOLLOW_NEEDS_COPY;
}

bool rm_host_follow_judge(struct rm_host_follow *follow) {
    rm_host_obey_compare(&follow->step, &follow->obey.decisions->last);
    bool const same = follow->step.told->differs == RM_REPLAY_SAME;
    follow->has_state = true;
    ++follow->followed;
    follow->differences += !same;
    return same;
}

enum rm_host_followed rm_host_follow_step(struct rm_host_follow *follow, struct rm_host_replayed *told) {
    enum rm_host_followed const followed = rm_host_follow_give(follow, told);
    if (followed != RM_FOLLOW_STEPPED)
        return followed;
    rm_host_obey_make_step(&follow->obey, &follow->step, follow->setpoint);
    rm_host_follow_judge(follow);
    return followed;
}
