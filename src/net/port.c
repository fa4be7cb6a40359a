// SPDX-License-Identifier: Apache-2.0
#include "net/port.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "net/dpdk_device.h"
#include "net/port_kind.h"

/** What port.c does for all kinds, as far as this one wants it. */
static bool make_parts(struct rm_port *port, struct rm_port_config const *config) {
    port->queues = config->queues;
    port->send_bytes = rm_longest_frame(config) < RM_SEND_BYTES ? RM_SEND_BYTES : rm_longest_frame(config);
    port->counts = rm_zeroed(config->queues + 1u, sizeof(struct rm_port_counts));
    port->has_spread = config->spread;
    port->has_exception_path = config->exception_path;
    return port->counts != NULL && (!config->spread || rm_spread_make(&port->spread, config->queues)) &&
           (!config->exception_path || rm_punt_queue_make(&port->exception_path, config->queues)) &&
           rm_steer_make(&port->steer, config);
}

struct rm_port *rm_port_new(size_t bytes, struct rm_port_ops const *ops, struct rm_port_config const *config,
                            struct rm_error *error) {
    struct rm_port *const port = rm_zeroed(1, bytes);
    if (port == NULL || !make_parts(port, config)) {
        if (port != NULL)
            rm_port_free(port);
        rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for its state; free some memory", config->name);
        return NULL;
    }
    port->ops = ops;
    port->kind = config->kind;
    port->file = -1;
    memcpy(port->name, config->name, sizeof port->name);
    return port;
}

void rm_port_free(struct rm_port *port) {
    rm_steer_free(&port->steer);
    rm_punt_queue_free(&port->exception_path);
    rm_spread_free(&port->spread);
    free(port->counts);
    free(port);
}

bool rm_port_send_queue(struct rm_port const *port, uint16_t queue, uint16_t send_queues, uint16_t *own) {
    if (send_queues == 0)
        return false;
    uint16_t const last = (uint16_t)(send_queues - 1);
    *own = queue == port->queues ? last : queue;
    return queue == port->queues || queue < last || (queue == last && !port->has_exception_path);
}

/** What is wrong whatever the kind. */
static enum rm_code port_check_config(struct rm_port_config const *config, struct rm_error *error) {
    if (memchr(config->name, '\0', sizeof config->name) == NULL || config->name[0] == '\0')
        return rm_fail(error, RM_E_ARGUMENT, "a port has no name; give it one of 1 to %d bytes",
                       RM_PORT_NAME_BYTES - 1);
    if (config->queues == 0)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has 0 queues; it needs at least 1", config->name);
    if ((config->ring_slots & (config->ring_slots - 1)) != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': %u ring slots are no power of two; write %u, or 0 for the default", config->name,
                       config->ring_slots, 1u << (31 - __builtin_clz(config->ring_slots)));
    if (config->batch > RM_BURST)
        return rm_fail(error, RM_E_ARGUMENT, "port '%s': batches of %u datagrams; expected at most %d", config->name,
                       config->batch, RM_BURST);
    if (config->longest_frame > RM_LONGEST_FRAME_MAX)
        return rm_fail(error, RM_E_CONFIG, "port '%s': a longest frame of %u bytes; expected at most %d", config->name,
                       config->longest_frame, RM_LONGEST_FRAME_MAX);
    if (config->spread && config->queues > RM_SPREAD_QUEUES_MAX)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has %u queues; the software spreads to at most %d", config->name,
                       config->queues, RM_SPREAD_QUEUES_MAX);
    return RM_OK;
}

enum rm_code rm_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    *port = NULL;
    enum rm_code const code = port_check_config(config, error);
    if (code != RM_OK)
        return code;
    static rm_port_opener *const openers[] = {
        [RM_PORT_MEMIF] = rm_memif_port_open,      [RM_PORT_AF_PACKET] = rm_af_packet_port_open,
        [RM_PORT_UDP] = rm_udp_port_open,          [RM_PORT_AF_XDP] = rm_af_xdp_port_open,
        [RM_PORT_PCAP] = rm_vdev_port_open,        [RM_PORT_RING] = rm_ring_port_open,
        [RM_PORT_NULL] = rm_vdev_port_open,        [RM_PORT_TAP] = rm_vdev_port_open,
        [RM_PORT_VIRTIO_USER] = rm_vdev_port_open, [RM_PORT_VHOST] = rm_vdev_port_open,
        [RM_PORT_PCI] = rm_pci_port_open,          [RM_PORT_RAW] = rm_raw_port_open,
    };
    if ((unsigned)config->kind >= sizeof openers / sizeof openers[0])
        return rm_fail(error, RM_E_ARGUMENT, "port '%s' is of the unknown kind %d; expected one of enum rm_port_kind",
                       config->name, (int)config->kind);
    return openers[config->kind](config, port, error);
}

