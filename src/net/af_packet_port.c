// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/dpdk_port.h"
#include "net/interface.h"
#include "net/packet_sockets.h"

enum {
    SLOT_BYTES = 2048,      /**< at least: the kernel's header and a frame */
    SLOT_HEADER_BYTES = 80, /**< TPACKET2_HDRLEN, and what the kernel adds so that the IP header is aligned */
    SLOT_UNIT = 1024,
    BLOCK_BYTES = 65536,   /**< at most */
    RING_BYTES = 32 << 20, /**< of the kernel's memory in each direction: 14 ms of short frames at 1.16 MHz */
    FEWEST_SLOTS = 32,
    MOST_SLOTS = 262144,
};

struct af_packet_port {
    struct rm_dpdk_device_port base;
    uint32_t interface_index;
    int sockets[RM_PACKET_SOCKETS_MOST]; /**< the driver's, one per queue; it closes them */
    uint32_t socket_count;
    /** One per queue and the exception path's. Not the driver's own way out: it calls sent what the kernel has yet to
     * take, and what a full interface refused would wait there for the next datagram, or be lost when the port is
     * closed. */
    int senders[RM_PACKET_SOCKETS_MOST + 1];
    uint32_t sender_count;
    int interface; /**< to ask about it; holds the multicast groups */
    uint64_t missed;
    _Atomic uint64_t refused; /**< sends, for another reason than a full queue */
};

static struct af_packet_port *af_packet_port_self(struct rm_port *port) { return (struct af_packet_port *)port; }

static bool will_pass(int why) { return why == EAGAIN || why == ENOBUFS || why == EINTR; }

static uint32_t af_packet_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct af_packet_port *const packet = af_packet_port_self(port);
    if (queue >= packet->sender_count)
        return 0;
    struct rm_burst gone = *burst;
    gone.count = rm_packet_socket_send(packet->senders[queue], burst);
    if (gone.count == 0 && !will_pass(errno))
        atomic_fetch_add_explicit(&packet->refused, 1, memory_order_relaxed);
    rm_dpdk_device_release(&gone);
    return gone.count;
}

static void af_packet_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    struct af_packet_port *const packet = af_packet_port_self(port);
    for (uint32_t i = 0; i < packet->socket_count; ++i)
        packet->missed += rm_packet_socket_take_drops(packet->sockets[i]);
    rm_dpdk_device_totals(&packet->base.device, totals);
    totals->missed += packet->missed;
    totals->refused = atomic_load_explicit(&packet->refused, memory_order_relaxed);
    totals->link_up = rm_interface_up(packet->interface, packet->interface_index);
}

static void af_packet_close(struct rm_port *port) {
    rm_dpdk_port_close(port);
    for (uint32_t i = 0; i < af_packet_port_self(port)->sender_count; ++i)
        close(af_packet_port_self(port)->senders[i]);
    if (af_packet_port_self(port)->interface >= 0)
        close(af_packet_port_self(port)->interface);
}

static struct rm_port_ops const af_packet_ops = {.framing = RM_FRAMING_ETHERNET,
                                                 .receive = rm_dpdk_port_receive,
                                                 .release = rm_dpdk_port_release,
                                                 .discard = rm_dpdk_port_discard,
                                                 .reserve = rm_dpdk_port_reserve,
                                                 .send = af_packet_send,
                                                 .totals = af_packet_totals,
                                                 .mac = rm_dpdk_port_mac,
                                                 .close = af_packet_close};

/** Also finds the interface's index. */
static enum rm_code af_packet_port_check(struct rm_port_config const *config, uint32_t *interface_index,
                                         struct rm_error *error) {
    enum rm_code const code = rm_interface_find(config, interface_index, error);
    if (code != RM_OK)
        return code;
    if (config->queues > RM_PACKET_SOCKETS_MOST)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; af_packet takes at most %d", config->name,
                       config->queues, RM_PACKET_SOCKETS_MOST);
    if (config->ring_slots != 0 && (config->ring_slots < FEWEST_SLOTS || config->ring_slots > MOST_SLOTS))
        return rm_fail(error, RM_E_CONFIG, "port '%s': %u ring slots; af_packet takes %d to %d", config->name,
                       config->ring_slots, FEWEST_SLOTS, MOST_SLOTS);
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
    uint32_t const queues = packet->base.device.receive_queues;
    if (packet->socket_count != queues)
        return rm_fail(error, RM_E_SYSTEM, "port '%s': %u packet sockets for %u queues were found in /proc/self/fd",
                       config->name, packet->socket_count, queues);
    return RM_OK;
}

