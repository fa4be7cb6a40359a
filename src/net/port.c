// SPDX-License-Identifier: Apache-2.0
#include "net/port.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "net/port_kind.h"

struct rm_port *rm_port_new(size_t bytes, struct rm_port_ops const *ops, struct rm_port_config const *config,
                            struct rm_error *error) {
    struct rm_port *port = aligned_alloc(64, bytes);
    size_t const counts_bytes = config->queues * sizeof(struct rm_port_counts);
    struct rm_port_counts *counts = aligned_alloc(64, counts_bytes);
    if (port == NULL || counts == NULL) {
        free(port);
        free(counts);
        rm_fail(error, RM_E_NO_SPACE, "port '%s': no memory for its %zu bytes of state; free some memory", config->name,
                bytes + counts_bytes);
        return NULL;
    }
    memset(port, 0, bytes);
    memset(counts, 0, counts_bytes);
    port->ops = ops;
    port->counts = counts;
    port->queues = config->queues;
    memcpy(port->name, config->name, sizeof port->name);
    return port;
}

void rm_port_free(struct rm_port *port) {
    free(port->counts);
    free(port);
}

/** What is wrong whatever the kind. */
static enum rm_code check(struct rm_port_config const *config, struct rm_error *error) {
    if (memchr(config->name, '\0', sizeof config->name) == NULL || config->name[0] == '\0')
        return rm_fail(error, RM_E_ARGUMENT, "a port has no name; give it one of 1 to %d bytes",
                       RM_PORT_NAME_BYTES - 1);
    if (config->queues == 0)
        return rm_fail(error, RM_E_CONFIG, "port '%s' has 0 queues; it needs at least 1", config->name);
    if ((config->ring_slots & (config->ring_slots - 1)) != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s': %u ring slots are no power of two; write %u, or 0 for the default", config->name,
                       config->ring_slots, 1u << (31 - __builtin_clz(config->ring_slots)));
    return RM_OK;
}

enum rm_code rm_port_open(struct rm_port_config const *config, struct rm_port **port, struct rm_error *error) {
    *port = NULL;
    enum rm_code const code = check(config, error);
    if (code != RM_OK)
        return code;
    switch (config->kind) {
    case RM_PORT_MEMIF:
        return rm_memif_port_open(config, port, error);
    case RM_PORT_AF_PACKET:
        return rm_af_packet_port_open(config, port, error);
    case RM_PORT_UDP:
        return rm_udp_port_open(config, port, error);
    }
    return rm_fail(error, RM_E_ARGUMENT, "port '%s' is of the unknown kind %d; expected memif, af_packet or udp",
                   config->name, (int)config->kind);
}

void rm_port_close(struct rm_port *port) {
    if (port == NULL)
        return;
    port->ops->close(port);
    rm_port_free(port);
}

enum rm_framing rm_port_framing(struct rm_port const *port) { return port->ops->framing; }

char const *rm_port_name(struct rm_port const *port) { return port->name; }

/** Adds to a count that only this thread writes and others may read at any time. */
static void add(_Atomic uint64_t *count, uint32_t more) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

void rm_port_totals(struct rm_port *port, struct rm_port_totals *totals) {
    memset(totals, 0, sizeof *totals);
    port->ops->totals(port, totals);
    for (uint16_t queue = 0; queue < port->queues; ++queue) {
        totals->received += atomic_load_explicit(&port->counts[queue].received, memory_order_relaxed);
        totals->sent += atomic_load_explicit(&port->counts[queue].sent, memory_order_relaxed);
    }
}

uint32_t rm_port_receive(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    uint32_t const count = port->ops->receive(port, queue, burst);
    burst->count = count;
    if (count != 0)
        add(&port->counts[queue].received, count);
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
        add(&port->counts[queue].sent, sent);
        keep_rest(burst, sent);
    }
    return sent;
}
