// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "naff_pass.h"

#define AVX2 __attribute__((target("avx2")))

enum { LANES = TUNE_NAFF_LANES, WIDTH = 4 };

/** Four lanes through all blocks: with more there would be too few registers. */
AVX2 static void lanes_pass(double const *u, uint32_t padded, struct tune_naff_phasors const *phasors, int lane,
                            struct tune_naff_moments *moments) {
    __m256d const step_re = _mm256_set1_pd(phasors->step_re), step_im = _mm256_set1_pd(phasors->step_im);
    __m256d const block = _mm256_set1_pd(LANES);
    __m256d re = _mm256_loadu_pd(phasors->re + lane), im = _mm256_loadu_pd(phasors->im + lane);
    __m256d t = _mm256_add_pd(_mm256_set1_pd(phasors->first), _mm256_set_pd(lane + 3, lane + 2, lane + 1, lane));
    __m256d cosine = _mm256_setzero_pd(), sine = cosine, cosine_t = cosine, sine_t = cosine;
    for (uint32_t n = 0; n < padded; n += LANES) {
        __m256d const value = _mm256_load_pd(u + n + lane);
        __m256d const by_cosine = _mm256_mul_pd(value, re), by_sine = _mm256_mul_pd(value, im);
        cosine = _mm256_add_pd(cosine, by_cosine);
        sine = _mm256_add_pd(sine, by_sine);
        cosine_t = _mm256_add_pd(cosine_t, _mm256_mul_pd(by_cosine, t));
        sine_t = _mm256_add_pd(sine_t, _mm256_mul_pd(by_sine, t));
        __m256d const next = _mm256_sub_pd(_mm256_mul_pd(re, step_re), _mm256_mul_pd(im, step_im));
        im = _mm256_add_pd(_mm256_mul_pd(re, step_im), _mm256_mul_pd(im, step_re));
        re = next;
        t = _mm256_add_pd(t, block);
    }
    _mm256_storeu_pd(moments->cosine + lane, cosine);
    _mm256_storeu_pd(moments->sine + lane, sine);
    _mm256_storeu_pd(moments->cosine_t + lane, cosine_t);
    _mm256_storeu_pd(moments->sine_t + lane, sine_t);
}

AVX2 void tune_naff_avx2(double const *u, uint32_t padded, struct tune_naff_phasors const *phasors,
                         struct tune_naff_moments *moments) {
    for (int lane = 0; lane < LANES; lane += WIDTH)
        lanes_pass(u, padded, phasors, lane, moments);
}
