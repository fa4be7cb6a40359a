// SPDX-License-Identifier: Apache-2.0
#include "net/spread.h"

#include <string.h>

bool rm_spread_make(struct rm_spread_queues *spread, uint16_t queues) {
    return rm_buffer_rings_make(&spread->rings, queues, RM_SPREAD_SLOTS);
}

void rm_spread_free(struct rm_spread_queues *spread) { rm_buffer_rings_free(&spread->rings); }

/** The entries of one queue, together: a ring is touched once a burst. */
struct hand {
    uint32_t count;
    void *handle[RM_BURST];
};

uint32_t rm_spread_deal(struct rm_spread_queues *spread, struct rm_burst *burst) {
    uint16_t const queues = spread->rings.count;
    struct hand hand[RM_SPREAD_QUEUES_MAX];
    for (uint32_t queue = 0; queue < RM_SPREAD_QUEUES_MAX; ++queue)
        hand[queue].count = 0;
    for (uint32_t i = 0; i < burst->count; ++i) {
        struct hand *const to = &hand[rm_spread_queue_of_frame(burst->data[i], burst->length[i], queues)];
        to->handle[to->count++] = burst->handle[i];
    }
    burst->count = 0;
    for (uint16_t queue = 0; queue < queues; ++queue) {
        uint32_t const put = rm_buffer_rings_put(&spread->rings, queue, hand[queue].handle, hand[queue].count);
        uint32_t const rest = hand[queue].count - put;
        memcpy(burst->handle + burst->count, hand[queue].handle + put, rest * sizeof(void *));
        burst->count += rest;
    }
    return burst->count;
}
