// SPDX-License-Identifier: Apache-2.0
#include "combine.h"

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** Turns that stay in the first cache while all BPMs are added. */
enum { STRETCH = 1024 };

/** β/σ², or 0. */
static double share_of(struct tune_bpm const *bpm) {
    bool const is_used = isfinite(bpm->beta_m) && bpm->beta_m > 0.0 && isfinite(bpm->phase_rad) &&
                         isfinite(bpm->noise) && bpm->noise > 0.0;
    return is_used ? bpm->beta_m / (bpm->noise * bpm->noise) : 0.0;
}

struct tune_combination tune_weights_make(struct tune_bpm const *bpm, uint32_t count, struct tune_weight *weight) {
    struct tune_combination combination = {.used = 0};
    double whole = 0.0;
    for (uint32_t j = 0; j < count; ++j)
        whole += share_of(&bpm[j]);
    for (uint32_t j = 0; j < count; ++j) {
        double const share = share_of(&bpm[j]);
        weight[j] = (struct tune_weight){0.0f, 0.0f};
        if (share == 0.0)
            continue;
        double const size = share / (whole * sqrt(bpm[j].beta_m));
        weight[j].re = (float)(size * cos(bpm[j].phase_rad));
        weight[j].im = (float)(-size * sin(bpm[j].phase_rad));
        combination.image_re += share / whole * cos(2.0 * bpm[j].phase_rad);
        combination.image_im -= share / whole * sin(2.0 * bpm[j].phase_rad);
        ++combination.used;
    }
    combination.noise = combination.used > 0 ? sqrt(1.0 / whole) : NAN;
    return combination;
}

/** A stretch of one BPM: in place of what is there, or added. Each turn for itself: the same bits however many go side by
 * side, as nothing is fused. */
typedef void stretch_pass(float const *x, struct tune_weight weight, bool is_first, uint32_t turns, float *series);

static void stretch_scalar(float const *x, struct tune_weight weight, bool is_first, uint32_t turns, float *series) {
    for (uint32_t n = 0; n < turns; ++n) {
        float const re = weight.re * x[n], im = weight.im * x[n];
        series[2 * n] = is_first ? re : series[2 * n] + re;
        series[2 * n + 1] = is_first ? im : series[2 * n + 1] + im;
    }
}

/** Each turn doubled, times both weights. */
__attribute__((target("avx2"))) static void stretch_avx2(float const *x, struct tune_weight weight, bool is_first,
                                                         uint32_t turns, float *series) {
    enum { TURNS = 4 };
    __m256i const doubled = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    __m256 const weights =
        _mm256_setr_ps(weight.re, weight.im, weight.re, weight.im, weight.re, weight.im, weight.re, weight.im);
    uint32_t n = 0;
    for (; n + TURNS <= turns; n += TURNS) {
        __m256 const both = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(x + n)), doubled);
        __m256 const product = _mm256_mul_ps(weights, both);
        float *const place = series + 2 * n;
        _mm256_storeu_ps(place, is_first ? product : _mm256_add_ps(_mm256_loadu_ps(place), product));
    }
    stretch_scalar(x + n, weight, is_first, turns - n, series + 2 * n);
}

__attribute__((target("avx512f"))) static void stretch_avx512(float const *x, struct tune_weight weight, bool is_first,
                                                              uint32_t turns, float *series) {
    enum { TURNS = 8 };
    __m512i const doubled = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    __m512 const weights = _mm512_setr4_ps(weight.re, weight.im, weight.re, weight.im);
    uint32_t n = 0;
    for (; n + TURNS <= turns; n += TURNS) {
        __m512 const both = _mm512_permutexvar_ps(doubled, _mm512_castps256_ps512(_mm256_loadu_ps(x + n)));
        __m512 const product = _mm512_mul_ps(weights, both);
        float *const place = series + 2 * n;
        _mm512_storeu_ps(place, is_first ? product : _mm512_add_ps(_mm512_loadu_ps(place), product));
    }
    stretch_scalar(x + n, weight, is_first, turns - n, series + 2 * n);
}

void tune_combine(float const *const *x, struct tune_weight const *weight, uint32_t count, uint32_t turns,
                  float *series, enum rm_simd simd) {
    stretch_pass *const passes[] = {
        [RM_SIMD_SCALAR] = stretch_scalar, [RM_SIMD_AVX2] = stretch_avx2, [RM_SIMD_AVX512] = stretch_avx512};
    stretch_pass *const pass = passes[rm_simd_choose(simd)];
    for (uint32_t first = 0; first < turns; first += STRETCH) {
        uint32_t const stretch = first + STRETCH < turns ? STRETCH : turns - first;
        bool is_first = true;
        for (uint32_t j = 0; j < count; ++j) {
            if (weight[j].re == 0.0f && weight[j].im == 0.0f)
                continue;
            pass(x[j] + first, weight[j], is_first, stretch, series + 2 * (size_t)first);
            is_first = false;
        }
        if (is_first)
            memset(series + 2 * (size_t)first, 0, 2 * sizeof *series * stretch);
    }
}
