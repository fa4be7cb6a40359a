// SPDX-License-Identifier: Apache-2.0
#include "states.h"

static enum feedback_state without_command(uint32_t missing) { return missing == 0 ? FEEDBACK_READY : FEEDBACK_OFF; }

/** From HOLD: on again, or longer, or there is something that does not come back by itself. */
static enum feedback_state after_hold(struct feedback_states *states, uint32_t missing) {
    if ((missing & FEEDBACK_FAULTING) == 0)
        return FEEDBACK_ON;
    if (states->waited < states->timeout) {
        ++states->waited;
        return FEEDBACK_HOLD;
    }
    return FEEDBACK_FAULT;
}

/** True when there is beam, or its loss is one that may end by itself. */
static bool beam_may_return(struct feedback_states *states, uint32_t missing) {
    if ((missing & FEEDBACK_NO_BEAM) == 0) {
        states->beamless = 0;
        return true;
    }
    return states->beamless++ < states->rearm;
}

static enum feedback_state with_command(struct feedback_states *states, uint32_t missing) {
    if (states->state == FEEDBACK_FAULT || !beam_may_return(states, missing))
        return FEEDBACK_FAULT;
    if (missing & FEEDBACK_HOLDING) {
        states->waited = 0;
        return FEEDBACK_HOLD;
    }
    if (states->state == FEEDBACK_HOLD)
        return after_hold(states, missing);
    if (states->state == FEEDBACK_ON &&
        (missing & FEEDBACK_FAULTING & ~(uint32_t)FEEDBACK_LARGE_ERROR) == FEEDBACK_FEW_ACTUATORS) {
        states->waited = 0;
        return FEEDBACK_HOLD;
    }
    uint32_t const counting = states->state == FEEDBACK_ON ? ~(uint32_t)FEEDBACK_LARGE_ERROR : UINT32_MAX;
    return missing & FEEDBACK_FAULTING & counting ? FEEDBACK_FAULT : FEEDBACK_ON;
}

/** The question "why" is for what ended it, not for what a person did. */
static void states_remember_change(struct feedback_states *states, enum feedback_state next, uint32_t loop,
                                   uint32_t missing) {
    bool const left = states->state == FEEDBACK_ON && next != FEEDBACK_ON;
    bool const refused = next == FEEDBACK_FAULT && states->state != FEEDBACK_FAULT;
    if (left || refused)
        states->cause = loop == 1 ? missing : 0;
}

enum feedback_state feedback_states_next(struct feedback_states *states, struct feedback_state_requests const *requests,
                                         uint32_t missing) {
    if (requests->reset != states->reset && states->state == FEEDBACK_FAULT)
        states->state = without_command(missing);
    states->reset = requests->reset;
    enum feedback_state next = FEEDBACK_HOLD;
    if (requests->loop == 0)
        next = without_command(missing);
    else if (requests->loop == 1)
        next = with_command(states, missing);
    states_remember_change(states, next, requests->loop, missing);
    states->state = next;
    return next;
}
