// SPDX-License-Identifier: Apache-2.0
/** The open ports that a ring sends through. Where frames carry the source address, one port serves all groups. Where
 * the kernel writes the headers, there is one socket for each source address, which must be an address of this machine.
 */
#ifndef RM_INSTRUMENTS_SENDER_PORTS_H
#define RM_INSTRUMENTS_SENDER_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "net/port.h"
#include "ring_config.h"

/** What an open port is of. */
struct rm_sender_port {
    /** Index among the ring's ports. */
    uint32_t index;
    /** Source address of a socket; else 0. */
    uint32_t source_ipv4;
};

struct rm_sender_ports {
    struct rm_port **port;
    /** [open port] the same of the second server of a pair; NULL: there is one server. */
    struct rm_port **second;
    /** of[i] says what port[i] is. */
    struct rm_sender_port *of;

    uint32_t count;
};

/** Opens the ports that the ring's groups need. For kind udp, bind_ipv4 of the configuration is replaced. */
enum rm_code rm_sender_ports_open(struct rm_ring_config const *ring, struct rm_sender_ports *ports,
                                  struct rm_error *error);
void rm_sender_ports_close(struct rm_sender_ports *ports);

/** Index of the open port that takes datagrams from this source address to this port of the ring. */
uint32_t rm_sender_ports_find(struct rm_sender_ports const *ports, uint32_t index, uint32_t source_ipv4);

/** The open port of this index, to be shared, where frames leave through it; else NULL. `server`: 0, or 1 for that of
 * the second one of a pair. */
struct rm_port *rm_sender_ports_shared(struct rm_sender_ports const *ports, uint32_t index, uint32_t server);

/** True where each port is one of two. */
bool rm_sender_ports_paired(struct rm_sender_ports const *ports);

/** Datagrams that devices or the kernel refused on their way out. */
uint64_t rm_sender_ports_unsent(struct rm_sender_ports const *ports);

#endif
