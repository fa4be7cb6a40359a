// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "sliding_pass.h"

#define AVX2 __attribute__((target("avx2,fma")))

enum { LANES = TUNE_SLIDING_LANES, HALF = LANES / 2 };

/** A group at one turn; half a group is a register. */
AVX2 static void group_add(struct tune_sliding_block const *block, uint32_t turn, double const *phasor, double *sum) {
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    double const *const step = block->step + (size_t)turn * block->planes;
    __m256d const c = _mm256_set1_pd(phasor[0]), s = _mm256_set1_pd(phasor[1]);
    for (uint32_t half = 0; half < LANES; half += HALF) {
        __m256d const base_re = _mm256_loadu_pd(block->base_re[turn] + half);
        __m256d const base_im = _mm256_loadu_pd(block->base_im[turn] + half);
        __m256d const re = _mm256_sub_pd(_mm256_mul_pd(c, base_re), _mm256_mul_pd(s, base_im));
        __m256d const im = _mm256_add_pd(_mm256_mul_pd(c, base_im), _mm256_mul_pd(s, base_re));
        __m256d const whole_re = _mm256_round_pd(re, NEAREST), whole_im = _mm256_round_pd(im, NEAREST);
        double *place = sum + half;
        for (uint32_t plane = 0; plane < block->planes; ++plane, place += 2 * (size_t)LANES) {
            __m256d const by = _mm256_set1_pd(step[plane]);
            _mm256_store_pd(place, _mm256_fmadd_pd(by, whole_re, _mm256_load_pd(place)));
            _mm256_store_pd(place + LANES, _mm256_fmadd_pd(by, whole_im, _mm256_load_pd(place + LANES)));
        }
    }
}

AVX2 void tune_sliding_avx2(struct tune_sliding_block const *block) {
    for (uint32_t turn = 0; turn < block->turns; ++turn) {
        uint32_t place = block->first[turn];
        for (uint32_t group = 0; group < block->groups; ++group) {
            group_add(block, turn, block->phasor + 2 * place, block->sum + (size_t)group * block->planes * 2 * LANES);
            place = sliding_next_place(place, block->stride[turn], block->window);
        }
    }
}
