// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>
#include <stddef.h>

#include "product_pass.h"

#define AVX512 __attribute__((target("avx512f,avx512dq,popcnt")))

enum { BLOCK = FEEDBACK_OUTPUT_BLOCK, HALF = BLOCK / 2, NEXT_PLACE = 32 };

AVX512 void feedback_add_avx512(int64_t *sum, int32_t const *weight, uint32_t count, int32_t error) {
    __m512i const times = _mm512_set1_epi64(error);
    for (uint32_t first = 0; first < count; first += BLOCK) {
        __m512i const weights = _mm512_load_si512(weight + first);
        __m512i const even = _mm512_mul_epi32(weights, times);
        __m512i const odd = _mm512_mul_epi32(_mm512_srli_epi64(weights, NEXT_PLACE), times);
        __m512i *const place = (__m512i *)(sum + first);
        _mm512_store_si512(place, _mm512_add_epi64(_mm512_load_si512(place), even));
        _mm512_store_si512(place + 1, _mm512_add_epi64(_mm512_load_si512(place + 1), odd));
    }
}

/** Eight outputs from `i` on. Returns how many were cut. */
AVX512 static inline uint32_t end_eight(struct feedback_ending const *ending, uint32_t i, __m512i sum) {
    __m512d const product = _mm512_mul_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(sum), _mm512_loadu_pd(ending->quantum + i)),
                                          _mm512_set1_pd(ending->scale));
    __m512d const value = _mm512_add_pd(product, _mm512_loadu_pd(ending->ahead + i));
    // The second operand is the result where one is no number.
    __m512d const above = _mm512_max_pd(_mm512_loadu_pd(ending->low + i), value);
    __m512d const setpoint = _mm512_min_pd(_mm512_loadu_pd(ending->high + i), above);
    _mm512_storeu_pd(ending->setpoint + i, setpoint);
    if (ending->cut != NULL)
        _mm512_storeu_pd(ending->cut + i, _mm512_sub_pd(value, setpoint));
    return (uint32_t)__builtin_popcount(_mm512_cmp_pd_mask(value, setpoint, _CMP_NEQ_OQ));
}

AVX512 uint32_t feedback_end_avx512(struct feedback_ending const *ending) {
    __m512i const first_half = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    __m512i const second_half = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < ending->outputs; i += BLOCK) {
        __m512i const even = _mm512_load_si512(ending->sum + i), odd = _mm512_load_si512(ending->sum + i + HALF);
        cuts += end_eight(ending, i, _mm512_permutex2var_epi64(even, first_half, odd));
        cuts += end_eight(ending, i + HALF, _mm512_permutex2var_epi64(even, second_half, odd));
    }
    return cuts;
}
