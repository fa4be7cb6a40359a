// SPDX-License-Identifier: Apache-2.0
/** Which actuators can be counted on. One that nobody knows where it stands is lost, at once; one that is at its limit
 * for `long_cycles` leaves the matrix, where it stays. A lost one is back when it has answered for `return_cycles`, or
 * for ten times as long as it had not, if that is less. One
 * that was at its limit is tried again after ten times that: whether it is still needed there, only trying can tell.
 */
#ifndef FEEDBACK_ACTUATORS_H
#define FEEDBACK_ACTUATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"

struct feedback_actuator_limits {
    uint32_t long_cycles, return_cycles;
};

struct feedback_actuator {
    /** Bits of enum feedback_actuator_fault, but for the mask. */
    uint32_t fault;
    /** Cycles at its limit, one after the other. */
    uint32_t saturated;
    /** Cycles that nobody knew where it stands, since it was last in use. */
    uint32_t away;
    /** Cycles since its last fault. */
    uint32_t clean;
};

/** What it was at its limit for is over: it may be used again at once. */
static inline void feedback_actuator_forgive(struct feedback_actuator *actuator) {
    actuator->fault &= ~(uint32_t)FEEDBACK_ACTUATOR_SATURATED;
}

/** One cycle; `is_known` where it stands, `at_limit` of its own. True when its faults changed. */
bool feedback_actuator_watch(struct feedback_actuator_limits const *limits, struct feedback_actuator *actuator,
                             bool is_known, bool at_limit);

#endif
