// SPDX-License-Identifier: Apache-2.0
/** A native datagram is two registers. */
#include "engine/fast_path_frame.h"

#include <immintrin.h>

#define RM_FAST_PATH_TARGET __attribute__((target("avx2")))

#include "engine/fast_path_alike.h"
#include "engine/fast_path_words.h"

/** All ones in the first `count` of eight words; none or all where `count` is beyond. */
RM_FAST_PATH_TARGET static inline __m256i first_words(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

RM_FAST_PATH_TARGET static inline void fast_path_put(struct rm_record *record, struct rm_slot *slot,
                                                     uint8_t const *frame, struct rm_fast_path const *fast_path,
                                                     struct record_head head) {
    int const *const payload = (int const *)(void const *)(frame + RM_FAST_PATH_PAYLOAD);
    int const words = 4 + (int)fast_path->lane_count;
    __m256i const both = _mm256_setr_epi64x((int64_t)head.turn, (int64_t)head.tag, 0, 0);
    __m256i const low = _mm256_blend_epi32(_mm256_maskload_epi32(payload, first_words(words)), both, 0x0F);
    __m256i const high = _mm256_maskload_epi32(payload + 8, first_words(words - 8));
    __m256i *const to = (__m256i *)(void *)record;
    _mm256_store_si256(&to[0], low);
    _mm256_store_si256(&to[1], high);
    if (slot == NULL)
        return;
    __m256i *const stream = (__m256i *)(void *)slot;
    _mm256_stream_si256(&stream[0], low);
    _mm256_stream_si256(&stream[1], high);
}

struct described {
    uint64_t counter;
    uint16_t status;
};

RM_FAST_PATH_TARGET static inline struct described read_described(struct rm_layout const *layout,
                                                                  uint8_t const *payload) {
    struct described described;
    read_by_words(layout, payload, &described.counter, &described.status);
    return described;
}

RM_FAST_PATH_TARGET static inline void put_described(struct rm_record *record, struct rm_slot *slot,
                                                     uint8_t const *payload, struct rm_layout const *layout,
                                                     struct described const *described, struct record_head head) {
    (void)described;
    put_by_words(record, slot, payload, layout, head);
}

#include "engine/fast_path_kernel.h"

RM_FAST_PATH_TARGET void rm_fast_path_burst_avx2(struct rm_receive *receive, struct rm_receive_queue *queue,
                                                 uint64_t tsc, struct rm_burst_sum *sum) {
    take_burst(receive, queue, tsc, sum);
}
