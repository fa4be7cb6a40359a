// SPDX-License-Identifier: Apache-2.0
/** From the receive queues of a port to its exception path: a ring of buffers from each. */
#ifndef RM_NET_PUNT_QUEUE_H
#define RM_NET_PUNT_QUEUE_H

#include "net/buffer_rings.h"

/** Most frames that a queue has punted and that wait. */
enum { RM_PUNT_QUEUE_SLOTS = 256 };

struct rm_punt_queue {
    /** One per receive queue. */
    struct rm_buffer_rings rings;
    /** For the thread that takes: where it begins, so that no queue is always the first. */
    uint16_t next;
};

bool rm_punt_queue_make(struct rm_punt_queue *exception_path, uint16_t queues);
void rm_punt_queue_free(struct rm_punt_queue *exception_path);

/** For the thread that puts: true when there will be room for one more. */
bool rm_punt_queue_has_room(struct rm_punt_queue const *exception_path, uint16_t queue);

/** As rm_port_punt. */
bool rm_punt_queue_put(struct rm_punt_queue *exception_path, uint16_t queue, struct rm_burst *burst, uint32_t index);

/** Fills the handles of a burst, and returns how many. */
uint32_t rm_punt_queue_take(struct rm_punt_queue *exception_path, struct rm_burst *burst);

#endif
