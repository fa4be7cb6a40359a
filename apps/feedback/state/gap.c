// SPDX-License-Identifier: Apache-2.0
#include "gap.h"

#include "feedback.h"

static uint32_t gap_subtract(uint32_t from, uint32_t by) { return from > by ? from - by : 0; }

static uint32_t gap_extend(uint32_t run, uint32_t by) { return run > 0 && run < UINT32_MAX - by ? run + by : run; }

static void gap_wait_on(struct feedback *feedback, uint32_t left_out) {
    feedback->beam.distrust = gap_subtract(feedback->beam.distrust, left_out);
    feedback->gate.left = gap_subtract(feedback->gate.left, left_out);
    feedback->states.waited = gap_extend(feedback->states.waited, left_out);
    feedback->saturated_for = gap_extend(feedback->saturated_for, left_out);
    feedback->mains.count += left_out;
    for (uint32_t row = 0; row < feedback->layout.rows; ++row)
        feedback_watch_skip(&feedback->watched[row], left_out);
    for (uint32_t column = 0; column < feedback->layout.actuators; ++column) {
        struct feedback_actuator *actuator = &feedback->actuator[column];
        actuator->clean = gap_extend(actuator->clean, left_out);
        actuator->saturated = gap_extend(actuator->saturated, left_out);
    }
}

/** The value that was made for the first cycle left out becomes that of the one that comes. */
static void excite_on(struct feedback *feedback, uint32_t left_out) {
    struct feedback_excitation_state *excitation = &feedback->loop.excitation;
    if (excitation->part < 0)
        return;
    feedback_excite_skip(&feedback->excite, left_out - 1);
    excitation->next = feedback_excite_next(&feedback->excite);
    excitation->value = excitation->next;
    if (excitation->at_output && feedback->injected == excitation->number)
        feedback->injection = feedback_injection_at(&feedback->loop);
}

void feedback_gap_forget(struct feedback *feedback) {
    for (uint32_t row = 0; row < feedback->layout.rows; ++row)
        feedback->watched[row].known = false;
}

void feedback_gap_cross(struct feedback *feedback, uint64_t at) {
    bool const follows = feedback->at != UINT64_MAX && at > feedback->at + 1;
    uint64_t const left_out = follows ? at - feedback->at - 1 : 0;
    bool const is_long = left_out > feedback->keep_cycles;
    uint32_t const cycles = (uint32_t)(is_long ? feedback->keep_cycles : left_out);
    feedback->at = at;
    feedback->has_begun = true;
    feedback->passed = 1 + cycles;
    if (cycles == 0)
        return;
    gap_wait_on(feedback, cycles);
    excite_on(feedback, cycles);
    if (is_long) {
        feedback_gap_forget(feedback);
        feedback_loop_rest(&feedback->loop, feedback->loop.setpoint, false);
    } else if (!feedback->loop.is_clear)
        feedback_loop_hold(&feedback->loop, cycles);
    feedback_loop_ahead(&feedback->loop);
}
