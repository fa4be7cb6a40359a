// SPDX-License-Identifier: Apache-2.0
/** All next hops of a router, found by where they lead. Of the control side's one thread; cores read hop[]. */
#ifndef RM_FORWARD_NEXT_HOPS_H
#define RM_FORWARD_NEXT_HOPS_H

#include "forward/routes.h"

struct rm_next_hops {
    /** [RM_NEXT_HOPS_MAX], mapped: pages that no hop was in take no memory. */
    struct rm_next_hop *hop;
    /** [hop]: the next of the free ones, or of those with the same hash. */
    uint16_t *next;
    /** [hash]: the first hop of it; 0: none. */
    uint16_t *first;
    /** Hops from this number on were never used. */
    uint32_t used;
    /** The first free one below that; 0: none. */
    uint16_t free;
};

bool rm_next_hops_make(struct rm_next_hops *hops);
void rm_next_hops_free(struct rm_next_hops *hops);

/** Finds or makes the hop, and holds it; 0: there are RM_NEXT_HOPS_MAX. */
uint32_t rm_next_hops_take(struct rm_next_hops *hops, uint16_t interface, struct rm_interface const *leaves_by,
                           struct rm_ip const *gateway);
void rm_next_hops_hold(struct rm_next_hops *hops, uint32_t hop);
void rm_next_hops_drop(struct rm_next_hops *hops, uint32_t hop);

/** Gives all hops of an interface its MTU. */
void rm_next_hops_set_mtu(struct rm_next_hops *hops, uint16_t interface, uint32_t mtu);

#endif
