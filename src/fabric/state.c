// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/state.h>

#include "fabric/sequence_lock.h"
#include "fabric/words.h"

void *rm_state_begin(struct rm_state *state) {
    rm_sequence_begin(&state->sequence);
    return state + 1;
}

void rm_state_commit(struct rm_state *state, struct rm_state_reading const *reading) {
    atomic_store_explicit(&state->turn, reading->turn, memory_order_relaxed);
    atomic_store_explicit(&state->steps, reading->steps, memory_order_relaxed);
    atomic_store_explicit(&state->bytes, reading->bytes, memory_order_relaxed);
    atomic_store_explicit(&state->checksum, reading->checksum, memory_order_relaxed);
    rm_sequence_end(&state->sequence);
}

bool rm_state_copy(struct rm_state const *state, void *bytes, uint64_t capacity, struct rm_state_reading *reading) {
    uint64_t seen, end_ns = 0;
    for (int tries = 0; rm_sequence_may_copy(tries, &end_ns) && rm_sequence_enter(&state->sequence, &seen); ++tries) {
        struct rm_state_reading const copy = {
            .turn = atomic_load_explicit(&state->turn, memory_order_relaxed),
            .steps = atomic_load_explicit(&state->steps, memory_order_relaxed),
            .bytes = atomic_load_explicit(&state->bytes, memory_order_relaxed),
            .checksum = atomic_load_explicit(&state->checksum, memory_order_relaxed),
        };
        bool const fits = copy.bytes <= capacity;
        if (seen != 0 && fits)
            rm_words_get(bytes, (_Atomic uint64_t const *)(state + 1), copy.bytes);
        if (!rm_sequence_leave(&state->sequence, seen))
            continue;
        if (seen == 0 || !fits)
            return false;
        *reading = copy;
        return true;
    }
    return false;
}
