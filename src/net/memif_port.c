// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/fail.h"
#include "net/dpdk_port.h"
#include "net/memif_link.h"
#include "net/socket_path.h"

enum {
    DEFAULT_SLOTS = 4096, /**< as fast as fewer, and the sender waits less where both ends share a core */
    MOST_SLOTS = 16384,   /**< the driver's limit */
};

struct memif_port {
    struct rm_dpdk_port base;
    struct rm_memif_link link;
};

static struct memif_port *self(struct rm_port *port) { return (struct memif_port *)port; }

static uint32_t memif_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct rm_memif_link *const link = &self(port)->link;
    enum rm_gate_state const state = rm_gate_enter_receive(&link->gate, queue);
    if (state == RM_GATE_CLOSED)
        return 0;
    uint32_t count = 0;
    if (queue < link->receive_rings) // the driver would read queue 0's ring
        count = rm_dpdk_device_receive(&self(port)->base.device, queue, burst);
    rm_gate_leave_receive(&link->gate, queue, state, count);
    return count;
}

static uint32_t memif_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct rm_memif_link *const link = &self(port)->link;
    if (!rm_gate_enter_send(&link->gate, queue))
        return 0;
    uint32_t count = 0;
    uint16_t own;
    if (rm_dpdk_port_send_queue(port, queue, link->send_rings, &own))
        count = rm_dpdk_device_send(&self(port)->base.device, own, burst);
    rm_gate_leave_send(&link->gate, queue);
    return count;
}

static void memif_totals(struct rm_port *port, struct rm_port_totals *totals) {
    rm_dpdk_device_totals(&self(port)->base.device, totals);
    totals->link_up = rm_gate_is_open(&self(port)->link.gate);
}

static void memif_close(struct rm_port *port) {
    rm_memif_link_halt(&self(port)->link);
    rm_dpdk_device_close(&self(port)->base.device);
    rm_memif_link_close(&self(port)->link);
}

static struct rm_port_ops const memif_ops = {.framing = RM_FRAMING_ETHERNET,
                                             .receive = memif_receive,
                                             .release = rm_dpdk_port_release,
                                             .reserve = rm_dpdk_port_reserve,
                                             .send = memif_send,
                                             .totals = memif_totals,
                                             .mac = rm_dpdk_port_mac,
                                             .close = memif_close};

static enum rm_code check(struct rm_port_config const *config, struct rm_error *error) {
    if (config->ring_slots == 1 || config->ring_slots > MOST_SLOTS)
        return rm_fail(error, RM_E_CONFIG, "port '%s': %u ring slots; memif takes 2 to %d", config->name,
                       config->ring_slots, MOST_SLOTS);
    return rm_socket_path_check(config, "memif", error);
}

static enum rm_code open_device(struct memif_port *memif, struct rm_port_config const *config, struct rm_error *error) {
    char arguments[192];
    int const slots = (int)(config->ring_slots != 0 ? config->ring_slots : DEFAULT_SLOTS);
    uint32_t const longest = rm_longest_frame(config);
    snprintf(arguments, sizeof arguments, "role=%s,socket=%s,socket-abstract=yes,rsize=%d,bsize=%u,zero-copy=no",
             config->memif_server ? "server" : "client", memif->link.driver_socket, __builtin_ctz((unsigned)slots),
             longest > RM_BUFFER_BYTES ? longest : (uint32_t)RM_BUFFER_BYTES);
    memif->base.device.bus = "vdev";
    rm_dpdk_device_name("net_memif", memif->base.device.name);
    // The server takes the rings that its client makes, but a client that makes more than the server has is refused.
    bool const one_more = config->slow_path && config->memif_server;
    struct rm_dpdk_wants const wants = {.arguments = arguments,
                                        .send_queues = (uint16_t)((config->spread ? 1 : config->queues) + one_more)};
    return rm_dpdk_device_open(&memif->base.device, config, &wants, error);
}

/** Link, device, and the thread that joins them; nothing is left when one of them fails. */
static enum rm_code open_parts(struct memif_port *memif, struct rm_port_config const *config, struct rm_error *error) {
    enum rm_code code = rm_memif_link_open(&memif->link, config, error);
    if (code != RM_OK)
        return code;
    code = open_device(memif, config, error);
    if (code == RM_OK) {
        code = rm_memif_link_run(&memif->link, &memif->base.device, config, error);
        if (code != RM_OK)
            rm_dpdk_device_close(&memif->base.device);
    }
    if (code != RM_OK)
        rm_memif_link_close(&memif->link);
    return code;
}

enum rm_code rm_memif_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    enum rm_code code = check(config, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct memif_port), &memif_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    code = open_parts(self(made), config, error);
    if (code == RM_OK)
        *port = made;
    else
        rm_port_free(made);
    return code;
}
