// SPDX-License-Identifier: Apache-2.0
#include "simd.h"

enum feedback_simd feedback_simd_choose(enum feedback_simd wanted) {
    enum feedback_simd best = FEEDBACK_SIMD_SCALAR;
    if (__builtin_cpu_supports("avx2"))
        best = FEEDBACK_SIMD_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        best = FEEDBACK_SIMD_AVX512;
    return wanted == FEEDBACK_SIMD_BEST || wanted > best ? best : wanted;
}
