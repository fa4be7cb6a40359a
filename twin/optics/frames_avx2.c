// SPDX-License-Identifier: Apache-2.0
#include "frames_body.h"
#include "frames_simd.h"

void rm_frames_fill_avx2(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                         struct rm_optics *optics) {
    fill_optics_frames(points, count, modes, optics);
}
