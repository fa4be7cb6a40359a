// SPDX-License-Identifier: Apache-2.0
/** A described datagram of the fast path, field by field. */
#ifndef RM_ENGINE_FAST_PATH_WORDS_H
#define RM_ENGINE_FAST_PATH_WORDS_H

#include "engine/fast_path_frame.h"
#include "fabric/slot_store.h"
#include "wire/layout_words.h"

RM_FAST_PATH_TARGET static inline void read_by_words(struct rm_layout const *layout, uint8_t const *payload,
                                                     uint64_t *counter, uint16_t *status) {
    *counter = rm_layout_number(layout, &layout->counter, payload);
    *status = (uint16_t)rm_layout_number(layout, &layout->status, payload);
}

RM_FAST_PATH_TARGET static inline void put_by_words(struct rm_record *record, struct rm_slot *slot,
                                                    uint8_t const *payload, struct rm_layout const *layout,
                                                    struct record_head head) {
    rm_layout_lanes(layout, payload, record);
    /* Stored as one word of 16 bytes, as the code that copies the record loads it (receive.c). */
    _mm_store_si128((__m128i *)(void *)record, _mm_set_epi64x((int64_t)head.tag, (int64_t)head.turn));
    if (slot != NULL)
        rm_slot_stream(slot, record);
}

#endif
