// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/grant.h>

#include <string.h>

#include "fabric/sequence_lock.h"

static uint64_t grant_word(_Atomic uint64_t const *word) { return atomic_load_explicit(word, memory_order_relaxed); }

static double grant_number_of(_Atomic uint64_t const *word) {
    uint64_t const bits = grant_word(word);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool rm_grant_read(struct rm_grant const *grant, struct rm_grant_reading *reading) {
    uint64_t seen, end_ns = 0;
    for (int tries = 0; rm_sequence_may_copy(tries, &end_ns) && rm_sequence_enter(&grant->sequence, &seen); ++tries) {
        *reading = (struct rm_grant_reading){
            .grant_number = grant_word(&grant->grant_number),
            .instance = grant_word(&grant->instance),
            .pid = grant_word(&grant->pid),
            .state = (enum rm_application_state)grant_word(&grant->state),
            .since_tai_ns = grant_word(&grant->since_tai_ns),
            .stalls = grant_word(&grant->stalls),
            .restarts = grant_word(&grant->restarts),
        };
        if (rm_sequence_leave(&grant->sequence, seen))
            return true;
    }
    return false;
}

bool rm_offence_read(struct rm_offence const *offence, struct rm_offence_reading *reading) {
    uint64_t seen, end_ns = 0;
    for (int tries = 0; rm_sequence_may_copy(tries, &end_ns) && rm_sequence_enter(&offence->sequence, &seen); ++tries) {
        *reading = (struct rm_offence_reading){
            .refusal = (enum rm_refusal)grant_word(&offence->refusal),
            .actuator = grant_word(&offence->actuator),
            .value = grant_number_of(&offence->value),
            .limit = grant_number_of(&offence->limit),
            .turn = grant_word(&offence->turn),
            .vector = grant_word(&offence->vector),
            .tai_ns = grant_word(&offence->tai_ns),
        };
        if (rm_sequence_leave(&offence->sequence, seen))
            return true;
    }
    return false;
}
