// SPDX-License-Identifier: Apache-2.0
/** The ports that a ring sends through, as sinks. Where frames carry the source address, a port has one sink for all
 * groups. Where the kernel writes the headers, it has one socket for each source address, which must be an address of
 * this machine. */
#ifndef RM_INSTRUMENTS_PORT_SINKS_H
#define RM_INSTRUMENTS_PORT_SINKS_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "net/port.h"
#include "ring_config.h"
#include "sink.h"

/** One port and what was seen of it. */
struct rm_port_sink {
    struct rm_port *port;
    /** Index among the ring's ports. */
    uint32_t index;
    /** Source address of a socket; else 0. */
    uint32_t source_ipv4;
    /** Datagrams refused on their way out, as counted last. */
    uint64_t unsent;
};

struct rm_port_sinks {
    struct rm_port_sink *port;
    /** sink[i] belongs to port[i]. */
    struct rm_sink *sink;

    uint32_t count;
};

/** Opens the ports that the ring's groups need. For kind udp, bind_ipv4 of the configuration is replaced. */
enum rm_code rm_port_sinks_open(struct rm_ring_config const *ring, struct rm_port_sinks *sinks, struct rm_error *error);
void rm_port_sinks_close(struct rm_port_sinks *sinks);

/** The sink that takes datagrams from this source address to this port of the ring. */
uint32_t rm_port_sinks_find(struct rm_port_sinks const *sinks, uint32_t port, uint32_t source_ipv4);

/** The open port of this index, to be shared, where frames leave through it; else NULL. */
struct rm_port *rm_port_sinks_port(struct rm_port_sinks const *sinks, uint32_t port);

/** Datagrams that devices or the kernel refused on their way out. */
uint64_t rm_port_sinks_unsent(struct rm_port_sinks const *sinks);

#endif
