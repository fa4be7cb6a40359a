// SPDX-License-Identifier: Apache-2.0
/** Software queues behind a device that has one queue. The IPv4 source address selects the queue, so that an
 * instrument stays in one. */
#ifndef RM_NET_SPREAD_H
#define RM_NET_SPREAD_H

#include "net/buffer_rings.h"

/** Frames that wait in a software queue: 0.9 ms of one at 1.16 MHz. */
enum { RM_SPREAD_SLOTS = 1024 };

struct rm_spread_queues {
    /** One per software queue. */
    struct rm_buffer_rings rings;
};

bool rm_spread_make(struct rm_spread_queues *spread, uint16_t queues);
void rm_spread_free(struct rm_spread_queues *spread);

/** The queue of a source. Addresses that follow each other are spread as evenly as possible, by multiples of the
 * golden ratio. */
static inline uint16_t rm_spread_queue_of(uint32_t source_ipv4, uint16_t queues) {
    return (uint16_t)((uint64_t)(source_ipv4 * 2654435769u) * queues >> 32);
}

/** The queue of an Ethernet frame with up to two VLAN tags; 0 for a frame that is not IPv4. */
uint16_t rm_spread_queue_of_frame(uint8_t const *frame, uint32_t length, uint16_t queues);

/** Deals a received burst out. Frames that found their queue full stay in the burst, moved to its front; returns how
 * many. */
uint32_t rm_spread_deal(struct rm_spread_queues *spread, struct rm_burst *burst);

#endif
