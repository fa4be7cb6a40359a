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

void rm_turn(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
             struct rm_turn_points const *points, enum rm_simd simd) {
    switch (rm_simd_choose(simd)) {
    case RM_SIMD_AVX512:
        rm_turn_avx512(route, tangent, diffusion, points);
        break;
    case RM_SIMD_AVX2:
        rm_turn_avx2(route, tangent, diffusion, points);
        break;
    default:
        rm_turn_scalar(route, tangent, diffusion, points);
    }
}
