// SPDX-License-Identifier: Apache-2.0
/** A record is one register, and so is what it is made of: one load, one permutation, one store. */
#include "wire/layout_register.h"

/* The sample stands in the register as it does in memory. */
_Static_assert(sizeof(struct rm_sample) == 16 && offsetof(struct rm_sample, counter) == 0, "words 0 and 1");
_Static_assert(offsetof(struct rm_sample, id) == 8 && offsetof(struct rm_sample, status) == 12, "words 2 and 3");

__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void
rm_layout_read_by_vector(struct rm_layout const *layout, uint8_t const *payload, uint32_t index,
                         struct rm_sample *sample, struct rm_record *record) {
    struct rm_layout_move const move = rm_layout_move_to(layout, index);
    __m512i const words = rm_layout_register(layout, payload + move.block_bytes + move.turn_bytes);
    _mm512_store_si512(record, words);
    _mm_storeu_si128((__m128i *)sample, _mm512_castsi512_si128(words));
    if (layout->numbers != RM_BY_VECTOR)
        rm_layout_read_numbers(layout, payload, move, sample);
}
