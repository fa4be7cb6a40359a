// SPDX-License-Identifier: Apache-2.0
/** What decides in which queue a source's datagrams arrive, and which queue that is: rm_port_steering,
 * rm_port_queue_of. */
#ifndef RM_NET_STEERING_H
#define RM_NET_STEERING_H

#include "net/port.h"
#include "net/rss.h"

struct rm_steer {
    enum rm_steering how;
    uint16_t queues;
    uint32_t source_count;
    /** Source addresses. With flow rules, number i goes to queue i modulo `queues`. */
    uint32_t *source;

    struct rm_rss rss;
};

/** Makes the steering: one queue, software, or none until a device was asked. False when memory is full. */
bool rm_steer_make(struct rm_steer *steer, struct rm_port_config const *config);
void rm_steer_free(struct rm_steer *steer);

/** Call it before device `id`, DPDK's number, is configured for several queues. True when `steer->rss` shall be added
 * to its configuration. */
bool rm_steer_plan(struct rm_steer *steer, uint16_t id);

/** Call it when the device was started. Steering is by flow rules where its driver takes one for every source, else by
 * the plan, else none. */
void rm_steer_device(struct rm_steer *steer, uint16_t id);

uint16_t rm_steer_queue_of(struct rm_steer const *steer, uint32_t source_ipv4);

#endif