void rm_port_close(struct rm_port *port) {
    if (port == NULL)
        return;
    port->ops->close(port);
    rm_port_free(port);
}

enum rm_framing rm_port_framing(struct rm_port const *port) { return port->ops->framing; }

bool rm_port_copies(struct rm_port const *port) { return port->ops->copies; }

char const *rm_port_name(struct rm_port const *port) { return port->name; }

/** Adds to a count that only this thread writes and others may read at any time. */
static void port_add_count(_Atomic uint64_t *count, uint32_t more) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

void rm_port_totals(struct rm_port *port, struct rm_port_statistics *totals) {
    memset(totals, 0, sizeof *totals);
    port->ops->totals(port, totals);
    for (uint16_t queue = 0; queue < port->queues; ++queue) {
        totals->received += atomic_load_explicit(&port->counts[queue].received, memory_order_relaxed);
        totals->sent += atomic_load_explicit(&port->counts[queue].sent, memory_order_relaxed);
    }
    totals->sent += atomic_load_explicit(&port->counts[port->queues].sent, memory_order_relaxed);
}

/** A socket file or a shared ring has another end, a device has a cable. */
static bool has_other_end(enum rm_port_kind kind) {
    return kind == RM_PORT_MEMIF || kind == RM_PORT_VHOST || kind == RM_PORT_VIRTIO_USER;
}

enum rm_code rm_port_check(struct rm_port *port, struct rm_error *error) {
    if (port->ops->check != NULL)
        return port->ops->check(port, error);
    struct rm_port_statistics totals;
    rm_port_totals(port, &totals);
    if (totals.link_up)
        return RM_OK;
    if (has_other_end(port->kind))
        return rm_fail(error, RM_E_ABSENT, "port '%s' has no peer: start the other end of its socket", port->name);
    return rm_fail(error, RM_E_SYSTEM,
                   "port '%s' is down: the interface is gone, switched off, or its cable is out; `ip link` shows it",
                   port->name);
}

static uint32_t port_receive_burst(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    if (queue == port->queues)
        return rm_dpdk_device_show(burst, rm_punt_queue_take(&port->exception_path, burst));
    if (port->has_spread)
        return rm_dpdk_device_show(burst, rm_buffer_rings_take(&port->spread.rings, queue, burst->handle, RM_BURST));
    return port->ops->receive(port, queue, burst);
}

uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    uint32_t const count = port_receive_burst(port, queue, burst);
    burst->count = count;
    if (count != 0)
        port_add_count(&port->counts[queue].received, count);
    return count;
}

static void sleep_on(struct pollfd *files, uint32_t count, uint64_t wait_ns) {
    uint64_t const ns = wait_ns < RM_LONGEST_SLEEP_NS ? wait_ns : RM_LONGEST_SLEEP_NS;
    struct timespec const time = {.tv_nsec = (long)ns};
    (void)ppoll(files, count, &time, NULL);
}

/** A long sleep is the receiving call's own, as in most programs; a short one needs a call before it, because the
 * kernel rounds a socket's own timeout up to its timer's tick. */
uint32_t rm_port_receive_sleeping(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint64_t wait_ns) {
    if (port->file >= 0 && wait_ns != 0 && wait_ns != RM_SLEEP) {
        struct pollfd file = {.fd = port->file, .events = POLLIN};
        sleep_on(&file, 1, wait_ns);
        if (file.revents == 0)
            return burst->count = 0;
    }
    if (port->file < 0 || wait_ns != RM_SLEEP)
        return rm_port_receive(port, queue, burst);
    burst->count = port->ops->receive_sleeping(port, queue, burst);
    port_add_count(&port->counts[queue].received, burst->count);
    return burst->count;
}

void rm_ports_wait(struct rm_port *const *ports, uint32_t count, uint64_t wait_ns) {
    struct pollfd files[RM_PORTS_WAIT_MAX];
    for (uint32_t i = 0; i < count; ++i) {
        if (ports[i]->file < 0)
            return;
        files[i] = (struct pollfd){.fd = ports[i]->file, .events = POLLIN};
    }
    sleep_on(files, count, wait_ns);
}

