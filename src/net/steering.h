// SPDX-License-Identifier: Apache-2.0
/** Who decides in which queue a source's datagrams arrive, and in which they do: rm_port_steering, rm_port_queue_of. */
#ifndef RM_NET_STEERING_H
#define RM_NET_STEERING_H

#include "net/port.h"
#include "net/rss.h"

struct rm_steer {
    enum rm_steering how;
    uint16_t queues;
    uint32_t source_count;
    /** Number i goes to queue i modulo `queues`, where there are flow rules. */
    uint32_t *source;

    struct rm_rss rss;
};

/** One queue, software, or nobody until a device was asked. False when memory is full. */
bool rm_steer_make(struct rm_steer *steer, struct rm_port_config const *config);
void rm_steer_free(struct rm_steer *steer);

/** Before device `id`, DPDK's number, is configured for several queues: true when it shall be told of `steer->rss`. */
bool rm_steer_plan(struct rm_steer *steer, uint16_t id);

/** When it was started: by flow rules where its driver takes one for every source, else by the plan, else nobody. */
void rm_steer_device(struct rm_steer *steer, uint16_t id);

uint16_t rm_steer_queue_of(struct rm_steer const *steer, uint32_t source_ipv4);

#endif
