// SPDX-License-Identifier: Apache-2.0
/** A record is one register. Eight outputs at a time hide the latency of the multiply-add (4 cycles, one or two begun
 * in each): one at a time, GCC 12's inner loop of the sharp filter takes 11.5 instead of 7.5 ns a push. Whole pushes
 * are measured by bench/costs/filter.c; figures in docs/filters.md. */
#include <immintrin.h>

#include "filter/accumulate.h"

#define RM_AVX512 __attribute__((target("avx512f")))
#define RM_INLINE_AVX512 static inline __attribute__((target("avx512f"), always_inline))

enum { OUTPUTS_AT_ONCE = 8 }; /* where they are not all */

RM_INLINE_AVX512 __m512 accumulate_avx512_convert(struct rm_decimator const *decimator,
                                                  struct rm_record const *record) {
    __mmask16 const lanes = 0xFFF0;
    __mmask16 const floats = (__mmask16)(decimator->float_lanes << 4);
    __m512i const words = _mm512_maskz_loadu_epi32(lanes, record);
    return _mm512_mask_blend_ps(floats, _mm512_cvtepi32_ps(words), _mm512_castsi512_ps(words));
}

/** The shape of a filter. Where the compiler knows it, loops are unrolled and the group stays in registers. */
struct filter_shape {
    uint32_t decimation;
    uint32_t overlap;
};

/** Adds the group to `count` outputs from `age` on; the last of them takes nothing of phase 0 when `newest` says that
 * it begins with this group. `count` and `newest` are constants, so that the sums live in registers. */
RM_INLINE_AVX512 void accumulate_avx512_advance(struct rm_decimator *decimator, struct filter_shape shape,
                                                __m512 const *value, uint32_t age, uint32_t count, bool newest) {
    float const *const taps = decimator->design->coefficient + age;
    __m512 sum[RM_OVERLAP_MAX];
#pragma GCC unroll 18
    for (uint32_t i = 0; i < count; ++i)
        sum[i] = _mm512_load_ps(decimator->sum[age + i + 1]);
#pragma GCC unroll 18
    for (uint32_t i = 0; i < count - newest; ++i)
        sum[i] = _mm512_fmadd_ps(_mm512_set1_ps(taps[i]), value[0], sum[i]);
#pragma GCC unroll 12
    for (uint32_t phase = 1; phase < shape.decimation; ++phase) {
        float const *const tap = taps + phase * shape.overlap;
#pragma GCC unroll 18
        for (uint32_t i = 0; i < count; ++i)
            sum[i] = _mm512_fmadd_ps(_mm512_set1_ps(tap[i]), value[phase], sum[i]);
    }
#pragma GCC unroll 18
    for (uint32_t i = 0; i < count; ++i)
        _mm512_store_ps(decimator->sum[age + i], sum[i]);
}

RM_INLINE_AVX512 void accumulate_avx512_load(struct rm_decimator const *decimator, __m512 value[RM_DECIMATION_MAX]) {
    struct rm_record const *const record = rm_decimator_inputs(decimator)->record;
#pragma GCC unroll 12
    for (uint32_t phase = 0; phase < RM_DECIMATION_MAX; ++phase) /* those beyond the decimation are not used */
        value[phase] = accumulate_avx512_convert(decimator, &record[phase]);
}

/** All outputs together: with the twelve inputs they fit the 32 registers. `shape` is a constant. */
RM_INLINE_AVX512 void accumulate_whole(struct rm_decimator *decimator, struct filter_shape shape) {
    __m512 value[RM_DECIMATION_MAX];
    accumulate_avx512_load(decimator, value);
    accumulate_avx512_advance(decimator, shape, value, 0, shape.overlap, true);
}

static RM_AVX512 void accumulate_any(struct rm_decimator *decimator) {
    struct filter_shape const shape = {decimator->design->decimation, decimator->design->overlap};
    uint32_t const last_pair = shape.overlap - 2;
    __m512 value[RM_DECIMATION_MAX];
    accumulate_avx512_load(decimator, value);
    uint32_t age = 0;
    for (; age + OUTPUTS_AT_ONCE <= last_pair; age += OUTPUTS_AT_ONCE)
        accumulate_avx512_advance(decimator, shape, value, age, OUTPUTS_AT_ONCE, false);
    for (; age < last_pair; age += 2)
        accumulate_avx512_advance(decimator, shape, value, age, 2, false);
    accumulate_avx512_advance(decimator, shape, value, last_pair, 2, true);
}

/** The two that every instrument's own records go through, and the rest. */
RM_AVX512 void rm_accumulate_avx512(struct rm_decimator *decimator) {
    struct rm_fir_design const *const design = decimator->design;
    if (design->decimation == 12 && design->overlap == 18)
        accumulate_whole(decimator, (struct filter_shape){12, 18});
    else if (design->decimation == 12 && design->overlap == 2)
        accumulate_whole(decimator, (struct filter_shape){12, 2});
    else
        accumulate_any(decimator);
}
