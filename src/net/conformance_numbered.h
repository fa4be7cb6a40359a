// SPDX-License-Identifier: Apache-2.0
/** Numbered datagrams: every byte follows from the number, so that the far end can check all of them. */
#ifndef RM_NET_CONFORMANCE_NUMBERED_H
#define RM_NET_CONFORMANCE_NUMBERED_H

#include "conformance_ends.h"

/** Lengths of the datagrams of a run: all `fixed` bytes, or all different ones when it is 0. */
struct numbered {
    uint64_t next;
    uint32_t fixed;
};

/** Sends `count` datagrams on a queue, however long the far end takes. Never more than 1000 ahead of what the receiver
 * has checked: kernel links drop what nobody takes. */
void numbered_send(struct ends *ends, struct rm_port *port, uint16_t queue, struct numbered *numbered, uint64_t count);

/** Receives `count` datagrams on a queue and expects them whole, in order and from the right sender. */
void numbered_receive(struct ends *ends, struct rm_port *port, uint16_t queue, struct numbered *numbered,
                      uint64_t count);

/** Fills the reserved entries of a burst with the next datagrams. */
void numbered_fill(struct rm_port *port, struct numbered *numbered, struct rm_burst *burst);

/** Expects the received entries of a burst to be the next datagrams. */
void numbered_check(struct rm_port *port, struct numbered *numbered, struct rm_burst const *burst);

#endif
