// SPDX-License-Identifier: Apache-2.0
/** For profile.c: sums over a part of a line. All versions give the same numbers.
 *
 * The vector versions have no multiplication per pixel. A register goes along the line and adds to three others:
 *
 *     p += v;  q += p;  r += q
 *
 * After K steps the place that had values v₀ … v_K₋₁ holds, with m = K - k:  p = Σ v_k,  q = Σ m v_k,  r = Σ m (m + 1)/2 v_k.
 * So Σ m² v_k = 2 r - q, and from sums over m follow those over the pixel's number. K is at most 64: with values of 16
 * bits, r stays below 2^32. */
#ifndef RM_FRAMES_LINE_MOMENTS_H
#define RM_FRAMES_LINE_MOMENTS_H

#include <stdint.h>

#include "frames/profile.h"

/** Of pixels 0 … width - 1 of the part: Σ v, Σ v i, Σ v i², the greatest v, and how many are `full` or more. */
struct rm_line_moments {
    uint64_t sum0, sum1, sum2;
    uint32_t peak, full;
};

/** `width` is 0 … RM_PROFILE_SIDE_MAX; reads no value beyond. */
typedef struct rm_line_moments rm_line_moments_function(uint16_t const *value, uint32_t width, uint16_t full);

rm_line_moments_function rm_line_moments_scalar, rm_line_moments_avx2, rm_line_moments_avx512;

/** For an instruction set, at most rm_simd_best(), or RM_SIMD_BEST. AVX-512 needs BW too, and is AVX2 where the CPU
 * lacks it. */
rm_line_moments_function *rm_line_moments_for(enum rm_simd simd);

enum { LINE_STEPS_MAX = 64 };

/** Adds a run of `steps` steps of `places` values each, which began at pixel `first`, to the sums. p, q and r are those
 * above, for each place. */
static inline void line_moments_add(struct rm_line_moments *moments, uint32_t first, uint32_t steps, uint32_t places,
                                    uint32_t const *p, uint32_t const *q, uint32_t const *r) {
    for (uint32_t place = 0; place < places; ++place) {
        /* pixel = end - places × m */
        uint64_t const end = first + steps * places + place;
        uint64_t const by_m = q[place], by_m2 = 2 * (uint64_t)r[place] - q[place];
        moments->sum0 += p[place];
        moments->sum1 += end * p[place] - places * by_m;
        moments->sum2 += end * end * p[place] - 2 * places * end * by_m + (uint64_t)places * places * by_m2;
    }
}

/** Adds pixels [first, width), one by one. */
static inline void line_moments_rest(struct rm_line_moments *moments, uint16_t const *value, uint32_t first,
                                     uint32_t width, uint16_t full) {
    for (uint64_t i = first; i < width; ++i) {
        uint64_t const v = value[i];
        moments->sum0 += v;
        moments->sum1 += v * i;
        moments->sum2 += v * i * i;
        moments->peak = v > moments->peak ? (uint32_t)v : moments->peak;
        moments->full += v >= full;
    }
}

#endif
