// SPDX-License-Identifier: Apache-2.0
/** A datagram is one register: its header is replaced by turn and tag, and it is stored as it stands, or permuted as
 * its layout says. */
#include "engine/fast_path_frame.h"

#include <immintrin.h>

#define RM_FAST_PATH_TARGET __attribute__((target("avx512f,avx512bw,avx512vbmi,avx2")))

#include "engine/fast_path_alike.h"
#include "engine/fast_path_words.h"
#include "wire/layout_register.h"

/** `words` with turn and tag in its first four. */
RM_FAST_PATH_TARGET static inline void put_register(struct rm_record *record, struct rm_slot *slot, __m512i words,
                                                    struct record_head head) {
    __m128i const both = _mm_set_epi64x((int64_t)head.tag, (int64_t)head.turn);
    __m512i const whole = _mm512_inserti32x4(words, both, 0);
    _mm512_store_si512(record, whole);
    if (slot != NULL)
        _mm512_stream_si512((__m512i *)(void *)slot, whole);
}

RM_FAST_PATH_TARGET static inline void fast_path_put(struct rm_record *record, struct rm_slot *slot,
                                                     uint8_t const *frame, struct rm_fast_path const *fast_path,
                                                     struct record_head head) {
    __mmask16 const words = (__mmask16)((1u << (4 + fast_path->lane_count)) - 1);
    put_register(record, slot, _mm512_maskz_loadu_epi32(words, frame + RM_FAST_PATH_PAYLOAD), head);
}

struct described {
    __m512i words; /**< of the record, where all of it comes at once */
    uint64_t counter;
    uint16_t status;
};

RM_FAST_PATH_TARGET static inline struct described read_described(struct rm_layout const *layout,
                                                                  uint8_t const *payload) {
    if (__builtin_expect(!layout->numbers_by_vector, 0)) {
        struct described described = {.words = _mm512_setzero_si512()};
        read_by_words(layout, payload, &described.counter, &described.status);
        return described;
    }
    __m512i const words = rm_layout_register(layout, payload);
    __m128i const sample = _mm512_castsi512_si128(words);
    return (struct described){
        .words = words,
        .counter = (uint64_t)_mm_cvtsi128_si64(sample),
        .status = (uint16_t)_mm_extract_epi16(sample, offsetof(struct rm_sample, status) / 2),
    };
}

RM_FAST_PATH_TARGET static inline void put_described(struct rm_record *record, struct rm_slot *slot,
                                                     uint8_t const *payload, struct rm_layout const *layout,
                                                     struct described const *described, struct record_head head) {
    if (__builtin_expect(layout->numbers_by_vector, 1))
        put_register(record, slot, described->words, head);
    else
        put_by_words(record, slot, payload, layout, head);
}

#include "engine/fast_path_kernel.h"

RM_FAST_PATH_TARGET void rm_fast_path_burst_avx512(struct rm_receive *receive, struct rm_receive_queue *queue,
                                                   uint64_t tsc, struct rm_burst_sum *sum) {
    take_burst(receive, queue, tsc, sum);
}
