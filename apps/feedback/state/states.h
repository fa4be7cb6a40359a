// SPDX-License-Identifier: Apache-2.0
/** OFF, READY, ON, HOLD, FAULT: which state follows, from requests, enable conditions and time alone.
 *
 *     loop  0   READY where all enable conditions are there, OFF where not
 *           2   HOLD
 *           1   an enable condition is missing that comes back by itself (matrix, gate, inputs)         HOLD
 *               the beam, within `rearm` cycles of its loss                                   HOLD
 *               one that a person should look at                                              FAULT
 *               actuators alone, which come back by themselves as a rule                      HOLD, with a timeout
 *               none                                                                          ON
 *
 * HOLD is gone out of by itself. What a lost beam takes with it (BPMs that say they are invalid) takes a while to come
 * back, so HOLD waits for those enable conditions for `timeout` cycles after the beam is there. A beam that is lost for
 * longer than `rearm` cycles, 0 by default, is FAULT: what comes after it is for a person to look at. FAULT stays until
 * `reset` changes, or `loop` is switched off. A large error counts only while the loop is not on: it is the
 * loop's to correct.
 */
#ifndef FEEDBACK_STATES_H
#define FEEDBACK_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"

enum {
    FEEDBACK_HOLDING = FEEDBACK_NO_MATRIX | FEEDBACK_NO_BEAM | FEEDBACK_GATED | FEEDBACK_LATE | FEEDBACK_NOT_SENT,
    FEEDBACK_FAULTING = FEEDBACK_FEW_BPMS | FEEDBACK_SATURATION | FEEDBACK_LARGE_ERROR | FEEDBACK_FEW_ACTUATORS,
};

struct feedback_states {
    enum feedback_state state;
    /** The setting's value as it was seen last. */
    double reset;
    /** Most cycles in HOLD for which FAULTING enable conditions may be missing. */
    uint32_t timeout;
    /** Cycles in HOLD so far. */
    uint32_t waited;
    /** Cycles in which a lost beam may come back by itself; 0: none. */
    uint32_t rearm;
    /** Cycles since there was beam. */
    uint32_t beamless;
    /** Enable conditions that were missing when it last left ON, or could not go there, by itself. */
    uint32_t cause;
};

struct feedback_state_requests {
    /** 0 off, 1 on, 2 hold. */
    uint32_t loop;

    double reset;
};

/** Runs one cycle, and returns the state in it. `missing` are bits of enum feedback_enable_condition. */
enum feedback_state feedback_states_next(struct feedback_states *states, struct feedback_state_requests const *requests,
                                         uint32_t missing);

#endif
