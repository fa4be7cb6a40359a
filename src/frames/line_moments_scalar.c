// SPDX-License-Identifier: Apache-2.0
/** The reference, and the choice. */
#include "frames/line_moments.h"

struct rm_line_moments rm_line_moments_scalar(uint16_t const *value, uint32_t width, uint16_t full) {
    struct rm_line_moments moments = {0};
    line_moments_rest(&moments, value, 0, width, full);
    return moments;
}

rm_line_moments_function *rm_line_moments_for(enum rm_simd simd) {
    enum rm_simd const chosen = rm_simd_choose(simd);
    if (chosen == RM_SIMD_AVX512 && __builtin_cpu_supports("avx512bw"))
        return rm_line_moments_avx512;
    return chosen >= RM_SIMD_AVX2 ? rm_line_moments_avx2 : rm_line_moments_scalar;
}
