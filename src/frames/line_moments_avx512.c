// SPDX-License-Identifier: Apache-2.0
/** Thirty-two pixels at a time, in two registers of sixteen; the last ones of a line under a mask. */
#include <immintrin.h>

#include "frames/line_moments.h"

#define RM_AVX512 __attribute__((target("avx512f,avx512bw,popcnt")))

enum { LINE_PLACES = 32 };

/** One run from pixel `first` on, at most LINE_STEPS_MAX steps of which the last need not be whole. */
RM_AVX512 static void line_moments_run_avx512(struct rm_line_moments *moments, uint16_t const *value, uint32_t first,
                                              uint32_t width, uint32_t steps, __m512i *peak, __m512i full) {
    __m512i p[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()}, q[2] = {p[0], p[0]}, r[2] = {p[0], p[0]};
    for (uint32_t k = 0; k < steps; ++k) {
        uint32_t const at = first + LINE_PLACES * k, left = width - at;
        __mmask32 const there = left >= LINE_PLACES ? UINT32_MAX : (__mmask32)((1u << left) - 1);
        __m512i const v = _mm512_maskz_loadu_epi16(there, value + at);
        *peak = _mm512_max_epu16(*peak, v);
        moments->full += (uint32_t)_mm_popcnt_u32(_mm512_mask_cmp_epu16_mask(there, v, full, _MM_CMPINT_NLT));
        p[0] = _mm512_add_epi32(p[0], _mm512_cvtepu16_epi32(_mm512_castsi512_si256(v)));
        p[1] = _mm512_add_epi32(p[1], _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(v, 1)));
        q[0] = _mm512_add_epi32(q[0], p[0]);
        q[1] = _mm512_add_epi32(q[1], p[1]);
        r[0] = _mm512_add_epi32(r[0], q[0]);
        r[1] = _mm512_add_epi32(r[1], q[1]);
    }
    uint32_t words[3][LINE_PLACES];
    __m512i const *const registers[3] = {p, q, r};
    for (int i = 0; i < 3; ++i)
        for (int half = 0; half < 2; ++half)
            _mm512_storeu_si512(words[i] + 16 * half, registers[i][half]);
    line_moments_add(moments, first, steps, LINE_PLACES, words[0], words[1], words[2]);
}

RM_AVX512 struct rm_line_moments rm_line_moments_avx512(uint16_t const *value, uint32_t width, uint16_t full) {
    struct rm_line_moments moments = {0};
    __m512i peak = _mm512_setzero_si512();
    __m512i const limit = _mm512_set1_epi16((short)full);
    uint32_t first = 0;
    for (uint32_t left = (width + LINE_PLACES - 1) / LINE_PLACES; left > 0;) {
        uint32_t const steps = left < LINE_STEPS_MAX ? left : LINE_STEPS_MAX;
        line_moments_run_avx512(&moments, value, first, width, steps, &peak, limit);
        first += LINE_PLACES * steps;
        left -= steps;
    }
    uint16_t peaks[LINE_PLACES];
    _mm512_storeu_si512(peaks, peak);
    for (int i = 0; i < LINE_PLACES; ++i)
        moments.peak = peaks[i] > moments.peak ? peaks[i] : moments.peak;
    return moments;
}
