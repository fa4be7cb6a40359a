// SPDX-License-Identifier: Apache-2.0
/** A datagram is one register: its header is replaced by turn and tag, and it is stored as it stands. */
#include "engine/express_frame.h"

#include <immintrin.h>

#define RM_EXPRESS_TARGET __attribute__((target("avx512f,avx2")))

#include "engine/express_alike.h"

RM_EXPRESS_TARGET static inline void put(struct rm_record *record, struct rm_slot *slot, uint8_t const *frame,
                                         struct rm_express const *express, struct head head) {
    __mmask16 const words = (__mmask16)((1u << (4 + express->lane_count)) - 1);
    __m512i const payload = _mm512_maskz_loadu_epi32(words, frame + RM_EXPRESS_PAYLOAD);
    __m128i const both = _mm_set_epi64x((int64_t)head.tag, (int64_t)head.turn);
    __m512i const whole = _mm512_inserti32x4(payload, both, 0);
    _mm512_store_si512(record, whole);
    if (slot != NULL)
        _mm512_stream_si512((__m512i *)(void *)slot, whole);
}

#include "engine/express_lane.h"

RM_EXPRESS_TARGET void rm_express_burst_avx512(struct rm_receive *receive, struct rm_receive_queue *queue, uint64_t tsc,
                                               struct rm_burst_sum *sum) {
    take_burst(receive, queue, tsc, sum);
}
