// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>
#include <stddef.h>

#include "product_pass.h"

#define AVX2 __attribute__((target("avx2,popcnt")))

enum { BLOCK = FEEDBACK_OUTPUT_BLOCK, HALF = BLOCK / 2, WEIGHTS = 8, LANES = 4, NEXT_PLACE = 32, LOW_HALVES = 0x55 };

AVX2 static inline void add_four(int64_t *sum, __m256i product) {
    _mm256_store_si256((__m256i *)sum, _mm256_add_epi64(_mm256_load_si256((__m256i const *)sum), product));
}

AVX2 void feedback_add_avx2(int64_t *sum, int32_t const *weight, uint32_t count, int32_t error) {
    __m256i const times = _mm256_set1_epi64x(error);
    for (uint32_t first = 0; first < count; first += BLOCK)
        for (uint32_t half = 0; half < 2; ++half) {
            __m256i const weights = _mm256_load_si256((__m256i const *)(weight + first + half * WEIGHTS));
            int64_t *const place = sum + first + half * LANES;
            add_four(place, _mm256_mul_epi32(weights, times));
            add_four(place + HALF, _mm256_mul_epi32(_mm256_srli_epi64(weights, NEXT_PLACE), times));
        }
}

/** AVX2 has no conversion of 64-bit integers. The high and the low 32 bits are put into the mantissas of 2^84 and of
 * 2^52, from which both constants are taken off exactly: one rounding, as a conversion has. */
AVX2 static inline __m256d to_double(__m256i sum) {
    __m256i const high = _mm256_xor_si256(_mm256_srli_epi64(sum, NEXT_PLACE), _mm256_set1_epi64x(0x4530000080000000));
    __m256i const low = _mm256_blend_epi32(_mm256_set1_epi64x(0x4330000000000000), sum, LOW_HALVES);
    double const all = 0x1p84 + 0x1p63 + 0x1p52;
    return _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(all)), _mm256_castsi256_pd(low));
}

AVX2 static inline uint32_t end_four(struct feedback_ending const *ending, uint32_t i, __m256i sum) {
    __m256d const product = _mm256_mul_pd(_mm256_mul_pd(to_double(sum), _mm256_loadu_pd(ending->quantum + i)),
                                          _mm256_set1_pd(ending->scale));
    __m256d const value = _mm256_add_pd(product, _mm256_loadu_pd(ending->ahead + i));
    // The second operand is the result where one is no number.
    __m256d const above = _mm256_max_pd(_mm256_loadu_pd(ending->low + i), value);
    __m256d const setpoint = _mm256_min_pd(_mm256_loadu_pd(ending->high + i), above);
    _mm256_storeu_pd(ending->setpoint + i, setpoint);
    if (ending->cut != NULL)
        _mm256_storeu_pd(ending->cut + i, _mm256_sub_pd(value, setpoint));
    __m256d const differs = _mm256_cmp_pd(value, setpoint, _CMP_NEQ_OQ);
    return (uint32_t)__builtin_popcount((unsigned)_mm256_movemask_pd(differs));
}

AVX2 uint32_t feedback_end_avx2(struct feedback_ending const *ending) {
    enum { LOW_LANES = 0x20, HIGH_LANES = 0x31 };
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < ending->outputs; i += HALF) {
        int64_t const *const place = ending->sum + i / BLOCK * BLOCK + i % BLOCK / 2;
        __m256i const even = _mm256_load_si256((__m256i const *)place);
        __m256i const odd = _mm256_load_si256((__m256i const *)(place + HALF));
        __m256i const low = _mm256_unpacklo_epi64(even, odd), high = _mm256_unpackhi_epi64(even, odd);
        cuts += end_four(ending, i, _mm256_permute2x128_si256(low, high, LOW_LANES));
        cuts += end_four(ending, i + LANES, _mm256_permute2x128_si256(low, high, HIGH_LANES));
    }
    return cuts;
}
