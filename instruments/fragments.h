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
    /** Bytes of an IPv4 packet that every network carries. */
    RM_MTU_LEAST = 576,
    /** Bytes of an IPv4 packet in the largest jumbo frame. */
    RM_MTU_MOST = 9000,
    /** The longest payload has 17 fragments at the least MTU; faults add some. */
    RM_FRAGMENTS_MAX = 24,
};

/** What is wrong with a datagram's fragments; bits. */
enum rm_fragment_fault {
    RM_FRAGMENT_FAULT_REVERSED = 1,
    RM_FRAGMENT_FAULT_SHUFFLED = 2,
    RM_FRAGMENT_FAULT_DROP = 4,
    /** One leaves twice, before the last one, so that the datagram is not complete yet. */
    RM_FRAGMENT_FAULT_DUPLICATE = 8,
    /** One overlaps, also before the last one. */
    RM_FRAGMENT_FAULT_OVERLAP = 16,
};

/** A fragment on its way. */
struct rm_fragment {
    /** Index for rm_fragment_write. */
    uint32_t index;
    /** rm_fragment_overlap must make it begin earlier. */
    bool overlaps;
};

/** The bit of a fault of fragments. */
unsigned rm_fragment_fault_of(struct rm_fault const *fault);

/** Counts the faults of a datagram that was fragmented. */
void rm_fragment_faults_count(unsigned faults, rm_counter *counters);

/** Plans the fragments of a datagram of `count`, in the order in which they leave. `random` picks among them. Returns
 * how many there are, RM_FRAGMENTS_MAX at most. */
uint32_t rm_fragments_plan(uint32_t count, unsigned faults, uint64_t random, struct rm_fragment plan[RM_FRAGMENTS_MAX]);

/** Makes the fragment with this IPv4 header, which is not the first, begin 8 bytes earlier. */
void rm_fragment_overlap(uint8_t *ipv4);

#endif
