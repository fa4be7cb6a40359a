// SPDX-License-Identifier: Apache-2.0
/** A record is one register. Eight outputs at a time hide the latency of the multiply-add (4 cycles, one or two begun
 * in each): one at a time, GCC 12's inner loop of the sharp filter takes 11.5 instead of 7.5 ns a push. Whole pushes
 * are measured by bench/filter_push.c; figures in docs/filters.md. */
#include <immintrin.h>

#include "filter/accumulate.h"

#define RM_AVX512 __attribute__((target("avx512f")))
#define RM_INLINE_AVX512 static inline __attribute__((target("avx512f"), always_inline))

enum { OUTPUTS_AT_ONCE = 8 };

RM_INLINE_AVX512 __m512 convert(struct rm_decimator const *decimator, struct rm_record const *record) {
    __mmask16 const lanes = 0xFFF0;
    __mmask16 const floats = (__mmask16)(decimator->float_lanes << 4);
    __m512i const words = _mm512_maskz_loadu_epi32(lanes, record);
    return _mm512_mask_blend_ps(floats, _mm512_cvtepi32_ps(words), _mm512_castsi512_ps(words));
}

/** Adds the group to `count` outputs from `age` on; the last of them takes nothing of phase 0 when `newest` says that
 * it begins with this group. `count` and `newest` are constants, so that the sums live in registers. */
RM_INLINE_AVX512 void advance(struct rm_decimator *decimator, __m512 const *value, uint32_t age, uint32_t count,
                              bool newest) {
    struct rm_fir_design const *const design = decimator->design;
    __m512 sum[OUTPUTS_AT_ONCE];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < count; ++i)
        sum[i] = _mm512_load_ps(decimator->sum[age + i + 1]);
#pragma GCC unroll 8
    for (uint32_t i = 0; i < count - newest; ++i)
        sum[i] = _mm512_fmadd_ps(_mm512_set1_ps(design->coefficient[age + i]), value[0], sum[i]);
    for (uint32_t phase = 1; phase < design->decimation; ++phase) {
        float const *const coefficient = design->coefficient + phase * design->overlap + age;
#pragma GCC unroll 8
        for (uint32_t i = 0; i < count; ++i)
            sum[i] = _mm512_fmadd_ps(_mm512_set1_ps(coefficient[i]), value[phase], sum[i]);
    }
#pragma GCC unroll 8
    for (uint32_t i = 0; i < count; ++i)
        _mm512_store_ps(decimator->sum[age + i], sum[i]);
}

RM_AVX512 void rm_accumulate_avx512(struct rm_decimator *decimator) {
    uint32_t const last_pair = decimator->design->overlap - 2;
    __m512 value[RM_DECIMATION_MAX];
    for (uint32_t phase = 0; phase < decimator->design->decimation; ++phase)
        value[phase] = convert(decimator, &decimator->group[phase]);

    uint32_t age = 0;
    for (; age + OUTPUTS_AT_ONCE <= last_pair; age += OUTPUTS_AT_ONCE)
        advance(decimator, value, age, OUTPUTS_AT_ONCE, false);
    for (; age < last_pair; age += 2)
        advance(decimator, value, age, 2, false);
    advance(decimator, value, last_pair, 2, true);
}
