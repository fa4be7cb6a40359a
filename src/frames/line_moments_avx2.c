// SPDX-License-Identifier: Apache-2.0
/** Sixteen pixels at a time, in two registers of eight. */
#include <immintrin.h>

#include "frames/line_moments.h"

#define RM_AVX2 __attribute__((target("avx2")))

enum { LINE_PLACES = 16 };

/** One run from pixel `first` on, of whole steps, at most LINE_STEPS_MAX. Returns the pixel behind it. */
RM_AVX2 static uint32_t line_moments_run_avx2(struct rm_line_moments *moments, uint16_t const *value, uint32_t first,
                                              uint32_t steps, __m256i *peak, __m256i full) {
    __m256i p[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()}, q[2] = {p[0], p[0]}, r[2] = {p[0], p[0]};
    __m256i fulls = p[0];
    for (uint32_t k = 0; k < steps; ++k) {
        __m256i const v = _mm256_loadu_si256((__m256i const *)(void const *)(value + first + LINE_PLACES * k));
        *peak = _mm256_max_epu16(*peak, v);
        fulls = _mm256_sub_epi16(fulls, _mm256_cmpeq_epi16(_mm256_max_epu16(v, full), v));
        p[0] = _mm256_add_epi32(p[0], _mm256_cvtepu16_epi32(_mm256_castsi256_si128(v)));
        p[1] = _mm256_add_epi32(p[1], _mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1)));
        q[0] = _mm256_add_epi32(q[0], p[0]);
        q[1] = _mm256_add_epi32(q[1], p[1]);
        r[0] = _mm256_add_epi32(r[0], q[0]);
        r[1] = _mm256_add_epi32(r[1], q[1]);
    }
    uint32_t words[3][LINE_PLACES];
    uint16_t count[LINE_PLACES];
    __m256i const *const registers[3] = {p, q, r};
    for (int i = 0; i < 3; ++i)
        for (int half = 0; half < 2; ++half)
            _mm256_storeu_si256((__m256i *)(void *)(words[i] + 8 * half), registers[i][half]);
    _mm256_storeu_si256((__m256i *)(void *)count, fulls);
    line_moments_add(moments, first, steps, LINE_PLACES, words[0], words[1], words[2]);
    for (int i = 0; i < LINE_PLACES; ++i)
        moments->full += count[i];
    return first + LINE_PLACES * steps;
}

RM_AVX2 struct rm_line_moments rm_line_moments_avx2(uint16_t const *value, uint32_t width, uint16_t full) {
    struct rm_line_moments moments = {0};
    __m256i peak = _mm256_setzero_si256();
    __m256i const limit = _mm256_set1_epi16((short)full);
    uint32_t first = 0;
    for (uint32_t left = width / LINE_PLACES; left > 0;) {
        uint32_t const steps = left < LINE_STEPS_MAX ? left : LINE_STEPS_MAX;
        first = line_moments_run_avx2(&moments, value, first, steps, &peak, limit);
        left -= steps;
    }
    uint16_t peaks[LINE_PLACES];
    _mm256_storeu_si256((__m256i *)(void *)peaks, peak);
    for (int i = 0; i < LINE_PLACES; ++i)
        moments.peak = peaks[i] > moments.peak ? peaks[i] : moments.peak;
    line_moments_rest(&moments, value, first, width, full);
    return moments;
}
