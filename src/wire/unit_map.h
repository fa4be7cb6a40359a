// SPDX-License-Identifier: Apache-2.0
/** Which 8-byte units of a datagram are there: one bit each. For reassembly.c. */
#ifndef RM_WIRE_UNIT_MAP_H
#define RM_WIRE_UNIT_MAP_H

#include <stdint.h>

enum { RM_UNIT_BYTES = 8 };

static inline uint32_t rm_units(uint32_t bytes) { return (bytes + RM_UNIT_BYTES - 1) / RM_UNIT_BYTES; }

static inline uint32_t rm_unit_map_words(uint32_t units) { return (units + 63) / 64; }

/** Bits of word `word` that lie in [first, end), which touches it. */
static inline uint64_t rm_unit_map_mask(uint32_t word, uint32_t first, uint32_t end) {
    uint64_t mask = UINT64_MAX;
    if (first > word * 64)
        mask <<= first % 64;
    if (end < word * 64 + 64)
        mask &= ~(UINT64_MAX << end % 64);
    return mask;
}

/** How many of the units [first, end) are there. */
static inline uint32_t rm_unit_map_count(uint64_t const *map, uint32_t first, uint32_t end) {
    uint32_t count = 0;
    for (uint32_t word = first / 64; word * 64 < end; ++word)
        count += (uint32_t)__builtin_popcountll(map[word] & rm_unit_map_mask(word, first, end));
    return count;
}

static inline void rm_unit_map_set(uint64_t *map, uint32_t first, uint32_t end) {
    for (uint32_t word = first / 64; word * 64 < end; ++word)
        map[word] |= rm_unit_map_mask(word, first, end);
}

#endif
