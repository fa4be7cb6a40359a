// SPDX-License-Identifier: Apache-2.0
/** A port to itself: DPDK's net_ring, on rings that we make, for the driver's own hold 1024 datagrams and no more. */
#include <stdio.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include "base/fail.h"
#include "net/dpdk_log.h"
#include "net/dpdk_port.h"

enum {
    MOST_QUEUES = 16, /**< that the driver takes */
    MOST_SLOTS = 1 << 19,
    DRIVER_BYTES = sizeof "net_ring_" - 1, /**< of a device's name: the driver's, which it puts there itself */
};

struct ring_port {
    struct rm_dpdk_device_port base;
    struct rte_ring *ring[MOST_QUEUES]; /**< of each queue of the device; NULL beyond */
};

static struct ring_port *ring_port_self(struct rm_port *port) { return (struct ring_port *)port; }

static void free_rings(struct ring_port *port) {
    for (uint32_t i = 0; i < MOST_QUEUES; ++i)
        rte_ring_free(port->ring[i]);
}

static void close_port(struct rm_port *port) {
    rm_dpdk_port_close(port);
    free_rings(ring_port_self(port));
}

static struct rm_port_ops const ring_ops = {.framing = RM_FRAMING_ETHERNET,
                                            .receive = rm_dpdk_port_receive,
                                            .release = rm_dpdk_port_release,
                                            .discard = rm_dpdk_port_discard,
                                            .reserve = rm_dpdk_port_reserve,
                                            .send = rm_dpdk_port_send,
                                            .totals = rm_dpdk_port_totals,
                                            .mac = rm_dpdk_port_mac,
                                            .close = close_port};

static enum rm_code ring_port_check(struct rm_port_config const *config, uint16_t queues, struct rm_error *error) {
    if (queues > MOST_QUEUES)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; ring takes at most %d", config->name, queues,
                       MOST_QUEUES);
    if (config->ring_slots > MOST_SLOTS)
        return rm_fail(error, RM_E_CONFIG, "port '%s': %u ring slots; ring takes at most %d", config->name,
                       config->ring_slots, MOST_SLOTS);
    if (config->exception_path)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': ring has no exception path: it has no other end that could be answered",
                       config->name);
    if (rte_lcore_count() == 0)
        return rm_fail(error, RM_E_ARGUMENT, "port '%s' needs DPDK; call rm_net_start before opening it", config->name);
    return RM_OK;
}

/** Makes the device, under its name, of rings that each hold `slots` datagrams. */
static enum rm_code make_ring_device(struct ring_port *port, struct rm_port_config const *config, uint16_t queues,
                                     uint32_t slots, struct rm_error *error) {
    char const *const name = port->base.device.name + DRIVER_BYTES;
    rm_dpdk_log_clear();
    for (uint16_t i = 0; i < queues; ++i) {
        char ring_name[RTE_RING_NAMESIZE];
        snprintf(ring_name, sizeof ring_name, "%.20s-%u", name, i);
        port->ring[i] =
            rte_ring_create(ring_name, slots, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
        if (port->ring[i] == NULL)
            return rm_fail(error, RM_E_NO_SPACE, "port '%s': no room for a ring of %u slots (%s)", config->name, slots,
                           rte_strerror(rte_errno));
    }
    if (rte_eth_from_rings(name, port->ring, queues, port->ring, queues, rte_socket_id()) >= 0)
        return RM_OK;
    char words[RM_DPDK_WORDS_BYTES];
    rm_dpdk_log_words(words);
    return rm_fail(error, RM_E_SYSTEM, "port '%s': DPDK cannot make %s (%s): %s", config->name, port->base.device.name,
                   rte_strerror(rte_errno), words);
}

static enum rm_code open_ring_port(struct rm_port *port, struct rm_port_config const *config, uint16_t queues,
                                   struct rm_error *error) {
    struct rm_dpdk_device *const device = &rm_dpdk_port(port)->device;
    uint32_t const slots = config->ring_slots != 0 ? config->ring_slots : RM_RING_SLOTS;
    struct rm_dpdk_wants const wants = {.send_queues = queues, .held_buffers = slots, .steer = &port->steer};
    device->bus = "vdev";
    rm_dpdk_device_name("net_ring_rm", device->name);
    enum rm_code const code = make_ring_device(ring_port_self(port), config, queues, slots, error);
    return code == RM_OK ? rm_dpdk_port_open(rm_dpdk_port(port), config, &wants, error) : code;
}

enum rm_code rm_ring_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    uint16_t const queues = config->spread ? 1 : config->queues;
    enum rm_code code = ring_port_check(config, queues, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct ring_port), &ring_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    code = open_ring_port(made, config, queues, error);
    if (code == RM_OK) {
        *port = made;
        return RM_OK;
    }
    free_rings(ring_port_self(made));
    rm_port_free(made);
    return code;
}
