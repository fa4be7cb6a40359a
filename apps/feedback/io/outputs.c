// SPDX-License-Identifier: Apache-2.0
#include "outputs.h"

#include <math.h>
#include <string.h>

void feedback_outputs_send(struct feedback *feedback, struct rm_command *command) {
    for (uint32_t i = 0; i < feedback->runs; ++i)
        memcpy(command->setpoint + feedback->run[i].actuator, feedback->loop.setpoint + feedback->run[i].output,
               feedback->run[i].count * sizeof *command->setpoint);
    if (feedback->rf_actuator >= 0)
        command->setpoint[feedback->rf_actuator] = feedback->rf_setpoint;
}

/** What was sent last may be known so many cycles late. */
static double const LATE_STEPS = 4.0;

void feedback_outputs_stand(struct feedback *feedback, struct rm_step const *given, bool is_shadow) {
    struct feedback_loop const *loop = &feedback->loop;
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output) {
        uint32_t const actuator = feedback->actuator_of[output];
        if (actuator == UINT32_MAX)
            continue;
        double const left = loop->setpoint[output], is = given->sent[actuator], other = feedback->other[actuator];
        double at = left;
        if (is_shadow && isfinite(other))
            at = other;
        else if (output != feedback->injected && isfinite(is) && !(fabs(is - left) <= LATE_STEPS * loop->slew[output]))
            at = is;
        feedback->standing[output] = at;
    }
}

void feedback_outputs_delivered(struct feedback *feedback, struct rm_step const *given,
                                struct rm_command const *command, bool is_shadow) {
    enum feedback_state const state = feedback->states.state;
    bool const counts = (state == FEEDBACK_ON || state == FEEDBACK_HOLD) && !is_shadow;
    if (!counts)
        feedback_delivery_begin(&feedback->delivery, command->setpoint);
    feedback->is_sent = !counts || feedback_delivery_judge(&feedback->delivery, given->sent, command->setpoint);
}

void feedback_outputs_watch(struct feedback *feedback, struct rm_step const *given) {
    struct feedback_loop *loop = &feedback->loop;
    enum feedback_state const state = feedback->states.state;
    bool const acts = state == FEEDBACK_ON || state == FEEDBACK_HOLD;
    feedback->saturated = 0;
    for (uint32_t output = 0; output < feedback->layout.outputs; ++output) {
        uint32_t const number = feedback->actuator_of[output];
        if (number == UINT32_MAX)
            continue;
        uint32_t const column = feedback->actuator_column[number];
        struct feedback_actuator *actuator = &feedback->actuator[column];
        double const at = loop->setpoint[output], sent = given->sent[number];
        bool const is_at = at >= loop->most_high[output] || at <= loop->most_low[output];
        feedback->saturated += is_at;
        if (!acts)
            feedback_actuator_forgive(actuator);
        bool const was_lost = (actuator->fault & FEEDBACK_ACTUATOR_LOST) != 0;
        if (feedback_actuator_watch(&feedback->actuator_limits, actuator, isfinite(sent), acts && is_at))
            feedback->worst_column = (int32_t)column;
        bool const lost = (actuator->fault & FEEDBACK_ACTUATOR_LOST) != 0;
        if (lost)
            loop->is_in[output] = false;
        if (was_lost && isfinite(sent)) {
            loop->setpoint[output] = sent;
            loop->base[output] = sent - loop->forward[output];
        }
    }
}

void feedback_outputs_forward(struct feedback *feedback) {
    struct feedback_loop *loop = &feedback->loop;
    if (feedback->configuration.table_count == 0)
        return;
    memset(loop->forward, 0, feedback->layout.outputs * sizeof *loop->forward);
    for (uint32_t t = 0; t < feedback->configuration.table_count; ++t)
        feedback_forward_add(&feedback->table[t], feedback->table_value[t], loop->forward);
}
