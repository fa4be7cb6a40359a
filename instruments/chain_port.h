// SPDX-License-Identifier: Apache-2.0
/** The port of the chains: frames with setpoints in, frames with readbacks out, to where the setpoints came from. With a
 * pair of servers setpoints come from both, and both get each answer, as from a switch that mirrors it.
 *
 * It never waits. An answer that the link does not take at once is lost, as on a real one, and not counted as sent.
 */
#ifndef RM_INSTRUMENTS_CHAIN_PORT_H
#define RM_INSTRUMENTS_CHAIN_PORT_H

#include <stdint.h>

#include <ringmaster/error.h>

#include "chains.h"
#include "net/port.h"
#include "pair.h"
#include "wire/frame.h"

/** The address that asked a chain last, and the headers of the answers to it. */
struct rm_chain_peer {
    struct rm_flow flow;
    uint32_t header_bytes;
    /** Headers of a full part, and of the last one. */
    uint8_t header[2][RM_FRAME_HEADER_BYTES + RM_VLAN_BYTES];
};

struct rm_chain_port {
    struct rm_port *port;
    /** It and the same port of the other server; NULL: there is one server. */
    struct rm_pair *pair;
    /** Index among the ring's ports: only chains of this port are asked here. */
    uint32_t index;

    struct rm_chains *chains;
    /** [chain]. */
    struct rm_chain_peer *peer;

    struct rm_chain_answer answer;
    struct rm_burst in, out;
    /** How many of the buffers of `out` are filled. */
    uint32_t filled;
    /** [buffer] counters of the chain whose answer it has. */
    rm_counter *owner[RM_BURST];
};

/** Makes the chains' side of a port, or with `pair` of both its ports. It polls queue 0 of `port`; nothing else may
 * receive from that queue, or have a burst reserved meanwhile. RM_E_NO_SPACE. */
enum rm_code rm_chain_port_make(struct rm_port *port, struct rm_pair *pair, uint32_t index, struct rm_chains *chains,
                                struct rm_chain_port *made, struct rm_error *error);
void rm_chain_port_free(struct rm_chain_port *port);

/** Takes one burst of each server, and answers it. Returns how many frames there were. */
uint32_t rm_chain_port_poll(struct rm_chain_port *port, double time);

#endif
