// SPDX-License-Identifier: Apache-2.0
#include "states.h"

static enum tunefeedback_state states_hold(struct tunefeedback_states *states, uint32_t missing) {
    ++states->held;
    states->good = missing == 0 ? states->good + 1 : 0;
    if (states->good >= states->return_steps)
        return TUNEFEEDBACK_ON;
    return states->held >= states->hold_steps ? TUNEFEEDBACK_FAULT : TUNEFEEDBACK_HOLD;
}

enum tunefeedback_state tunefeedback_states_next(struct tunefeedback_states *states, bool closed, uint32_t missing) {
    states->is_left = false;
    if (!closed) {
        states->state = missing == 0 ? TUNEFEEDBACK_READY : TUNEFEEDBACK_OFF;
        return states->state;
    }
    switch (states->state) {
    case TUNEFEEDBACK_OFF:
    case TUNEFEEDBACK_READY:
    case TUNEFEEDBACK_ON:
        states->is_left = missing != 0;
        states->cause = states->is_left ? missing : states->cause;
        states->held = states->good = 0;
        states->state = states->is_left ? TUNEFEEDBACK_HOLD : TUNEFEEDBACK_ON;
        break;
    case TUNEFEEDBACK_HOLD:
        states->state = states_hold(states, missing);
        break;
    case TUNEFEEDBACK_FAULT:
        break;
    }
    return states->state;
}
