// SPDX-License-Identifier: Apache-2.0
/** Keeps a memif port joined to its peer, and polling threads away from shared memory that is not there.
 *
 * A thread of the link waits for the peer, shakes hands with it, joins the rings to what was agreed on and opens the
 * gate, through which every burst passes. When the peer says that it goes, or ends without a word, that thread first
 * lets what the peer had sent be received, then closes the gate, which waits for bursts that are still lent, unmaps the
 * memory, and waits for the next peer.
 */
#ifndef RM_NET_MEMIF_LINK_H
#define RM_NET_MEMIF_LINK_H

#include <pthread.h>

#include "net/gate.h"
#include "net/memif_handshake.h"
#include "net/port.h"

struct rm_memif_link {
    /** Open while there is a peer. */
    struct rm_gate gate;
    /** [receive queue of the port's device]. */
    struct rm_memif_ring *receive;

    struct rm_memif_ring *send;
    /** How many of them the peer has, too; written while the gate is closed, read inside it. */
    uint16_t receive_rings;

    uint16_t send_rings;
    struct rm_memif_offer offer;
    /** Used by the link's thread alone. */
    struct rm_memif_channel channel;

    bool server;
    char path[RM_PORT_PATH_BYTES];
    /** server: the socket at which peers arrive; else -1. */
    int listener;
    /** An eventfd, readable when the thread shall end. */
    int stop;

    pthread_t thread;
};

/** Takes the socket and starts the thread: from now on the link comes and goes with the peer. Frames of more than
 * `longest` bytes are shown cut. */
enum rm_code rm_memif_link_open(struct rm_memif_link *link, struct rm_port_config const *config,
                                struct rm_memif_offer const *offer, uint32_t longest, struct rm_error *error);

/** Tells the peer and ends the thread; no burst may be lent. */
void rm_memif_link_close(struct rm_memif_link *link);

#endif
