// SPDX-License-Identifier: Apache-2.0
/** The ports that a ring sends through, as sinks: of each port one for everything where frames carry the source
 * address; where the kernel writes the headers, one socket for each source address, which must be an address of this
 * machine. */
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
    /** Of the ring's ports. */
    uint32_t index;
    /** Of a socket; else 0. */
    uint32_t source_ipv4;
    /** At the last look: datagrams refused on their way out. */
    uint64_t unsent;
};

struct rm_port_sinks {
    struct rm_port_sink *port;
    /** sink[i] is port[i]'s. */
    struct rm_sink *sink;

    uint32_t count;
};

/** Opens what the ring's groups need; of kind udp, bind_ipv4 of the configuration is replaced. */
enum rm_code rm_port_sinks_open(struct rm_ring_config const *ring, struct rm_port_sinks *sinks, struct rm_error *error);
void rm_port_sinks_close(struct rm_port_sinks *sinks);

/** The sink that takes datagrams from this source address to this port of the ring. */
uint32_t rm_port_sinks_find(struct rm_port_sinks const *sinks, uint32_t port, uint32_t source_ipv4);

/** This port of the ring where frames leave by it, to be shared; NULL where none is open. */
struct rm_port *rm_port_sinks_port(struct rm_port_sinks const *sinks, uint32_t port);

/** Datagrams that devices or the kernel refused on their way out. */
uint64_t rm_port_sinks_unsent(struct rm_port_sinks const *sinks);

#endif
