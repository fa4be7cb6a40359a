// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "naff_pass.h"

#define AVX512 __attribute__((target("avx512f")))

enum { LANES = TUNE_NAFF_LANES, WIDTH = 8, VECTORS = LANES / WIDTH };

AVX512 void tune_naff_avx512(double const *u, uint32_t padded, struct tune_naff_phasors const *phasors,
                             struct tune_naff_moments *moments) {
    __m512d const step_re = _mm512_set1_pd(phasors->step_re), step_im = _mm512_set1_pd(phasors->step_im);
    __m512d const block = _mm512_set1_pd(LANES), first = _mm512_set1_pd(phasors->first);
    __m512d re[VECTORS], im[VECTORS], t[VECTORS];
    __m512d cosine[VECTORS], sine[VECTORS], cosine_t[VECTORS], sine_t[VECTORS];
    for (int i = 0; i < VECTORS; ++i) {
        re[i] = _mm512_loadu_pd(phasors->re + i * WIDTH);
        im[i] = _mm512_loadu_pd(phasors->im + i * WIDTH);
        __m512d const lanes = _mm512_set_pd(7, 6, 5, 4, 3, 2, 1, 0);
        t[i] = _mm512_add_pd(first, _mm512_add_pd(lanes, _mm512_set1_pd(i * WIDTH)));
        cosine[i] = sine[i] = cosine_t[i] = sine_t[i] = _mm512_setzero_pd();
    }
    for (uint32_t n = 0; n < padded; n += LANES)
        for (int i = 0; i < VECTORS; ++i) {
            __m512d const value = _mm512_load_pd(u + n + i * WIDTH);
            __m512d const by_cosine = _mm512_mul_pd(value, re[i]), by_sine = _mm512_mul_pd(value, im[i]);
            cosine[i] = _mm512_add_pd(cosine[i], by_cosine);
            sine[i] = _mm512_add_pd(sine[i], by_sine);
            cosine_t[i] = _mm512_add_pd(cosine_t[i], _mm512_mul_pd(by_cosine, t[i]));
            sine_t[i] = _mm512_add_pd(sine_t[i], _mm512_mul_pd(by_sine, t[i]));
            __m512d const next = _mm512_sub_pd(_mm512_mul_pd(re[i], step_re), _mm512_mul_pd(im[i], step_im));
            im[i] = _mm512_add_pd(_mm512_mul_pd(re[i], step_im), _mm512_mul_pd(im[i], step_re));
            re[i] = next;
            t[i] = _mm512_add_pd(t[i], block);
        }
    for (int i = 0; i < VECTORS; ++i) {
        _mm512_storeu_pd(moments->cosine + i * WIDTH, cosine[i]);
        _mm512_storeu_pd(moments->sine + i * WIDTH, sine[i]);
        _mm512_storeu_pd(moments->cosine_t + i * WIDTH, cosine_t[i]);
        _mm512_storeu_pd(moments->sine_t + i * WIDTH, sine_t[i]);
    }
}
