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

/** A normal number, of mean 0 and RMS 1, from 63 random bits: the value that a share p of all normal numbers exceeds,
 * p = (bits mod 2^31 + more / 2^32) / 2^32, with the top bit of `bits` as its sign. So its tails are those of the
 * normal law up to 9 sigma. `more` matters only in the tails: it need not differ from one caller to the next. It is
 * within 5e-5 of the exact value: log2 p by pieces, then a rational function of √(−log2 p), both fitted to the inverse
 * of the error function. No branch and no table, so loops over it vectorise, and every instruction set gives the same
 * bits. */
static inline float rm_noise_normal_of(uint32_t bits, uint32_t more) {
    union {
        float value;
        uint32_t bits;
    } p, f, z;
    p.value = (float)(int32_t)(bits & 0x7FFFFFFFu) * 0x1p-32f + (float)(int32_t)(more >> 1 | 1u) * 0x1p-63f;
    f.bits = (p.bits & 0x7FFFFFu) | 0x3F800000u;
    float const a = f.value - 1.0f;
    float const bend = a * (1.0f - a) * (0.44191704f + a * (-0.2671794f + a * (0.14842664f - 0.04514904f * a)));
    float const log2_p = (float)((int32_t)p.bits - 0x3F000000) * 0x1p-23f - 1.0f + bend;
    float const s = __builtin_sqrtf(-log2_p);
    z.value = (-2.78269836f + s * (-1.57331262f + s * (3.21845192f + s * 1.13762541f))) /
              (1.0f + s * (2.80025018f + s * 0.96463961f));
    z.bits ^= bits & 0x80000000u;
    return z.value;
}

/** The normal number of a key. */
static inline double rm_noise_normal(uint64_t key) {
    uint64_t const random = rm_noise_u64(key);
    return (double)rm_noise_normal_of((uint32_t)(random >> 32), (uint32_t)random);
}

#endif
