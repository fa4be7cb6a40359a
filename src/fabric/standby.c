// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/standby.h>

#include "fabric/sequence_lock.h"
#include "fabric/standby_writer.h"

static void standby_put(_Atomic uint64_t *word, uint64_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t standby_get(_Atomic uint64_t const *word) { return atomic_load_explicit(word, memory_order_relaxed); }

/** True when something was written, and the writer is not inside. */
static bool standby_enter(_Atomic uint64_t const *sequence, uint64_t *seen) {
    *seen = atomic_load_explicit(sequence, memory_order_acquire);
    return *seen != 0 && (*seen & 1) == 0;
}

void rm_standby_state_publish(struct rm_standby_state *state, struct rm_standby_state_reading const *reading) {
    rm_sequence_begin(&state->sequence);
    standby_put(&state->role, reading->role);
    standby_put(&state->reason, reading->reason);
    standby_put(&state->term, reading->term);
    standby_put(&state->highest_term, reading->highest_term);
    standby_put(&state->turn, reading->turn);
    standby_put(&state->since_turn, reading->since_turn);
    standby_put(&state->instance, reading->instance);
    standby_put(&state->with_us, reading->with_us);
    standby_put(&state->unacknowledged, reading->unacknowledged);
    standby_put(&state->swap_cycles, reading->swap_cycles);
    standby_put(&state->switch_turn, reading->switch_turn);
    standby_put(&state->since_tai_ns, reading->since_tai_ns);
    rm_sequence_end(&state->sequence);
}

bool rm_standby_state_look(struct rm_standby_state const *state, struct rm_standby_state_reading *reading) {
    uint64_t seen;
    if (!standby_enter(&state->sequence, &seen))
        return false;
    struct rm_standby_state_reading const copy = {
        .role = (enum rm_standby_role)standby_get(&state->role),
        .reason = (enum rm_standby_reason)standby_get(&state->reason),
        .term = standby_get(&state->term),
        .highest_term = standby_get(&state->highest_term),
        .turn = standby_get(&state->turn),
        .since_turn = standby_get(&state->since_turn),
        .instance = standby_get(&state->instance),
        .with_us = standby_get(&state->with_us),
        .unacknowledged = standby_get(&state->unacknowledged) != 0,
        .swap_cycles = standby_get(&state->swap_cycles),
        .switch_turn = standby_get(&state->switch_turn),
        .since_tai_ns = standby_get(&state->since_tai_ns),
    };
    if (!rm_sequence_leave(&state->sequence, seen))
        return false;
    *reading = copy;
    return true;
}

void rm_standby_orders_publish(struct rm_standby_orders *orders, struct rm_standby_orders_reading const *reading) {
    rm_sequence_begin(&orders->sequence);
    standby_put(&orders->synchronised, reading->synchronised);
    standby_put(&orders->synchronised_turn, reading->synchronised_turn);
    standby_put(&orders->hold, reading->hold);
    standby_put(&orders->acknowledged, reading->acknowledged);
    standby_put(&orders->switch_turn, reading->switch_turn);
    standby_put(&orders->peer_role, reading->peer_role);
    standby_put(&orders->peer_term, reading->peer_term);
    standby_put(&orders->peer_turn, reading->peer_turn);
    standby_put(&orders->refused, reading->refused);
    standby_put(&orders->peer_unacknowledged, reading->peer_unacknowledged);
    standby_put(&orders->beat, reading->beat);
    standby_put(&orders->planned_only, reading->planned_only);
    rm_sequence_end(&orders->sequence);
}

bool rm_standby_orders_look(struct rm_standby_orders const *orders, struct rm_standby_orders_reading *reading) {
    uint64_t seen;
    if (!standby_enter(&orders->sequence, &seen))
        return false;
    struct rm_standby_orders_reading const copy = {
        .synchronised = standby_get(&orders->synchronised) != 0,
        .hold = standby_get(&orders->hold) != 0,
        .refused = standby_get(&orders->refused) != 0,
        .peer_unacknowledged = standby_get(&orders->peer_unacknowledged) != 0,
        .synchronised_turn = standby_get(&orders->synchronised_turn),
        .acknowledged = standby_get(&orders->acknowledged),
        .switch_turn = standby_get(&orders->switch_turn),
        .peer_role = standby_get(&orders->peer_role),
        .peer_term = standby_get(&orders->peer_term),
        .peer_turn = standby_get(&orders->peer_turn),
        .beat = standby_get(&orders->beat),
        .planned_only = standby_get(&orders->planned_only) != 0,
    };
    if (!rm_sequence_leave(&orders->sequence, seen))
        return false;
    *reading = copy;
    return true;
}
