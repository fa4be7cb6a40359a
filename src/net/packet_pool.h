// SPDX-License-Identifier: Apache-2.0
/** Pools of packet buffers, DPDK's mbufs: as many as a port's queues, software queues and exception path may hold at
 * once.
 */
#ifndef RM_NET_PACKET_POOL_H
#define RM_NET_PACKET_POOL_H

#include "net/port.h"

/** Least bytes of a frame that a buffer holds: a port may ask for more, not for less. */
enum { RM_BUFFER_BYTES = 2048 };

struct rte_mempool;

struct rm_packet_pool_wants {
    /** Name, unique in the process. */
    char const *name;
    /** Bytes of a frame, from rm_packet_bytes. */
    uint32_t buffer_bytes;
    /** Buffers that a driver keeps for itself, per queue. */
    uint32_t held_buffers;
    /** NUMA node; -1: any. */
    int socket;
    /** No other process reads the buffers by addresses of its own, so they may stand close together. */
    bool packed;
};

/** Bytes that a frame of the port may have, without FCS. */
uint32_t rm_longest_frame(struct rm_port_config const *config);

/** Bytes of a buffer for a port that asks for `wanted`; 0: those of its longest frame. */
uint32_t rm_packet_bytes(struct rm_port_config const *config, uint32_t wanted);

/** True when received frames of the port may be kept when their burst is given back. */
static inline bool rm_packets_outlive(struct rm_port_config const *config) {
    return config->spread || config->exception_path;
}

/** Memory in MiB that the pool takes at most. */
uint32_t rm_packet_pool_mib(struct rm_port_config const *config, uint32_t held_buffers);

/** Makes the pool; rte_mempool_free undoes it. */
enum rm_code rm_packet_pool_make(struct rte_mempool **pool, struct rm_port_config const *config,
                                 struct rm_packet_pool_wants const *wants, struct rm_error *error);

/** A buffer of the pool that holds a copy of the frame, as far as there is room; a handle for rm_dpdk_device_show. NULL
 * when the pool is dry. */
void *rm_packet_copy(struct rte_mempool *pool, uint8_t const *frame, uint32_t length);

#endif
