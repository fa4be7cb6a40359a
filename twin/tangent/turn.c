// SPDX-License-Identifier: Apache-2.0
#include "turn.h"

#include <string.h>

#include "turn_simd.h"

void rm_tangent_begin(struct rm_tangent *tangent, double const z[6]) {
    memset(tangent, 0, sizeof *tangent);
    memcpy(tangent->z, z, sizeof tangent->z);
    for (int i = 0; i < 6; ++i)
        tangent->j[i][i] = 1;
}

enum rm_twin_simd rm_turn_simd(enum rm_twin_simd simd) {
    if (simd != RM_TWIN_SIMD_BEST)
        return simd;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return RM_TWIN_SIMD_AVX512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? RM_TWIN_SIMD_AVX2 : RM_TWIN_SIMD_SCALAR;
}

void rm_turn(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
             struct rm_turn_points const *points, enum rm_twin_simd simd) {
    switch (rm_turn_simd(simd)) {
    case RM_TWIN_SIMD_AVX512:
        rm_turn_avx512(route, tangent, diffusion, points);
        break;
    case RM_TWIN_SIMD_AVX2:
        rm_turn_avx2(route, tangent, diffusion, points);
        break;
    default:
        rm_turn_scalar(route, tangent, diffusion, points);
    }
}
