// SPDX-License-Identifier: Apache-2.0
/** Random numbers that are functions: the same key gives the same number, whenever and in whatever order it is asked
 * for. So a virtual ring's data and faults depend on seed and turn alone, not on timing, and loops over lanes
 * vectorise.
 */
#ifndef RM_INSTRUMENTS_NOISE_H
#define RM_INSTRUMENTS_NOISE_H

#include <stdint.h>

/** 64 well mixed bits of a key (splitmix64). */
static inline uint64_t rm_noise_u64(uint64_t key) {
    key += 0x9E3779B97F4A7C15u;
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9u;
    key = (key ^ key >> 27) * 0x94D049BB133111EBu;
    return key ^ key >> 31;
}

/** 32 well mixed bits of a key ("lowbias32"); 32-bit multiplications only, which every vector unit has. */
static inline uint32_t rm_noise_u32(uint32_t key) {
    key = (key ^ key >> 16) * 0x7FEB352Du;
    key = (key ^ key >> 15) * 0x846CA68Bu;
    return key ^ key >> 16;
}

/** Uniform in [0, 1). */
static inline double rm_noise_uniform(uint64_t key) { return (double)(rm_noise_u64(key) >> 11) * 0x1p-53; }

/** Nearly Gaussian from 32 random bits: the sum of three uniform numbers of 11, 11 and 10 bits. Mean 0 within 10^-3,
 * RMS 1, never beyond ±3. */
static inline float rm_noise_gaussian(uint32_t bits) {
    int32_t const sum = (int32_t)(bits & 2047u) + (int32_t)(bits >> 11 & 2047u) + (int32_t)(bits >> 22 << 1);
    return (float)(sum - 3070) * (1.0f / 1024.0f);
}

#endif
