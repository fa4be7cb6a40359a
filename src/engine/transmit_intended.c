// SPDX-License-Identifier: Apache-2.0
/* What each chain was sent last, for a successor of this server: ringmaster/intended.h. */
#include "engine/transmit_state.h"

#include <math.h>
#include <string.h>

/** One setpoint of those with `number`, or NaN where there can have been none. */
static float intended_value(struct rm_transmit_link const *link, uint64_t number, uint32_t supply) {
    uint32_t const bits =
        atomic_load_explicit(&link->intended->value[number % 2 * link->count + supply], memory_order_relaxed);
    float value;
    memcpy(&value, &bits, sizeof value);
    return number != 0 && isfinite(value) ? value : NAN;
}

static void find_last_life_of(struct rm_transmit *transmit, struct rm_transmit_link *link) {
    uint64_t const intended = atomic_load_explicit(&link->intended->intended, memory_order_acquire);
    uint64_t const transmitted = atomic_load_explicit(&link->intended->transmitted, memory_order_acquire);
    bool const two = intended == transmitted + 1;
    for (uint32_t i = 0; i < link->count; ++i) {
        transmit->sent[link->first + i] = intended_value(link, transmitted, i);
        transmit->doubtful[link->first + i] = two ? intended_value(link, intended, i) : NAN;
    }
    link->number = transmitted + 1;
    atomic_store_explicit(&link->intended->supplies, link->count, memory_order_relaxed);
}

void rm_transmit_find_last_life(struct rm_transmit *transmit) {
    for (uint32_t c = 0; c < transmit->chain_count; ++c)
        find_last_life_of(transmit, &transmit->link[c]);
}

/** Setpoints that the port has not taken are overwritten, under the same number. Each value is copied whole. */
void rm_transmit_intend(struct rm_transmit_link *link, float const *values) {
    link->in_doubt = true;
    link->begins = false;
    atomic_thread_fence(memory_order_release);
    memcpy((uint8_t *)(link->intended->value + link->number % 2 * link->count), values, link->count * sizeof *values);
    atomic_store_explicit(&link->intended->intended, link->number, memory_order_release);
}

void rm_transmit_note_transmitted(struct rm_transmit_link *link) {
    link->in_doubt = false;
    atomic_store_explicit(&link->intended->transmitted, link->number++, memory_order_release);
}
