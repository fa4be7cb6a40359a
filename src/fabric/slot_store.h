// SPDX-License-Identifier: Apache-2.0
/** Ways to put a record into a slot. For the writer of its stream. */
#ifndef RM_FABRIC_SLOT_STORE_H
#define RM_FABRIC_SLOT_STORE_H

#include <emmintrin.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <ringmaster/record.h>

/** Stores words 1–7, then the turn with release: a reader that acquires the turn sees the rest (stream.h, promise 4).
 */
static inline void rm_slot_store(struct rm_slot *slot, struct rm_record const *record) {
    uint64_t word[8];
    memcpy(word, record, sizeof word);
    for (int i = 1; i < 8; ++i)
        atomic_store_explicit(&slot->word[i], word[i], memory_order_relaxed);
    atomic_store_explicit(&slot->word[0], word[0], memory_order_release);
}

/** False under the thread sanitizer, which knows no streaming stores. */
static inline bool rm_slot_may_stream(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return false;
#endif
#endif
    return true;
}

/** Stores a record that is the newest: no reader takes it before the head that covers it is published, so its words
 * need no order among themselves. It stores sixteen bytes at a time, for which C11 has no name. */
static inline void rm_slot_store_newest(struct rm_slot *slot, struct rm_record const *record) {
    if (!rm_slot_may_stream()) {
        rm_slot_store(slot, record);
        return;
    }
    __m128i const *from = (__m128i const *)record;
    __m128i *to = (__m128i *)slot;
    for (int i = 0; i < 4; ++i)
        _mm_store_si128(&to[i], _mm_load_si128(&from[i]));
}

/** The same, past the caches: the slot was last touched a lap ago, and to read the line in only to overwrite it costs
 * more than all the rest of a put. That saves 14 ns a packet with 9 instruments, and 65 with 96 (bench/costs/receive.c,
 * rings of 64 MiB). Such stores keep no order with others: rm_slot_stream_fence must stand between them and any store
 * that tells readers of them. */
static inline void rm_slot_stream(struct rm_slot *slot, struct rm_record const *record) {
    __m128i const *from = (__m128i const *)record;
    __m128i *to = (__m128i *)slot;
    for (int i = 0; i < 4; ++i)
        _mm_stream_si128(&to[i], _mm_load_si128(&from[i]));
}

static inline void rm_slot_stream_fence(void) { _mm_sfence(); }

#endif
