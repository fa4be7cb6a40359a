// SPDX-License-Identifier: Apache-2.0
#include "filter/decimator.h"

enum rm_simd rm_simd_best(void) {
    if (__builtin_cpu_supports("avx512f"))
        return RM_SIMD_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return RM_SIMD_AVX2;
    return RM_SIMD_SCALAR;
}

char const *rm_simd_name(enum rm_simd simd) {
    switch (simd) {
    case RM_SIMD_SCALAR:
        return "scalar";
    case RM_SIMD_AVX2:
        return "AVX2";
    case RM_SIMD_AVX512:
        return "AVX-512";
    }
    return "unknown";
}
