// SPDX-License-Identifier: Apache-2.0
/** Where packets of a route go next: to a neighbour, to this host, or nowhere and why.
 *
 * One cache line, for the forwarding cores read it for every packet. Only two words of it change in its life, each at
 * once: the neighbour's MAC with the state, and the MTU. So a neighbour that is found, moves or is lost changes no table
 * of routes. The control side stores them with release, cores load them with acquire; the rest is written before a table
 * with the hop is handed to the cores.
 */
#ifndef RM_FORWARD_NEXT_HOP_H
#define RM_FORWARD_NEXT_HOP_H

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "forward/prefix.h"

enum {
    /** Most next hops: numbers 0 … this - 1. */
    RM_NEXT_HOPS_MAX = 65536,
    /** Next hops that are always there, by their number; see enum rm_hop_state. */
    RM_HOP_NO_ROUTE = 0,
    RM_HOP_LOCAL = 1,
    RM_HOP_BLACKHOLE = 2,
    RM_HOP_UNREACHABLE = 3,
    RM_HOP_PROHIBITED = 4,
    RM_HOPS_FIXED = 5,
};

/** What becomes of a packet. */
enum rm_hop_state {
    /** No route fits: the sender hears "network unreachable". */
    RM_HOP_STATE_NO_ROUTE,
    /** To this host: handed to the control side as RM_HANDOFF_LOCAL. */
    RM_HOP_STATE_LOCAL,
    /** Dropped in silence. */
    RM_HOP_STATE_BLACKHOLE,
    /** Dropped; the sender hears "host unreachable". Also of a neighbour that did not answer. */
    RM_HOP_STATE_UNREACHABLE,
    /** Dropped; the sender hears "administratively prohibited". */
    RM_HOP_STATE_PROHIBITED,
    /** The neighbour's MAC is not known: handed to the control side as RM_HANDOFF_UNRESOLVED. */
    RM_HOP_STATE_UNRESOLVED,
    /** Sent to the neighbour's MAC. */
    RM_HOP_STATE_RESOLVED,
};

struct rm_next_hop {
    /** The neighbour's MAC in the first 6 bytes in memory, enum rm_hop_state in the next. */
    alignas(64) _Atomic uint64_t destination;
    /** Bytes of the longest IP packet that the interface sends. */
    _Atomic uint32_t mtu;
    /** Number of the interface (interface.h) that packets leave by. */
    uint16_t interface;
    /** Its port, as the router numbers them. */
    uint16_t port;
    /** Its VLAN, 1–4094; 0: untagged. */
    uint16_t vlan;
    /** Its MAC. */
    uint8_t source_mac[6];
    /** The neighbour. None in a route to hosts on the link itself: they are the packets' own destinations. */
    struct rm_ip gateway;
    /** Of the control side: path groups and callers that hold it. */
    uint32_t holders;
};
_Static_assert(sizeof(struct rm_next_hop) == 64, "a next hop is one cache line");

static inline uint64_t rm_hop_word(uint8_t const mac[6], enum rm_hop_state state) {
    uint8_t byte[8] = {[6] = (uint8_t)state};
    memcpy(byte, mac, 6);
    uint64_t word;
    memcpy(&word, byte, sizeof word);
    return word;
}

static inline enum rm_hop_state rm_hop_word_state(uint64_t word) { return (enum rm_hop_state)(word >> 48 & 0xFF); }

/** The neighbour is at `mac`. Wait-free, for the control side's one thread. */
static inline void rm_hop_resolve(struct rm_next_hop *hop, uint8_t const mac[6]) {
    atomic_store_explicit(&hop->destination, rm_hop_word(mac, RM_HOP_STATE_RESOLVED), memory_order_release);
}

/** The neighbour is sought (RM_HOP_STATE_UNRESOLVED), or not there (RM_HOP_STATE_UNREACHABLE). */
static inline void rm_hop_forget(struct rm_next_hop *hop, enum rm_hop_state state) {
    atomic_store_explicit(&hop->destination, rm_hop_word((uint8_t[6]){0}, state), memory_order_release);
}

#endif
