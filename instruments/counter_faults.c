// SPDX-License-Identifier: Apache-2.0
#include "counter_faults.h"

#include <stdlib.h>

#include "base/fail.h"

struct counter_fault {
    struct rm_armed_fault armed;
    uint64_t datagrams; /**< of a jump that lasts: still to come, UINT64_MAX to the end */
};

struct rm_counter_faults {
    rm_counter *counters;
    uint64_t reset_turns; /**< the counter says so much less than the true turn */
    uint32_t count;
    struct counter_fault fault[];
};

enum rm_code rm_counter_faults_make(struct rm_fault const *faults, uint32_t count, uint64_t span_turns,
                                    rm_counter *counters, struct rm_counter_faults **made, struct rm_error *error) {
    *made = NULL;
    struct rm_counter_faults *new = calloc(1, sizeof *new + count * sizeof new->fault[0]);
    if (new == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u faults", count);
    new->counters = counters;
    for (uint32_t f = 0; f < count; ++f)
        if (rm_fault_is_of_counter(faults[f].kind))
            new->fault[new->count++].armed = rm_fault_arm(&faults[f], span_turns);
    if (new->count == 0)
        free(new);
    else
        *made = new;
    return RM_OK;
}

void rm_counter_faults_free(struct rm_counter_faults *faults) { free(faults); }

static void counter_fault_strike(struct rm_counter_faults *faults, struct counter_fault *one, rm_turn turn) {
    struct rm_fault const *fault = &one->armed.fault;
    if (fault->kind == RM_FAULT_TURN_RESET) {
        faults->reset_turns = turn;
        rm_counter_add(faults->counters, RM_SENDER_TURN_RESETS, 1);
    } else {
        one->datagrams = fault->duration == 0 ? UINT64_MAX : fault->duration;
        rm_counter_add(faults->counters, RM_SENDER_TURN_JUMPS, 1);
    }
}

/** The error by a jump that lasts, and one datagram less of it. */
static uint64_t take_counter_jump(struct counter_fault *one) {
    if (one->datagrams == 0)
        return 0;
    if (one->datagrams != UINT64_MAX)
        --one->datagrams;
    return (uint64_t)one->armed.fault.turns;
}

uint64_t rm_counter_faults_error(struct rm_counter_faults *faults, rm_turn turn) {
    uint64_t error = 0;
    for (uint32_t f = 0; f < faults->count; ++f) {
        if (rm_fault_strikes(&faults->fault[f].armed, turn))
            counter_fault_strike(faults, &faults->fault[f], turn);
        error += take_counter_jump(&faults->fault[f]);
    }
    return error - faults->reset_turns;
}
