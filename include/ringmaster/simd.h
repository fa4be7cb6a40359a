// SPDX-License-Identifier: Apache-2.0
/** Instruction sets of code that is compiled for several of them and chooses when it starts. The scalar version is the
 * reference; whether the others give the same bits or only the same within rounding, each says itself. */
#ifndef RINGMASTER_SIMD_H
#define RINGMASTER_SIMD_H

/** From slow to fast. */
enum rm_simd {
    /** The fastest that this CPU and its operating system support. */
    RM_SIMD_BEST,
    /** Any x86-64. */
    RM_SIMD_SCALAR,
    /** Needs AVX2 and FMA. */
    RM_SIMD_AVX2,
    /** Needs AVX-512 F, DQ and VL. */
    RM_SIMD_AVX512,
};

/** Never RM_SIMD_BEST itself. */
static inline enum rm_simd rm_simd_best(void) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return RM_SIMD_SCALAR;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? RM_SIMD_AVX512
               : RM_SIMD_AVX2;
}

/** What is wanted, as far as this CPU has it. */
static inline enum rm_simd rm_simd_choose(enum rm_simd wanted) {
    enum rm_simd const best = rm_simd_best();
    return wanted == RM_SIMD_BEST || wanted > best ? best : wanted;
}

/** "scalar", "AVX2", "AVX-512"; of the best, that which it is. */
static inline char const *rm_simd_name(enum rm_simd simd) {
    enum rm_simd const named = simd == RM_SIMD_BEST ? rm_simd_best() : simd;
    return named == RM_SIMD_AVX512 ? "AVX-512" : named == RM_SIMD_AVX2 ? "AVX2" : "scalar";
}

#endif
