// SPDX-License-Identifier: Apache-2.0
/** Ports of kind memif, by an end of our own: frames are received where they lie in the shared memory, without a copy.
 *
 * A received burst stands inside the gate from rm_port_receive to rm_port_release, so that the memory it points into
 * stays. Buffers to send from are the port's own, a burst of them for each queue; their handles are the array they
 * stand in, by which release tells them from received frames, whose handles are NULL. What has to outlive its burst,
 * for the exception path or for software queues, is copied into buffers of a pool.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <rte_lcore.h>
#include <rte_mempool.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "net/dpdk_device.h"
#include "net/memif_link.h"
#include "net/port_kind.h"
#include "net/socket_path.h"

enum {
    DEFAULT_SLOTS = 4096, /**< as fast as fewer, and the sender waits less where both ends share a core */
    MOST_QUEUES = RM_MEMIF_RINGS_MAX - 1,
    MOST_SLOTS = 1 << RM_MEMIF_SLOTS_LOG2_MAX,
};

/** What a receive queue's thread keeps. */
struct receive_lane {
    alignas(64) enum rm_gate_state entered; /**< of the burst that is lent */
    _Atomic uint64_t missed;                /**< frames that found no buffer to outlive their burst in */
};

struct memif_port {
    alignas(64) struct rm_port port;
    struct rm_memif_link link;
    struct receive_lane *lane; /**< one for each receive queue */
    uint8_t *out;              /**< a burst of buffers for each queue, and for the exception path's */
    uint32_t out_bytes;        /**< of a buffer */
    uint8_t mac[6];            /**< made up */
    struct rte_mempool *pool;  /**< of frames that outlive their burst; NULL where none do */
};

static struct memif_port *memif_port_self(struct rm_port *port) { return (struct memif_port *)port; }

static void memif_port_leave(struct memif_port *memif, uint16_t queue, uint32_t received) {
    rm_memif_ring_release(&memif->link.receive[queue]);
    rm_gate_leave_receive(&memif->link.gate, queue, memif->lane[queue].entered, received);
}

/** Inside the gate where it returns any; what showed nothing is given back at once. */
static uint32_t receive_in_place(struct memif_port *memif, uint16_t queue, struct rm_burst *burst) {
    enum rm_gate_state const state = rm_gate_enter_receive(&memif->link.gate, queue);
    if (state == RM_GATE_CLOSED)
        return 0;
    if (queue >= memif->link.receive_rings) {
        rm_gate_leave_receive(&memif->link.gate, queue, state, 0);
        return 0;
    }
    struct rm_memif_ring *const ring = &memif->link.receive[queue];
    memif->lane[queue].entered = state;
    uint32_t const count = rm_memif_ring_receive(ring, burst);
    if (count == 0)
        memif_port_leave(memif, queue, ring->lent);
    return count;
}

static bool memif_keep(struct rm_port *port, struct rm_burst *burst, uint32_t index) {
    burst->handle[index] = rm_packet_copy(memif_port_self(port)->pool, burst->data[index], burst->length[index]);
    return burst->handle[index] != NULL;
}

/** Copies a burst into buffers that live on, and gives its slots back. */
static uint32_t keep_all(struct memif_port *memif, uint16_t queue, struct rm_burst *burst, uint32_t received) {
    struct receive_lane *const lane = &memif->lane[queue];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < received; ++i)
        if (memif_keep(&memif->port, burst, i))
            burst->handle[kept++] = burst->handle[i];
    uint64_t const missed = atomic_load_explicit(&lane->missed, memory_order_relaxed);
    atomic_store_explicit(&lane->missed, missed + received - kept, memory_order_relaxed);
    memif_port_leave(memif, queue, received);
    return rm_dpdk_device_show(burst, kept);
}

static uint32_t memif_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    uint32_t const count = receive_in_place(memif_port_self(port), queue, burst);
    return count != 0 && port->has_spread ? keep_all(memif_port_self(port), queue, burst, count) : count;
}

