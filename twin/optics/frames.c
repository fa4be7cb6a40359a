// SPDX-License-Identifier: Apache-2.0
#include "frames.h"

#include "../tangent/turn.h"
#include "frames_simd.h"

static struct rm_frames_simd const *of(enum rm_twin_simd simd) {
    switch (rm_turn_simd(simd)) {
    case RM_TWIN_SIMD_AVX512:
        return &rm_frames_avx512;
    case RM_TWIN_SIMD_AVX2:
        return &rm_frames_avx2;
    default:
        return &rm_frames_scalar;
    }
}

void rm_frames_fill(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                    struct rm_optics *optics, enum rm_twin_simd simd) {
    of(simd)->fill(points, count, modes, optics);
}

void rm_frames_twiss(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                     struct rm_frame_twiss *twiss, enum rm_twin_simd simd) {
    of(simd)->twiss(points, count, modes, twiss);
}
