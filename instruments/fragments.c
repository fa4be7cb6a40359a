// SPDX-License-Identifier: Apache-2.0
#include "fragments.h"

#include <stddef.h>
#include <string.h>

#include "noise.h"

enum { IPV4_OFFSET_LOW = 7, IPV4_CHECKSUM = 10 };

unsigned rm_fragment_fault_of(struct rm_fault const *fault) {
    switch (fault->kind) {
    case RM_FAULT_FRAGMENT_ORDER:
        return fault->order == RM_FRAGMENTS_REVERSED ? RM_FRAGMENT_FAULT_REVERSED : RM_FRAGMENT_FAULT_SHUFFLED;
    case RM_FAULT_FRAGMENT_DROP:
        return RM_FRAGMENT_FAULT_DROP;
    case RM_FAULT_FRAGMENT_DUPLICATE:
        return RM_FRAGMENT_FAULT_DUPLICATE;
    case RM_FAULT_FRAGMENT_OVERLAP:
        return RM_FRAGMENT_FAULT_OVERLAP;
    default:
        return 0;
    }
}

/** A datagram with a fragment too few is too short, one with a hostile fragment is damaged. */
void rm_fragment_faults_count(unsigned faults, rm_counter *counters) {
    static struct {
        unsigned bits;
        enum rm_sender_counter counter;
    } const counted[] = {
        {RM_FRAGMENT_FAULT_REVERSED | RM_FRAGMENT_FAULT_SHUFFLED, RM_SENDER_FRAGMENTS_REORDERED},
        {RM_FRAGMENT_FAULT_DROP, RM_SENDER_FRAGMENTS_DROPPED},
        {RM_FRAGMENT_FAULT_DUPLICATE, RM_SENDER_FRAGMENTS_DUPLICATED},
        {RM_FRAGMENT_FAULT_OVERLAP, RM_SENDER_FRAGMENTS_OVERLAPPED},
    };
    for (size_t c = 0; c < sizeof counted / sizeof counted[0]; ++c)
        if (faults & counted[c].bits)
            rm_counter_add(counters, counted[c].counter, 1);
}

static void swap_fragments(struct rm_fragment *a, struct rm_fragment *b) {
    struct rm_fragment const kept = *a;
    *a = *b;
    *b = kept;
}

static void reverse_fragments(struct rm_fragment *plan, uint32_t count) {
    for (uint32_t i = 0; i < count / 2; ++i)
        swap_fragments(&plan[i], &plan[count - 1 - i]);
}

static void shuffle_fragments(struct rm_fragment *plan, uint32_t count, uint64_t random) {
    for (uint32_t i = count - 1; i > 0; --i)
        swap_fragments(&plan[i], &plan[rm_noise_u64(random + i) % (i + 1)]);
}

static void insert_fragment(struct rm_fragment *plan, uint32_t *count, uint32_t place, struct rm_fragment fragment) {
    memmove(&plan[place + 1], &plan[place], (*count - place) * sizeof plan[0]);
    plan[place] = fragment;
    ++*count;
}

static void drop_fragment(struct rm_fragment *plan, uint32_t *count, uint64_t random) {
    uint32_t const place = (uint32_t)(random % *count);
    --*count;
    memmove(&plan[place], &plan[place + 1], (*count - place) * sizeof plan[0]);
}

uint32_t rm_fragments_plan(uint32_t count, unsigned faults, uint64_t random,
                           struct rm_fragment plan[RM_FRAGMENTS_MAX]) {
    for (uint32_t i = 0; i < count; ++i)
        plan[i] = (struct rm_fragment){.index = i};
    if (count < 2)
        return count;
    if (faults & RM_FRAGMENT_FAULT_REVERSED)
        reverse_fragments(plan, count);
    if (faults & RM_FRAGMENT_FAULT_SHUFFLED)
        shuffle_fragments(plan, count, random);
    if (faults & RM_FRAGMENT_FAULT_DROP)
        drop_fragment(plan, &count, random >> 8);
    if (faults & RM_FRAGMENT_FAULT_DUPLICATE) {
        uint32_t const place = count < 2 ? 0 : (uint32_t)((random >> 16) % (count - 1)); /* one may be gone */
        insert_fragment(plan, &count, place + 1, plan[place]);
    }
    if (faults & RM_FRAGMENT_FAULT_OVERLAP)
        insert_fragment(plan, &count, 1, (struct rm_fragment){.index = 1, .overlaps = true});
    return count;
}

void rm_fragment_overlap(uint8_t *ipv4) {
    /* Offsets count units of 8 bytes. The checksum is the complement of the header's sum, so it gains what that loses.
     */
    if (ipv4[IPV4_OFFSET_LOW]-- == 0)
        --ipv4[IPV4_OFFSET_LOW - 1];
    uint32_t sum = (uint32_t)(ipv4[IPV4_CHECKSUM] << 8 | ipv4[IPV4_CHECKSUM + 1]) + 1;
    sum = (sum & 0xFFFF) + (sum >> 16);
    ipv4[IPV4_CHECKSUM] = (uint8_t)(sum >> 8);
    ipv4[IPV4_CHECKSUM + 1] = (uint8_t)sum;
}
