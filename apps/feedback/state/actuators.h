// SPDX-License-Identifier: Apache-2.0
/** Which actuators can be counted on. An actuator whose place is unknown is lost at once. One that is at its limit for
 * `long_cycles` leaves the matrix, and stays where it is. A lost one is back when it has answered for `return_cycles`,
 * or for ten times as long as it had not, if that is less. One that was at its limit is tried again after ten times
 * `return_cycles`: only trying can tell whether it is still needed there. */
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
    /** Consecutive cycles at its limit. */
    uint32_t saturated;
    /** Cycles in which its place was unknown, since it was last in use. */
    uint32_t away;
    /** Cycles since its last fault. */
    uint32_t clean;
};

/** What drove it to its limit is over: it may be used again at once. */
static inline void feedback_actuator_forgive(struct feedback_actuator *actuator) {
    actuator->fault &= ~(uint32_t)FEEDBACK_ACTUATOR_SATURATED;
}

/** Watches one cycle. `is_known`: its place is known; `at_limit`: it stands at its own limit. True when its faults
 * changed. */
bool feedback_actuator_watch(struct feedback_actuator_limits const *limits, struct feedback_actuator *actuator,
                             bool is_known, bool at_limit);

#endif
