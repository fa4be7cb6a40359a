// SPDX-License-Identifier: Apache-2.0
/** The checksum of a decision record (ringmaster/decision.h): over words of 64 bits, four of them at a time.
 *
 *     struct rm_checksum sum = rm_checksum_begin();
 *     rm_checksum_add(&sum, setpoints, count);
 *     uint32_t const checksum = rm_checksum_end(&sum);
 *
 * Each word is mixed into one of four accumulators by exclusive or, a rotation and a product with an odd number. All
 * three can be undone, so one word that differs makes an accumulator that differs; the rotation brings the highest
 * bits, signs among them, under the product. It guards against errors, not against forgery.
 */
#ifndef RM_HOST_HOST_CHECKSUM_H
#define RM_HOST_HOST_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RM_CHECKSUM_LANES = 4 };

struct rm_checksum {
    uint64_t lane[RM_CHECKSUM_LANES];
};

static inline struct rm_checksum rm_checksum_begin(void) {
    return (struct rm_checksum){
        {0x9E3779B97F4A7C15ull, 0xC2B2AE3D27D4EB4Full, 0x165667B19E3779F9ull, 0x85EBCA77C2B2AE63ull}};
}

static inline uint64_t rm_checksum_mix(uint64_t sum, uint64_t word) {
    uint64_t const mixed = sum ^ word;
    return (mixed << 29 | mixed >> 35) * 0x9E3779B185EBCA87ull;
}

static inline uint64_t rm_checksum_word(void const *data, size_t index) {
    uint64_t word;
    memcpy(&word, (uint8_t const *)data + index * sizeof word, sizeof word);
    return word;
}

/** Adds `words` words of 64 bits. */
static inline void rm_checksum_add(struct rm_checksum *sum, void const *data, size_t words) {
    uint64_t a = sum->lane[0], b = sum->lane[1], c = sum->lane[2], d = sum->lane[3];
    size_t i = 0;
    for (; i + RM_CHECKSUM_LANES <= words; i += RM_CHECKSUM_LANES) {
        a = rm_checksum_mix(a, rm_checksum_word(data, i));
        b = rm_checksum_mix(b, rm_checksum_word(data, i + 1));
        c = rm_checksum_mix(c, rm_checksum_word(data, i + 2));
        d = rm_checksum_mix(d, rm_checksum_word(data, i + 3));
    }
    for (; i < words; ++i)
        a = rm_checksum_mix(a, rm_checksum_word(data, i));
    *sum = (struct rm_checksum){{a, b, c, d}};
}

static inline uint32_t rm_checksum_end(struct rm_checksum const *sum) {
    uint64_t all = sum->lane[0];
    for (unsigned i = 1; i < RM_CHECKSUM_LANES; ++i)
        all = rm_checksum_mix(all, sum->lane[i]);
    return (uint32_t)(all ^ all >> 32);
}

#endif
