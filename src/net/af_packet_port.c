// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <net/if.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "net/dpdk_device.h"
#include "net/packet_sockets.h"
#include "net/port_kind.h"

enum {
    FRAME_BYTES = 2048, /**< a ring slot: the kernel's header and a frame of up to RM_SEND_BYTES */
    FRAMES_PER_BLOCK = 32,
    DEFAULT_FRAMES = 16384, /**< 32 MiB of the kernel's memory in each direction: 14 ms at 1.16 MHz */
    FEWEST_FRAMES = FRAMES_PER_BLOCK,
    MOST_FRAMES = 262144,
};

struct af_packet_port {
    alignas(64) struct rm_port port;
    struct rm_dpdk_device device;
    uint32_t interface_index;
    int sockets[RM_PACKET_SOCKETS_MOST]; /**< the driver's, one per queue; it closes them */
    uint32_t socket_count;
    uint64_t missed;
};

static struct af_packet_port *self(struct rm_port *port) { return (struct af_packet_port *)port; }

static uint32_t af_packet_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    return rm_dpdk_device_receive(&self(port)->device, queue, burst);
}

static void af_packet_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port;
    (void)queue;
    rm_dpdk_device_release(burst);
}

static uint32_t af_packet_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    (void)queue;
    return rm_dpdk_device_reserve(&self(port)->device, burst, count);
}

static uint32_t af_packet_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    return rm_dpdk_device_send(&self(port)->device, queue, burst);
}

static void af_packet_totals(struct rm_port *port, struct rm_port_totals *totals) {
    struct af_packet_port *const packet = self(port);
    for (uint32_t i = 0; i < packet->socket_count; ++i)
        packet->missed += rm_packet_socket_take_drops(packet->sockets[i]);
    rm_dpdk_device_totals(&packet->device, totals);
    totals->missed += packet->missed;
    totals->link_up = rm_packet_socket_link_up(packet->sockets[0], packet->interface_index);
}

static void af_packet_close(struct rm_port *port) { rm_dpdk_device_close(&self(port)->device); }

static struct rm_port_ops const af_packet_ops = {.framing = RM_FRAMING_ETHERNET,
                                                 .receive = af_packet_receive,
                                                 .release = af_packet_release,
                                                 .reserve = af_packet_reserve,
                                                 .send = af_packet_send,
                                                 .totals = af_packet_totals,
                                                 .close = af_packet_close};

/** Also finds the interface's index. */
static enum rm_code check(struct rm_port_config const *config, uint32_t *interface_index, struct rm_error *error) {
    if (memchr(config->interface, '\0', sizeof config->interface) == NULL || strchr(config->interface, ',') != NULL)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': no interface can have that name; `ip link` shows those there are", config->name);
    *interface_index = if_nametoindex(config->interface);
    if (*interface_index == 0)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': there is no interface '%s' (%s); `ip link` shows those there are", config->name,
                       config->interface, strerror(errno));
    if (config->queues > RM_PACKET_SOCKETS_MOST)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; af_packet takes at most %d", config->name,
                       config->queues, RM_PACKET_SOCKETS_MOST);
    if (config->ring_slots != 0 && (config->ring_slots < FEWEST_FRAMES || config->ring_slots > MOST_FRAMES))
        return rm_fail(error, RM_E_CONFIG, "port '%s': %u ring slots; af_packet takes %d to %d", config->name,
                       config->ring_slots, FEWEST_FRAMES, MOST_FRAMES);
    int others[RM_PACKET_SOCKETS_MOST];
    if (rm_packet_sockets_find(*interface_index, others) != 0)
        return rm_fail(error, RM_E_BUSY,
                       "port '%s': this process has another port on interface '%s', and the kernel would share its "
                       "packets out between them; give one port more queues instead",
                       config->name, config->interface);
    return RM_OK;
}

/** Hides what this host sends, which other sockets on the interface would otherwise receive. */
static enum rm_code ignore_outgoing(struct af_packet_port *packet, struct rm_port_config const *config,
                                    struct rm_error *error) {
    for (uint32_t i = 0; i < packet->socket_count; ++i) {
        int const why = rm_packet_socket_ignore_outgoing(packet->sockets[i]);
        if (why != 0)
            return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot filter outgoing packets from '%s': %s", config->name,
                           config->interface, strerror(why));
    }
    if (packet->socket_count != config->queues)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': %u packet sockets for %u queues were found in /proc/self/fd",
                       config->name, packet->socket_count, config->queues);
    return RM_OK;
}

/** Until it was bound, the driver's socket has seen the packets of every interface: they are not ours. */
static void discard_waiting(struct af_packet_port *packet) {
    struct rm_burst burst;
    for (uint16_t queue = 0; queue < packet->port.queues; ++queue)
        for (uint32_t rest = DEFAULT_FRAMES / RM_BURST; rest != 0; --rest) {
            burst.count = rm_dpdk_device_receive(&packet->device, queue, &burst);
            if (burst.count == 0)
                break;
            rm_dpdk_device_release(&burst);
        }
}

static enum rm_code open_device(struct af_packet_port *packet, struct rm_port_config const *config,
                                struct rm_error *error) {
    char arguments[192];
    snprintf(arguments, sizeof arguments, "iface=%s,qpairs=%u,blocksz=%d,framesz=%d,framecnt=%u", config->interface,
             config->queues, FRAMES_PER_BLOCK * FRAME_BYTES, FRAME_BYTES,
             config->ring_slots != 0 ? config->ring_slots : DEFAULT_FRAMES);
    rm_dpdk_device_name("net_af_packet", packet->device.name);
    enum rm_code code = rm_dpdk_device_open(&packet->device, config, arguments, error);
    if (code != RM_OK)
        return code;
    packet->socket_count = rm_packet_sockets_find(packet->interface_index, packet->sockets);
    code = ignore_outgoing(packet, config, error);
    if (code == RM_OK)
        code = rm_dpdk_device_start(&packet->device, config->name, error);
    if (code == RM_OK)
        discard_waiting(packet);
    else
        rm_dpdk_device_close(&packet->device);
    return code;
}

enum rm_code rm_af_packet_port_open(struct rm_port_config const *config, struct rm_port **port,
                                    struct rm_error *error) {
    uint32_t interface_index = 0;
    enum rm_code code = check(config, &interface_index, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct af_packet_port), &af_packet_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    self(made)->interface_index = interface_index;
    code = open_device(self(made), config, error);
    if (code == RM_OK)
        *port = made;
    else
        rm_port_free(made);
    return code;
}
