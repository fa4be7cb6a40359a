// SPDX-License-Identifier: Apache-2.0
/** A row of rings that hand received buffers from one thread to another: each has one thread that puts and one that
 * takes, neither ever waits. A buffer's handle goes through the ring; its bytes stay where they are. */
#ifndef RM_NET_BUFFER_RINGS_H
#define RM_NET_BUFFER_RINGS_H

#include <stdbool.h>

#include "net/port.h"

struct rte_ring;

struct rm_buffer_rings {
    uint16_t count;
    struct rte_ring **ring;
};

/** `count` rings of `slots` buffers each, a power of two. False when memory is full; rm_buffer_rings_free undoes it. */
bool rm_buffer_rings_make(struct rm_buffer_rings *rings, uint16_t count, uint32_t slots);
void rm_buffer_rings_free(struct rm_buffer_rings *rings);

/** For the thread that puts: for how many handles there will be room at least. */
uint32_t rm_buffer_rings_room(struct rm_buffer_rings const *rings, uint16_t number);

/** Puts as many handles as there is room for; returns how many. The thread that takes them sees what their buffers
 * hold. */
uint32_t rm_buffer_rings_put(struct rm_buffer_rings *rings, uint16_t number, void *const *handle, uint32_t count);

/** Takes up to `most` handles into `handle`, and returns how many. */
uint32_t rm_buffer_rings_take(struct rm_buffer_rings *rings, uint16_t number, void **handle, uint32_t most);

#endif
