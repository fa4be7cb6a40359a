// SPDX-License-Identifier: Apache-2.0
#include "combine.h"

#include <math.h>
#include <stdbool.h>
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
__attribute__((always_inline)) static inline void stretch_add(float const *x, struct tune_weight weight, bool is_first,
                                                              uint32_t turns, float *re, float *im) {
    if (is_first)
        for (uint32_t n = 0; n < turns; ++n) {
            re[n] = weight.re * x[n];
            im[n] = weight.im * x[n];
        }
    else
        for (uint32_t n = 0; n < turns; ++n) {
            re[n] += weight.re * x[n];
            im[n] += weight.im * x[n];
        }
}

typedef void stretch_pass(float const *x, struct tune_weight weight, bool is_first, uint32_t turns, float *re,
                          float *im);

static void stretch_scalar(float const *x, struct tune_weight weight, bool is_first, uint32_t turns, float *re,
                           float *im) {
    stretch_add(x, weight, is_first, turns, re, im);
}

__attribute__((target("avx2"))) static void stretch_avx2(float const *x, struct tune_weight weight, bool is_first,
                                                         uint32_t turns, float *re, float *im) {
    stretch_add(x, weight, is_first, turns, re, im);
}

__attribute__((target("avx512f"))) static void stretch_avx512(float const *x, struct tune_weight weight, bool is_first,
                                                              uint32_t turns, float *re, float *im) {
    stretch_add(x, weight, is_first, turns, re, im);
}

void tune_combine(float const *const *x, struct tune_weight const *weight, uint32_t count, uint32_t turns, float *re,
                  float *im, enum rm_simd simd) {
    stretch_pass *const passes[] = {
        [RM_SIMD_SCALAR] = stretch_scalar, [RM_SIMD_AVX2] = stretch_avx2, [RM_SIMD_AVX512] = stretch_avx512};
    stretch_pass *const pass = passes[rm_simd_choose(simd)];
    for (uint32_t first = 0; first < turns; first += STRETCH) {
        uint32_t const stretch = first + STRETCH < turns ? STRETCH : turns - first;
        bool is_first = true;
        for (uint32_t j = 0; j < count; ++j) {
            if (weight[j].re == 0.0f && weight[j].im == 0.0f)
                continue;
            pass(x[j] + first, weight[j], is_first, stretch, re + first, im + first);
            is_first = false;
        }
        if (is_first) {
            memset(re + first, 0, stretch * sizeof *re);
            memset(im + first, 0, stretch * sizeof *im);
        }
    }
}