static uint32_t memif_discard(struct rm_port *port, uint16_t queue) {
    struct rm_memif_link *const link = &memif_port_self(port)->link;
    enum rm_gate_state const state = rm_gate_enter_receive(&link->gate, queue);
    if (state == RM_GATE_CLOSED)
        return 0;
    uint32_t const count = queue < link->receive_rings ? rm_memif_ring_discard(&link->receive[queue]) : 0;
    rm_gate_leave_receive(&link->gate, queue, state, count);
    return count;
}

static uint8_t *out_buffers(struct memif_port const *memif, uint16_t queue) {
    return memif->out + (size_t)queue * RM_BURST * memif->out_bytes;
}

static void memif_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    if (burst->handle[0] == out_buffers(memif_port_self(port), queue))
        return; // reserved: the queue's own, and free again
    if (port->has_spread || queue == port->queues)
        rm_dpdk_device_release(burst);
    else
        memif_port_leave(memif_port_self(port), queue, burst->count);
}

static uint32_t memif_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    struct memif_port const *const memif = memif_port_self(port);
    uint8_t *const buffers = out_buffers(memif, queue);
    for (uint32_t i = 0; i < count; ++i) {
        burst->data[i] = buffers + (size_t)i * memif->out_bytes;
        burst->handle[i] = buffers;
    }
    return count;
}

static uint32_t send_by(struct rm_port *port, uint16_t queue, struct rm_burst const *burst,
                        uint32_t (*send)(struct rm_memif_ring *ring, struct rm_burst const *burst)) {
    struct rm_memif_link *const link = &memif_port_self(port)->link;
    if (!rm_gate_enter_send(&link->gate, queue))
        return 0;
    uint32_t count = 0;
    uint16_t own;
    if (rm_port_send_queue(port, queue, link->send_rings, &own))
        count = send(&link->send[own], burst);
    rm_gate_leave_send(&link->gate, queue);
    return count;
}

static uint32_t memif_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    return send_by(port, queue, burst, rm_memif_ring_send);
}

static uint32_t memif_send_from(struct rm_port *port, uint16_t queue, struct rm_burst const *burst) {
    return send_by(port, queue, burst, rm_memif_ring_send_from);
}

static void memif_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    struct rm_memif_link *const link = &memif_port_self(port)->link;
    for (uint16_t i = 0; i < link->offer.receive_rings; ++i) {
        totals->errors += atomic_load_explicit(&link->receive[i].errors, memory_order_relaxed);
        totals->missed += atomic_load_explicit(&memif_port_self(port)->lane[i].missed, memory_order_relaxed);
    }
    for (uint16_t i = 0; i < link->offer.send_rings; ++i) {
        totals->errors += atomic_load_explicit(&link->send[i].errors, memory_order_relaxed);
        totals->unsent += atomic_load_explicit(&link->send[i].unsent, memory_order_relaxed);
    }
    totals->link_up = rm_gate_is_open(&link->gate);
}

static bool memif_mac(struct rm_port const *port, uint8_t mac[6]) {
    memcpy(mac, ((struct memif_port const *)port)->mac, sizeof((struct memif_port const *)port)->mac);
    return true;
}

static void free_parts(struct memif_port *memif) {
    rte_mempool_free(memif->pool);
    free(memif->lane);
    free(memif->out);
}

static void memif_close(struct rm_port *port) {
    rm_memif_link_close(&memif_port_self(port)->link);
    free_parts(memif_port_self(port));
}

static struct rm_port_ops const memif_ops = {.framing = RM_FRAMING_ETHERNET,
                                             .copies = true,
                                             .receive = memif_receive,
                                             .release = memif_release,
                                             .discard = memif_discard,
                                             .keep = memif_keep,
                                             .reserve = memif_reserve,
                                             .send = memif_send,
                                             .send_from = memif_send_from,
                                             .totals = memif_totals,
                                             .mac = memif_mac,
                                             .close = memif_close};

/** Whole cache lines, and an odd number of them: else the frames of a burst would share a few of the cache's sets. */
static uint32_t odd_lines(uint32_t bytes) {
    return ((bytes + RM_MEMIF_LINE_BYTES - 1) / RM_MEMIF_LINE_BYTES | 1) * RM_MEMIF_LINE_BYTES;
}

