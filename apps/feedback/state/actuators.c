// SPDX-License-Identifier: Apache-2.0
#include "actuators.h"

enum { RETRY = 10 };

bool feedback_actuator_watch(struct feedback_actuator_limits const *limits, struct feedback_actuator *actuator,
                             bool is_known, bool at_limit) {
    uint32_t const before = actuator->fault;
    bool const out = (before & FEEDBACK_ACTUATOR_SATURATED) != 0;
    actuator->saturated = at_limit && !out ? actuator->saturated + 1 : 0;
    uint32_t fault = is_known ? 0 : FEEDBACK_ACTUATOR_LOST;
    if (actuator->saturated > limits->long_cycles)
        fault |= FEEDBACK_ACTUATOR_SATURATED;
    actuator->clean = fault == 0 ? actuator->clean + 1 : 0;
    actuator->fault |= fault;
    actuator->away += !is_known && actuator->away < limits->return_cycles;
    if (actuator->clean >= limits->return_cycles || actuator->clean / RETRY >= actuator->away)
        actuator->fault &= ~(uint32_t)FEEDBACK_ACTUATOR_LOST;
    if (actuator->clean / RETRY >= limits->return_cycles)
        actuator->fault &= ~(uint32_t)FEEDBACK_ACTUATOR_SATURATED;
    if ((actuator->fault & FEEDBACK_ACTUATOR_LOST) == 0)
        actuator->away = 0;
    return actuator->fault != before;
}
