// SPDX-License-Identifier: Apache-2.0
/** Numbered datagrams: every byte follows from the number, so that the far end can check all of them. */
#ifndef RM_NET_CONFORMANCE_NUMBERED_H
#define RM_NET_CONFORMANCE_NUMBERED_H

#include "conformance_endpoints.h"

/** The UDP port of datagrams that an XDP program claims. */
enum { CLAIMED_PORT = 4660 };

/** State of a run of datagrams. */
struct numbered {
    uint64_t next;
    /** Bytes of each; 0: all lengths differ. */
    uint32_t fixed;
    /** The longest, where lengths differ; 0: what every link carries. */
    uint32_t longest;
    /** The next one may have any number: its sender was there before this receiver. */
    bool any;
    /** The link has other traffic too, and drops when it is full: those that come are in order. */
    bool lossy;
    /** They are sent by rm_port_send_from. */
    bool from_elsewhere;
};

/** Sends `count` datagrams on a queue, however long the far end takes. A kernel's link drops what is not taken: over
 * such a link it is never more than 1000 ahead of what the receiver has checked. */
void numbered_send(struct endpoints *endpoints, struct rm_port *port, uint16_t queue, struct numbered *numbered,
                   uint64_t count);

/** Receives bursts from a queue until `count` datagrams or more have come, and expects them whole, in order and from
 * the right sender. */
void numbered_receive(struct endpoints *endpoints, struct rm_port *port, uint16_t queue, struct numbered *numbered,
                      uint64_t count);

/** Fills the reserved entries of a burst with the next datagrams. */
void numbered_fill(struct endpoints const *endpoints, struct rm_port *port, struct numbered *numbered,
                   struct rm_burst *burst);

/** Checks that the received entries of a burst are the next datagrams. Number 0 is always allowed: its sender was
 * started again. */
void numbered_check(struct endpoints const *endpoints, struct rm_port *port, struct numbered *numbered,
                    struct rm_burst const *burst);

#endif
