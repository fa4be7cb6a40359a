// SPDX-License-Identifier: Apache-2.0
/** The same frames compiled for three instruction sets; frames.c chooses. */
#ifndef RM_OPTICS_FRAMES_SIMD_H
#define RM_OPTICS_FRAMES_SIMD_H

#include "frames.h"

struct rm_frames_simd {
    void (*fill)(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                 struct rm_optics *optics);
    void (*twiss)(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                  struct rm_frame_twiss *twiss);
};

extern struct rm_frames_simd const rm_frames_scalar, rm_frames_avx2, rm_frames_avx512;

#endif
