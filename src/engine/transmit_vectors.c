// SPDX-License-Identifier: Apache-2.0
/* What applications and the operator want: commands, vectors, values set by hand. */
#include "engine/transmit_state.h"

#include "base/timebase.h"

bool rm_transmit_take_vector(struct rm_transmit *transmit, uint32_t application) {
    struct rm_transmit_source *const source = &transmit->source[application];
    struct rm_transmit_command const *const command = &source->command;
    if (command->setpoints == NULL)
        return false;
    uint64_t const next = source->place.next;
    struct rm_setpoint_reading reading;
    size_t const count = transmit->setup.config->application[application].supply_count;
    if (!rm_setpoints_copy(command->setpoints, command->vector_bytes, &source->place, &reading, transmit->vector,
                           count))
        return false;
    bool const taken = rm_guard_vector(transmit->guard, application, &reading, transmit->vector, transmit->turn);
    if (taken) {
        source->vector_tsc = reading.tsc;
        source->vector_turn = reading.input_turn;
    }
    rm_counter *const counters = transmit->setup.guard_counters[application];
    rm_counter_add(counters, RM_GUARD_VECTORS, 1);
    if (reading.number > next) /* a vector number that fell back says nothing */
        rm_counter_add(counters, RM_GUARD_OVERRUN, reading.number - next);
    return taken;
}

/** Vectors that lie there already are of older grant numbers: none of them can have one that is granted now. */
static void skip_old_vectors(struct rm_transmit *transmit, struct rm_transmit_source *source, uint32_t application) {
    struct rm_setpoint_reading reading;
    source->place = (struct rm_setpoints_place){0};
    if (source->command.setpoints != NULL)
        (void)rm_setpoints_copy(source->command.setpoints, source->command.vector_bytes, &source->place, &reading,
                                transmit->vector, transmit->setup.config->application[application].supply_count);
}

static void take_command(struct rm_transmit *transmit, uint32_t application) {
    struct rm_transmit_source *const source = &transmit->source[application];
    struct rm_command_mailbox *const box = &transmit->mailbox[application];
    if (!rm_mailbox_take(&box->mailbox))
        return;
    source->command = box->command;
    skip_old_vectors(transmit, source, application);
    if (source->command.grant_number != 0) {
        source->restarts += source->instance != 0 && source->instance != source->command.instance;
        rm_counter_set(transmit->setup.guard_counters[application], RM_GUARD_RESTARTS, source->restarts);
        source->instance = source->command.instance;
    }
    rm_guard_grant(transmit->guard, application, source->command.grant_number, source->command.died);
    rm_mailbox_free(&box->mailbox);
}

void rm_transmit_take_commands(struct rm_transmit *transmit) {
    for (uint32_t i = 1; i < transmit->application_count; ++i)
        take_command(transmit, i);
}

void rm_transmit_take_put(struct rm_transmit *transmit) {
    struct rm_operator_put *const put = &transmit->put;
    if (!rm_mailbox_take(&put->mailbox))
        return;
    put->limit = 0;
    put->refusal = rm_guard_put(transmit->guard, put->supply, put->value, transmit->turn, &put->limit);
    rm_counter_add(transmit->setup.guard_counters[0], RM_GUARD_VECTORS, 1);
    rm_transmit_publish_grant(transmit, 0); /* the requester may look at the counters next */
    rm_mailbox_answer(&put->mailbox);
}
