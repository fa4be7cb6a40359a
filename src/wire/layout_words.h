// SPDX-License-Identifier: Apache-2.0
/** Fields of a described datagram by words, one by one and inline: for layout_read.c, and for the fast path, which
 * knows beforehand most of what it would ask (engine/fast_path.h). `payload` has passed rm_layout_check, or has the
 * length that it asks for. Where a payload holds one record, all of its fields can be had so. */
#ifndef RM_WIRE_LAYOUT_WORDS_H
#define RM_WIRE_LAYOUT_WORDS_H

#include <string.h>

#include "wire/layout_parts.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are loaded as little-endian ones");

static inline uint64_t rm_layout_load(uint8_t const *from) {
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline bool rm_layout_constants_hold(struct rm_layout const *layout, uint8_t const *payload) {
    uint32_t i = 0;
    do {
        struct rm_layout_word const *const word = &layout->word[i];
        if ((rm_layout_load(payload + word->at) & word->mask) != word->value)
            return false;
    } while (++i < layout->word_count);
    return true;
}

/** Id, counter or status of the first record; of another where `payload` has been moved as the field moves. */
static inline uint64_t rm_layout_number(struct rm_layout const *layout, struct rm_number_field const *number,
                                        uint8_t const *payload) {
    uint64_t const word = rm_layout_load(payload + number->at);
    return (layout->swap ? __builtin_bswap64(word) : word) >> number->right & number->mask;
}

/** The lanes of the first record, or of another in the same way; turn and tag become zero. */
static inline void rm_layout_lanes(struct rm_layout const *layout, uint8_t const *payload, struct rm_record *record) {
    *record = (struct rm_record){0};
    for (uint32_t i = 0; i < layout->described.lane_count; ++i) {
        struct rm_layout_lane_load const *const lane = &layout->lane[i];
        uint64_t const loaded = rm_layout_load(payload + lane->at);
        uint64_t const word = layout->swap ? __builtin_bswap64(loaded) : loaded;
        uint32_t const value = (uint32_t)((int64_t)(word << lane->left) >> lane->right) & lane->mask;
        record->lane[i].i = (int32_t)(value < lane->limit ? value : lane->limit);
    }
}

#endif
