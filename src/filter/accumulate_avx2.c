// SPDX-License-Identifier: Apache-2.0
/** A record is two registers, of which the first half of the first stays zero. Four outputs at a time are eight
 * independent chains of multiply-adds in eight of the sixteen registers. */
#include <immintrin.h>

#include "filter/accumulate.h"

#define RM_AVX2 __attribute__((target("avx2,fma")))
#define RM_INLINE_AVX2 static inline __attribute__((target("avx2,fma"), always_inline))

enum { OUTPUTS_AT_ONCE = 4 };

struct record_halves {
    __m256 low;  /**< words 0–7: turn, tag, lanes 0–3 */
    __m256 high; /**< words 8–15: lanes 4–11 */
};

RM_INLINE_AVX2 __m256 accumulate_avx2_convert(__m256i words, __m256i floats) {
    return _mm256_blendv_ps(_mm256_cvtepi32_ps(words), _mm256_castsi256_ps(words), _mm256_castsi256_ps(floats));
}

/** Eight masks, all ones where `bits` has bit 0, 1, …, 7. */
RM_INLINE_AVX2 __m256i masks_of_bits(uint32_t bits) {
    __m256i const bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), bit), bit);
}

RM_INLINE_AVX2 struct record_halves multiply_add(float coefficient, struct record_halves value,
                                                 struct record_halves sum) {
    __m256 const c = _mm256_set1_ps(coefficient);
    return (struct record_halves){_mm256_fmadd_ps(c, value.low, sum.low), _mm256_fmadd_ps(c, value.high, sum.high)};
}

/** Adds the group to `count` outputs from `age` on; the last of them takes nothing of phase 0 when `newest` says that
 * it begins with this group. `count` and `newest` are constants, so that the sums live in registers. */
RM_INLINE_AVX2 void accumulate_avx2_advance(struct rm_decimator *decimator, struct record_halves const *value,
                                            uint32_t age, uint32_t count, bool newest) {
    struct rm_fir_design const *const design = decimator->design;
    struct record_halves sum[OUTPUTS_AT_ONCE];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < count; ++i) {
        sum[i].low = _mm256_load_ps(decimator->sum[age + i + 1]);
        sum[i].high = _mm256_load_ps(decimator->sum[age + i + 1] + 8);
    }
#pragma GCC unroll 4
    for (uint32_t i = 0; i < count - newest; ++i)
        sum[i] = multiply_add(design->coefficient[age + i], value[0], sum[i]);
    for (uint32_t phase = 1; phase < design->decimation; ++phase) {
        float const *const coefficient = design->coefficient + phase * design->overlap + age;
#pragma GCC unroll 4
        for (uint32_t i = 0; i < count; ++i)
            sum[i] = multiply_add(coefficient[i], value[phase], sum[i]);
    }
#pragma GCC unroll 4
    for (uint32_t i = 0; i < count; ++i) {
        _mm256_store_ps(decimator->sum[age + i], sum[i].low);
        _mm256_store_ps(decimator->sum[age + i] + 8, sum[i].high);
    }
}

RM_AVX2 void rm_accumulate_avx2(struct rm_decimator *decimator) {
    uint32_t const last_pair = decimator->design->overlap - 2;
    struct rm_record const *const record = rm_decimator_inputs(decimator)->record;
    __m256i const lanes_low = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
    __m256i const floats_low = masks_of_bits((uint32_t)decimator->float_lanes << 4);
    __m256i const floats_high = masks_of_bits((uint32_t)decimator->float_lanes >> 4);
    struct record_halves value[RM_DECIMATION_MAX];
    for (uint32_t phase = 0; phase < decimator->design->decimation; ++phase) {
        __m256i const *const words = (__m256i const *)&record[phase];
        value[phase].low =
            accumulate_avx2_convert(_mm256_and_si256(_mm256_load_si256(&words[0]), lanes_low), floats_low);
        value[phase].high = accumulate_avx2_convert(_mm256_load_si256(&words[1]), floats_high);
    }

    uint32_t age = 0;
    for (; age + OUTPUTS_AT_ONCE <= last_pair; age += OUTPUTS_AT_ONCE)
        accumulate_avx2_advance(decimator, value, age, OUTPUTS_AT_ONCE, false);
    for (; age < last_pair; age += 2)
        accumulate_avx2_advance(decimator, value, age, 2, false);
    accumulate_avx2_advance(decimator, value, last_pair, 2, true);
}
