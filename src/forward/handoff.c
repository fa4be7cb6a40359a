// SPDX-License-Identifier: Apache-2.0
#include "forward/handoff.h"

#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"

/** A slot: what is known of the packet, and its bytes behind. */
struct handoff_slot {
    struct rm_handoff_packet packet;
    uint8_t frame[];
};

static struct handoff_slot *handoff_slot_at(struct rm_handoff const *handoff, uint32_t index) {
    return (struct handoff_slot *)(handoff->memory + (size_t)(index & (handoff->slots - 1)) * handoff->slot_bytes);
}

bool rm_handoff_make(struct rm_handoff *handoff, uint32_t slots, uint32_t longest_frame) {
    enum { LINE_BYTES = 64 };
    *handoff = (struct rm_handoff){.slots = slots};
    handoff->slot_bytes = ((uint32_t)sizeof(struct handoff_slot) + longest_frame + LINE_BYTES - 1) & ~(LINE_BYTES - 1u);
    handoff->memory = rm_zeroed(slots, handoff->slot_bytes);
    return handoff->memory != NULL;
}

void rm_handoff_free(struct rm_handoff *handoff) {
    free(handoff->memory);
    handoff->memory = NULL;
}

bool rm_handoff_put(struct rm_handoff *handoff, struct rm_handoff_packet const *packet) {
    uint32_t const head = atomic_load_explicit(&handoff->head, memory_order_relaxed);
    uint32_t const tail = atomic_load_explicit(&handoff->tail, memory_order_acquire);
    if (head - tail == handoff->slots || packet->length > handoff->slot_bytes - sizeof(struct handoff_slot))
        return false;
    struct handoff_slot *const slot = handoff_slot_at(handoff, head);
    slot->packet = *packet;
    slot->packet.frame = slot->frame;
    memcpy(slot->frame, packet->frame, packet->length);
    atomic_store_explicit(&handoff->head, head + 1, memory_order_release);
    return true;
}

bool rm_handoff_see(struct rm_handoff *handoff, struct rm_handoff_packet *packet) {
    uint32_t const tail = atomic_load_explicit(&handoff->tail, memory_order_relaxed);
    if (atomic_load_explicit(&handoff->head, memory_order_acquire) == tail)
        return false;
    *packet = handoff_slot_at(handoff, tail)->packet;
    return true;
}

void rm_handoff_done(struct rm_handoff *handoff) {
    uint32_t const tail = atomic_load_explicit(&handoff->tail, memory_order_relaxed);
    atomic_store_explicit(&handoff->tail, tail + 1, memory_order_release);
}
