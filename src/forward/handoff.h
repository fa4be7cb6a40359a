// SPDX-License-Identifier: Apache-2.0
/** Packets that a forwarding core does not forward itself, on their way to the control side: a bounded ring of copies,
 * with one writer and one reader. Where it is full the packet is dropped and counted (`handoff_full`), so a flood costs
 * a forwarding core a copy at most, and the control side what it chooses to take.
 *
 * The writer fills a slot and stores `head` with release; the reader loads it with acquire, and stores `tail` with
 * release when it is done with a slot, which the writer loads with acquire before it fills that slot again.
 */
#ifndef RM_FORWARD_HANDOFF_H
#define RM_FORWARD_HANDOFF_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "forward/interface.h"

/** Why it is handed over. */
enum rm_handoff_reason {
    /** ARP, neighbour discovery, LLDP and all that is neither IPv4 nor IPv6. */
    RM_HANDOFF_CONTROL,
    /** To one of our addresses, or to a group or broadcast of the link. */
    RM_HANDOFF_LOCAL,
    /** To a next hop whose MAC is not known. The frame is as it came, TTL too: once the neighbour is known, it goes
     * through rm_forward_burst again, as from the port where it came in. */
    RM_HANDOFF_UNRESOLVED,
};

struct rm_handoff_packet {
    uint8_t reason;
    /** As the router numbers ports: where it came in. */
    uint16_t port;
    /** The interface that it came in by; RM_INTERFACE_NONE where none has its VLAN. */
    uint16_t interface;
    /** Bytes of the frame, with its tags. */
    uint32_t length;
    /** Of unresolved ones: number of the next hop. */
    uint32_t hop;
    uint8_t const *frame;
};

struct rm_handoff {
    alignas(64) _Atomic uint32_t head;
    alignas(64) _Atomic uint32_t tail;
    alignas(64) uint32_t slots;
    uint32_t slot_bytes;
    uint8_t *memory;
};

/** Makes a ring of `slots`, a power of two, for frames of up to `longest_frame` bytes. False: no memory. */
bool rm_handoff_make(struct rm_handoff *handoff, uint32_t slots, uint32_t longest_frame);
void rm_handoff_free(struct rm_handoff *handoff);

/** Copies a packet in; false where the ring is full. Wait-free. */
bool rm_handoff_put(struct rm_handoff *handoff, struct rm_handoff_packet const *packet);

/** Shows the oldest packet, which stays until rm_handoff_done; false where there is none. Wait-free. */
bool rm_handoff_see(struct rm_handoff *handoff, struct rm_handoff_packet *packet);
void rm_handoff_done(struct rm_handoff *handoff);

#endif
