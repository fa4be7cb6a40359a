// SPDX-License-Identifier: Apache-2.0
#include "net/packet_pool.h"

#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "base/fail.h"
#include "net/punt_queue.h"
#include "net/spread.h"

enum {
    /** Buffers that a thread keeps for itself: two bursts, so that the same few stay in its cache. */
    POOL_CACHE = 2 * RM_BURST,
    /** Per queue: one burst lent and one cache of up to 1.5 × POOL_CACHE in each direction make 512; twice that. */
    QUEUE_BUFFERS = 1024,
    CACHE_LINE_BYTES = 64,
    BUFFER_OVERHEAD_BYTES = 512, /**< of each: mbuf, headroom, the pool's own */
    PAGE_BYTES = 4096,           /**< what a buffer takes where there are no hugepages: it must not cross two */
};

uint32_t rm_longest_frame(struct rm_port_config const *config) {
    return config->longest_frame != 0 ? config->longest_frame : RM_LONGEST_FRAME;
}

uint32_t rm_packet_bytes(struct rm_port_config const *config, uint32_t wanted) {
    uint32_t bytes = wanted != 0 ? wanted : rm_longest_frame(config);
    if (bytes < RM_BUFFER_BYTES)
        bytes = RM_BUFFER_BYTES;
    return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

static uint32_t buffers_for(struct rm_port_config const *config, uint32_t held) {
    uint32_t const device_queues = config->spread ? 1 : config->queues;
    uint32_t count = config->queues * QUEUE_BUFFERS + device_queues * held;
    if (config->spread)
        count += config->queues * RM_SPREAD_SLOTS;
    if (config->exception_path)
        count += config->queues * RM_PUNT_QUEUE_SLOTS + QUEUE_BUFFERS;
    return count;
}

uint32_t rm_packet_pool_mib(struct rm_port_config const *config, uint32_t held_buffers) {
    uint64_t const bytes = rm_packet_bytes(config, 0) + BUFFER_OVERHEAD_BYTES;
    uint64_t const stride_bytes = bytes < PAGE_BYTES ? PAGE_BYTES : bytes;
    return (uint32_t)(buffers_for(config, held_buffers) * stride_bytes >> 20) + 1;
}

/** A pool whose buffers stand close together, each some odd number of cache lines behind the last. Without hugepages
 * DPDK's own puts each at the start of a page of its own, lest a device find it cut in two; then the frames of a burst
 * share a handful of the cache's sets, and a buffer costs a TLB entry. A device that only our own process reads does
 * not mind. NULL with rte_errno. */
static struct rte_mempool *packed_pool(char const *name, unsigned buffers, uint32_t room, int socket) {
    uint32_t const bytes = (uint32_t)sizeof(struct rte_mbuf) + room;
    struct rte_pktmbuf_pool_private const about = {.mbuf_data_room_size = (uint16_t)room};
    struct rte_mempool *const pool =
        rte_mempool_create_empty(name, buffers, bytes, POOL_CACHE, sizeof about, socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
    if (pool == NULL)
        return NULL;
    rte_pktmbuf_pool_init(pool, (void *)(uintptr_t)&about);
    if (rte_mempool_populate_default(pool) < 0) {
        rte_mempool_free(pool);
        return NULL;
    }
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
    return pool;
}

enum rm_code rm_packet_pool_make(struct rte_mempool **pool, struct rm_port_config const *config,
                                 struct rm_packet_pool_wants const *wants, struct rm_error *error) {
    unsigned const buffers = buffers_for(config, wants->held_buffers) - 1; // a ring of 2^n holds one less
    uint32_t const room = RTE_PKTMBUF_HEADROOM + wants->buffer_bytes;
    *pool = wants->packed ? packed_pool(wants->name, buffers, room, wants->socket)
                          : rte_pktmbuf_pool_create(wants->name, buffers, POOL_CACHE, 0, (uint16_t)room, wants->socket);
    if (*pool != NULL)
        return RM_OK;
    return rm_fail(error, RM_E_NO_SPACE,
                   "port '%s': no room for %u packet buffers of %u bytes (%s); raise the memory given to DPDK",
                   config->name, buffers, wants->buffer_bytes, rte_strerror(rte_errno));
}

void *rm_packet_copy(struct rte_mempool *pool, uint8_t const *frame, uint32_t length) {
    struct rte_mbuf *const mbuf = rte_pktmbuf_alloc(pool);
    if (mbuf == NULL)
        return NULL;
    uint16_t const room = rte_pktmbuf_tailroom(mbuf);
    mbuf->data_len = length < room ? (uint16_t)length : room;
    mbuf->pkt_len = mbuf->data_len;
    memcpy(rte_pktmbuf_mtod(mbuf, uint8_t *), frame, mbuf->data_len);
    return mbuf;
}
