// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "sliding_pass.h"

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE __attribute__((target("avx512f"), always_inline))

enum { LANES = TUNE_SLIDING_LANES, BLOCK = TUNE_SLIDING_BLOCK };

/** All groups of `turns` turns, a number that the compiler knows: phasors and sums stay in registers. */
AVX512_INLINE static inline void block_add(struct tune_sliding_block const *block, uint32_t turns) {
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    uint32_t place[BLOCK];
    for (uint32_t turn = 0; turn < turns; ++turn)
        place[turn] = block->first[turn];
    double *sum = block->sum;
    for (uint32_t group = 0; group < block->groups; ++group) {
        __m512d re[BLOCK], im[BLOCK];
        for (uint32_t turn = 0; turn < turns; ++turn) {
            double const *const phasor = block->phasor + 2 * place[turn];
            __m512d const c = _mm512_set1_pd(phasor[0]), s = _mm512_set1_pd(phasor[1]);
            __m512d const base_re = _mm512_loadu_pd(block->base_re[turn]);
            __m512d const base_im = _mm512_loadu_pd(block->base_im[turn]);
            re[turn] = _mm512_sub_pd(_mm512_mul_pd(c, base_re), _mm512_mul_pd(s, base_im));
            im[turn] = _mm512_add_pd(_mm512_mul_pd(c, base_im), _mm512_mul_pd(s, base_re));
            re[turn] = _mm512_roundscale_pd(re[turn], NEAREST);
            im[turn] = _mm512_roundscale_pd(im[turn], NEAREST);
            place[turn] = sliding_next_place(place[turn], block->stride[turn], block->window);
        }
        for (uint32_t plane = 0; plane < block->planes; ++plane, sum += 2 * (size_t)LANES) {
            __m512d sum_re = _mm512_load_pd(sum), sum_im = _mm512_load_pd(sum + LANES);
            for (uint32_t turn = 0; turn < turns; ++turn) {
                __m512d const step = _mm512_set1_pd(block->step[(size_t)turn * block->planes + plane]);
                sum_re = _mm512_fmadd_pd(step, re[turn], sum_re);
                sum_im = _mm512_fmadd_pd(step, im[turn], sum_im);
            }
            _mm512_store_pd(sum, sum_re);
            _mm512_store_pd(sum + LANES, sum_im);
        }
    }
}

AVX512 void tune_sliding_avx512(struct tune_sliding_block const *block) {
    switch (block->turns) {
    case 1:
        block_add(block, 1);
        break;
    case 2:
        block_add(block, 2);
        break;
    case 3:
        block_add(block, 3);
        break;
    default:
        block_add(block, BLOCK);
        break;
    }
}
