// SPDX-License-Identifier: Apache-2.0
#include "net/buffer_rings.h"

#include <stdlib.h>

#include <rte_ring.h>

#include "base/zeroed.h"

bool rm_buffer_rings_make(struct rm_buffer_rings *rings, uint16_t count, uint32_t slots) {
    *rings = (struct rm_buffer_rings){.count = count, .ring = calloc(count, sizeof(struct rte_ring *))};
    if (rings->ring == NULL)
        return false;
    unsigned const flags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;
    size_t const bytes = (size_t)rte_ring_get_memsize(2 * slots); // a ring of exactly 2^n has 2^(n+1) places
    for (uint16_t i = 0; i < count; ++i) {
        rings->ring[i] = rm_zeroed(1, bytes);
        if (rings->ring[i] == NULL || rte_ring_init(rings->ring[i], "rm_buffers", slots, flags) != 0) {
            rm_buffer_rings_free(rings);
            return false;
        }
    }
    return true;
}

void rm_buffer_rings_free(struct rm_buffer_rings *rings) {
    for (uint16_t i = 0; rings->ring != NULL && i < rings->count; ++i)
        free(rings->ring[i]);
    free(rings->ring);
    *rings = (struct rm_buffer_rings){0};
}

uint32_t rm_buffer_rings_room(struct rm_buffer_rings const *rings, uint16_t number) {
    return rte_ring_free_count(rings->ring[number]);
}

uint32_t rm_buffer_rings_put(struct rm_buffer_rings *rings, uint16_t number, void *const *handle, uint32_t count) {
    return rte_ring_sp_enqueue_burst(rings->ring[number], handle, count, NULL);
}

uint32_t rm_buffer_rings_take(struct rm_buffer_rings *rings, uint16_t number, void **handle, uint32_t most) {
    return rte_ring_sc_dequeue_burst(rings->ring[number], handle, most, NULL);
}