/** Until it was bound, the driver's socket has seen the packets of every interface: they are not ours. */
static void discard_waiting(struct af_packet_port *packet) {
    struct rm_burst burst;
    for (uint16_t queue = 0; queue < packet->base.device.receive_queues; ++queue)
        for (uint32_t rest = RING_BYTES / SLOT_BYTES / RM_BURST; rest != 0; --rest) {
            burst.count = rm_dpdk_device_receive(&packet->base.device, queue, &burst);
            if (burst.count == 0)
                break;
            rm_dpdk_device_release(&burst);
        }
}

/** Makes the driver's device. A slot holds the longest frame, a buffer a slot. The driver takes slots to lie one after
 * the other through all blocks, so blocks hold nothing else, and must be whole pages: four slots of 1024 bytes'
 * multiple are. */
static enum rm_code make_af_packet_device(struct af_packet_port *packet, struct rm_port_config const *config,
                                          struct rm_error *error) {
    uint32_t const wanted_bytes = rm_longest_frame(config) + SLOT_HEADER_BYTES;
    uint32_t const slot_bytes =
        wanted_bytes < SLOT_BYTES ? SLOT_BYTES : (wanted_bytes + SLOT_UNIT - 1) / SLOT_UNIT * SLOT_UNIT;
    uint32_t const per_block = BLOCK_BYTES / slot_bytes / 4 * 4;
    uint32_t const slots = config->ring_slots != 0 ? config->ring_slots : RING_BYTES / slot_bytes;
    uint16_t const queues = config->spread ? 1 : config->queues;
    char arguments[192];
    snprintf(arguments, sizeof arguments, "iface=%s,qpairs=%u,blocksz=%u,framesz=%u,framecnt=%u", config->interface,
             queues, per_block * slot_bytes, slot_bytes, (slots + per_block - 1) / per_block * per_block);
    struct rm_dpdk_wants const wants = {.arguments = arguments, .buffer_bytes = slot_bytes};
    packet->base.device.bus = "vdev";
    rm_dpdk_device_name("net_af_packet", packet->base.device.name);
    return rm_dpdk_device_open(&packet->base.device, config, &wants, error);
}

static enum rm_code open_senders(struct af_packet_port *packet, struct rm_port_config const *config,
                                 struct rm_error *error) {
    for (uint32_t wanted = config->queues + (config->exception_path ? 1u : 0u); packet->sender_count < wanted;) {
        int const sender = rm_packet_socket_open_sender(packet->interface_index);
        if (sender < 0)
            return rm_fail(error, RM_E_SYSTEM, "port '%s': cannot make a packet socket to send from: %s", config->name,
                           strerror(errno));
        packet->senders[packet->sender_count++] = sender;
    }
    return RM_OK;
}

static enum rm_code open_af_packet_device(struct af_packet_port *packet, struct rm_port_config const *config,
                                          struct rm_error *error) {
    packet->interface = -1;
    enum rm_code code = make_af_packet_device(packet, config, error);
    if (code != RM_OK)
        return code;
    packet->socket_count = rm_packet_sockets_find(packet->interface_index, packet->sockets);
    code = ignore_outgoing(packet, config, error);
    if (code == RM_OK)
        code = rm_dpdk_device_start(&packet->base.device, config, error);
    if (code == RM_OK)
        code = open_senders(packet, config, error);
    if (code == RM_OK)
        code = rm_interface_open(packet->interface_index, config, &packet->interface, error);
    if (code == RM_OK)
        discard_waiting(packet);
    else
        af_packet_close(&packet->base.port);
    return code;
}

enum rm_code rm_af_packet_port_open(struct rm_port_config const *config, struct rm_port **port,
                                    struct rm_error *error) {
    uint32_t interface_index = 0;
    enum rm_code code = af_packet_port_check(config, &interface_index, error);
    if (code != RM_OK)
        return code;
    struct rm_port *const made = rm_port_new(sizeof(struct af_packet_port), &af_packet_ops, config, error);
    if (made == NULL)
        return RM_E_NO_SPACE;
    af_packet_port_self(made)->interface_index = interface_index;
    code = open_af_packet_device(af_packet_port_self(made), config, error);
    if (code == RM_OK)
        *port = made;
    else
        rm_port_free(made);
    return code;
}