uint32_t rm_port_discard(struct rm_port *port, uint16_t queue) {
    struct rm_burst burst;
    if (port->ops->discard == NULL || port->has_spread || queue == port->queues) {
        uint32_t const received = rm_port_receive(port, queue, &burst);
        rm_port_release(port, queue, &burst);
        return received;
    }
    uint32_t const count = port->ops->discard(port, queue);
    if (count != 0)
        port_add_count(&port->counts[queue].received, count);
    return count;
}

void rm_port_release(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    if (burst->count != 0)
        port->ops->release(port, queue, burst);
    burst->count = 0;
}

uint32_t rm_port_reserve(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t count) {
    burst->count = port->ops->reserve(port, queue, burst, count);
    return burst->count;
}

/** Moves the entries behind the first `gone` to the front; only what a reserved burst uses. */
static void keep_rest(struct rm_burst *burst, uint32_t gone) {
    uint32_t const rest = burst->count - gone;
    memmove(burst->data, burst->data + gone, rest * sizeof burst->data[0]);
    memmove(burst->length, burst->length + gone, rest * sizeof burst->length[0]);
    memmove(burst->handle, burst->handle + gone, rest * sizeof burst->handle[0]);
    burst->count = rest;
}

uint32_t rm_port_send(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    if (burst->count == 0)
        return 0;
    uint32_t const sent = port->ops->send(port, queue, burst);
    if (sent != 0) {
        port_add_count(&port->counts[queue].sent, sent);
        keep_rest(burst, sent);
    }
    return sent;
}

/** Copies frames into buffers of the port's, and sends these. */
static uint32_t send_copies_of(struct rm_port *port, uint16_t queue, struct rm_burst const *burst) {
    struct rm_burst copies;
    uint32_t const count = rm_port_reserve(port, queue, &copies, burst->count);
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(copies.data[i], burst->data[i], burst->length[i]);
        copies.length[i] = burst->length[i];
    }
    uint32_t const sent = count != 0 ? port->ops->send(port, queue, &copies) : 0;
    if (sent != 0)
        keep_rest(&copies, sent);
    rm_port_release(port, queue, &copies);
    return sent;
}

/** Takes out of a burst what the port cannot send. */
static void drop_unsendable(struct rm_burst *burst, uint32_t most_bytes) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < burst->count; ++i)
        if (burst->length[i] - 1 < most_bytes) {
            burst->data[kept] = burst->data[i];
            burst->length[kept++] = burst->length[i];
        }
    burst->count = kept;
}

uint32_t rm_port_send_from(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    drop_unsendable(burst, port->send_bytes);
    if (burst->count == 0)
        return 0;
    uint32_t const sent =
        port->ops->send_from != NULL ? port->ops->send_from(port, queue, burst) : send_copies_of(port, queue, burst);
    if (sent != 0)
        port_add_count(&port->counts[queue].sent, sent);
    return sent;
}

bool rm_port_send_to(struct rm_port *port, uint32_t ipv4, uint16_t udp_port, uint8_t const *payload, uint32_t length) {
    if (port->ops->send_to == NULL || !port->ops->send_to(port, ipv4, udp_port, payload, length))
        return false;
    port_add_count(&port->counts[0].sent, 1);
    return true;
}

bool rm_port_punt(struct rm_port *port, uint16_t queue, struct rm_burst *burst, uint32_t index) {
    if (!port->has_exception_path || !rm_punt_queue_has_room(&port->exception_path, queue))
        return false;
    if (port->ops->keep != NULL && burst->handle[index] == NULL && !port->ops->keep(port, burst, index))
        return false;
    return rm_punt_queue_put(&port->exception_path, queue, burst, index);
}

uint16_t rm_port_slow_queue(struct rm_port const *port) { return port->queues; }

uint32_t rm_port_spread(struct rm_port *port, uint64_t *full) {
    struct rm_burst burst;
    burst.count = port->ops->receive(port, 0, &burst);
    uint32_t const count = burst.count;
    if (count == 0)
        return 0;
    *full += rm_spread_deal(&port->spread, &burst);
    rm_port_release(port, 0, &burst);
    return count;
}

enum rm_steering rm_port_steering(struct rm_port const *port) { return port->steer.how; }

uint16_t rm_port_queue_of(struct rm_port const *port, uint32_t source_ipv4) {
    return rm_steer_queue_of(&port->steer, source_ipv4);
}

bool rm_port_mac(struct rm_port const *port, uint8_t mac[6]) {
    return port->ops->mac != NULL && port->ops->mac(port, mac);
}
