// SPDX-License-Identifier: Apache-2.0
/** OFF, READY, ON, HOLD, FAULT: which state follows, from the setting `closed`, missing enable conditions and time.
 *
 *     closed 0    READY where all enable conditions are there, OFF where not
 *     closed 1    ON while all are there. One is missing: HOLD in that step
 *                 HOLD for `return_steps` in a row with all of them: ON
 *                 HOLD for `hold_steps`: FAULT, the loop is open until a person has put `closed` to 0
 *
 * Tunes overlap: what a window had is seen for as long as that window. So `return_steps` is a window at least.
 */
#ifndef TUNEFEEDBACK_STATES_H
#define TUNEFEEDBACK_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"

struct tunefeedback_states {
    enum tunefeedback_state state;
    /** Steps in HOLD, and of those the last with all enable conditions. */
    uint32_t held, good;
    uint32_t hold_steps, return_steps;
    /** Bits that were missing when it left ON by itself, or could not go there. */
    uint32_t cause;
    /** The present step is the one in which that was. */
    bool is_left;
};

/** Runs one step, and returns the state in it. */
enum tunefeedback_state tunefeedback_states_next(struct tunefeedback_states *states, bool closed, uint32_t missing);

#endif
