// SPDX-License-Identifier: Apache-2.0
/** What goes wrong, on purpose, with the fragments of a datagram that is longer than its network's MTU. wire/fragment.h
 * cuts them. */
#ifndef RM_INSTRUMENTS_FRAGMENTS_H
#define RM_INSTRUMENTS_FRAGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/counter.h>

#include "fault.h"

enum {
    /** Bytes of an IPv4 packet, that every network carries. */
    RM_MTU_LEAST = 576,
    /** Of jumbo frames. */
    RM_MTU_MOST = 9000,
    /** Of the longest payload at the least MTU, 17, and what faults add. */
    RM_FRAGMENTS_MAX = 24,
};

/** What is wrong with a datagram's fragments; bits. */
enum rm_fragment_fault {
    RM_FRAGMENT_FAULT_REVERSED = 1,
    RM_FRAGMENT_FAULT_SHUFFLED = 2,
    RM_FRAGMENT_FAULT_DROP = 4,
    /** Before the last, so that the datagram is not whole yet. */
    RM_FRAGMENT_FAULT_DUPLICATE = 8,
    /** Likewise. */
    RM_FRAGMENT_FAULT_OVERLAP = 16,
};

/** A fragment on its way. */
struct rm_fragment {
    /** For rm_fragment_write. */
    uint32_t index;
    /** To be told by rm_fragment_overlap that it begins earlier. */
    bool overlaps;
};

/** The bit of a fault of fragments. */
unsigned rm_fragment_fault_of(struct rm_fault const *fault);

/** Counts the faults of a datagram that was fragmented. */
void rm_fragment_faults_count(unsigned faults, rm_counter *counters);

/** The fragments of a datagram of `count` in the order in which they leave; `random` picks among them. Returns how many
 * those are, RM_FRAGMENTS_MAX at most. */
uint32_t rm_fragments_plan(uint32_t count, unsigned faults, uint64_t random, struct rm_fragment plan[RM_FRAGMENTS_MAX]);

/** Has the fragment with this IPv4 header, not the first, begin 8 bytes earlier than it does. */
void rm_fragment_overlap(uint8_t *ipv4);

#endif
