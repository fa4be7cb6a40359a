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

void tune_combine(float const *const *x, struct tune_weight const *weight, uint32_t count, uint32_t turns, float *re,
                  float *im) {
    memset(re, 0, turns * sizeof *re);
    memset(im, 0, turns * sizeof *im);
    for (uint32_t first = 0; first < turns; first += STRETCH) {
        uint32_t const end = first + STRETCH < turns ? first + STRETCH : turns;
        for (uint32_t j = 0; j < count; ++j) {
            if (weight[j].re == 0.0f && weight[j].im == 0.0f)
                continue;
            for (uint32_t n = first; n < end; ++n) {
                re[n] += weight[j].re * x[j][n];
                im[n] += weight[j].im * x[j][n];
            }
        }
    }
}