static struct rm_memif_offer offer_of(struct rm_port_config const *config) {
    uint16_t const queues = config->spread ? 1 : config->queues;
    uint32_t const slots = config->ring_slots != 0 ? config->ring_slots : DEFAULT_SLOTS;
    // The server takes the rings that its client makes; the one more is for the exception path.
    bool const one_more = config->exception_path && config->memif_server;
    uint32_t const longest = rm_longest_frame(config);
    return (struct rm_memif_offer){.receive_rings = queues,
                                   .send_rings = (uint16_t)(queues + one_more),
                                   .slots_log2 = (uint32_t)__builtin_ctz(slots),
                                   .send_bytes = odd_lines(longest < RM_SEND_BYTES ? RM_SEND_BYTES : longest),
                                   // DPDK's driver does not ask how long a buffer is before it fills it.
                                   .receive_bytes = odd_lines(rm_packet_bytes(config, 0))};
}

static enum rm_code memif_port_check(struct rm_port_config const *config, struct rm_error *error) {
    if (config->queues > MOST_QUEUES)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; memif takes at most %d", config->name,
                       config->queues, MOST_QUEUES);
    if (config->ring_slots == 1 || config->ring_slots > MOST_SLOTS)
        return rm_fail(error, RM_E_CONFIG, "port '%s': %u ring slots; memif takes 2 to %d", config->name,
                       config->ring_slots, MOST_SLOTS);
    struct rm_memif_offer const offer = offer_of(config);
    if (rm_memif_offer_bytes(&offer) > RM_MEMIF_REGION_BYTES_MAX)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': %u queues of %u slots of %u bytes are more than 4 GiB, which memif cannot address; "
                       "take fewer ring slots",
                       config->name, config->queues, 1u << offer.slots_log2, offer.receive_bytes);
    if (rte_lcore_count() == 0)
        return rm_fail(error, RM_E_ARGUMENT, "port '%s' needs DPDK; call rm_net_start before opening it", config->name);
    return rm_socket_path_check(config, "memif", error);
}

/** An address that no device has: the lowest bits of the first byte say that it is one machine's, and made up. */
static bool make_up_mac(uint8_t mac[6]) {
    if (getrandom(mac, 6, 0) != 6)
        return false;
    mac[0] = (uint8_t)((mac[0] & 0xFC) | 0x02);
    return true;
}

static enum rm_code make_parts(struct memif_port *memif, struct rm_port_config const *config,
                               struct rm_memif_offer const *offer, struct rm_error *error) {
    memif->out_bytes = offer->send_bytes;
    memif->lane = rm_zeroed(offer->receive_rings, sizeof *memif->lane);
    memif->out = rm_zeroed((config->queues + 1u) * (size_t)RM_BURST, offer->send_bytes);
    if (memif->lane == NULL || memif->out == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for the buffers of %u queues; free some memory",
                       config->name, config->queues);
    if (!make_up_mac(memif->mac))
        return rm_fail(error, RM_E_SYSTEM, "port '%s': the kernel gives no random number: %s", config->name,
                       strerror(errno));
    if (!rm_packets_outlive(config))
        return RM_OK;
    char name[24]; // which is short, as DPDK wants it, and like no other's
    snprintf(name, sizeof name, "memif%lx", (unsigned long)(uintptr_t)memif);
    struct rm_packet_pool_wants const wants = {
        .name = name, .buffer_bytes = rm_packet_bytes(config, 0), .socket = -1, .packed = true};
    return rm_packet_pool_make(&memif->pool, config, &wants, error);
}

enum rm_code rm_memif_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    enum rm_code code = memif_port_check(config, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct memif_port), &memif_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    struct rm_memif_offer const offer = offer_of(config);
    code = make_parts(memif_port_self(made), config, &offer, error);
    if (code == RM_OK)
        code = rm_memif_link_open(&memif_port_self(made)->link, config, &offer, rm_packet_bytes(config, 0), error);
    if (code == RM_OK) {
        *port = made;
        return RM_OK;
    }
    free_parts(memif_port_self(made));
    rm_port_free(made);
    return code;
}
