// SPDX-License-Identifier: Apache-2.0
#include "frames.h"

#include "../tangent/turn.h"
#include "frames_simd.h"

void rm_frames_fill(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                    struct rm_optics *optics, enum rm_simd simd) {
    switch (rm_simd_choose(simd)) {
    case RM_SIMD_AVX512:
        rm_frames_fill_avx512(points, count, modes, optics);
        break;
    case RM_SIMD_AVX2:
        rm_frames_fill_avx2(points, count, modes, optics);
        break;
    default:
        rm_frames_fill_scalar(points, count, modes, optics);
    }
}
