// SPDX-License-Identifier: Apache-2.0
/** From the receive queues of a port to its slow path: a ring of buffers from each. */
#ifndef RM_NET_SLOW_PATH_H
#define RM_NET_SLOW_PATH_H

#include "net/buffer_rings.h"

/** Frames set aside by a queue that wait. */
enum { RM_SLOW_PATH_SLOTS = 256 };

struct rm_slow_path {
    /** One per receive queue. */
    struct rm_buffer_rings rings;
    /** Of the one who takes: no queue is always the first. */
    uint16_t next;
};

bool rm_slow_path_make(struct rm_slow_path *slow_path, uint16_t queues);
void rm_slow_path_free(struct rm_slow_path *slow_path);

/** For the one who puts: whether there will be room for one more. */
bool rm_slow_path_has_room(struct rm_slow_path const *slow_path, uint16_t queue);

/** As rm_port_set_aside. */
bool rm_slow_path_put(struct rm_slow_path *slow_path, uint16_t queue, struct rm_burst *burst, uint32_t index);

/** Fills the handles of a burst, and returns how many. */
uint32_t rm_slow_path_take(struct rm_slow_path *slow_path, struct rm_burst *burst);

#endif
