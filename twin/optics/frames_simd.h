// SPDX-License-Identifier: Apache-2.0
/** The same frames compiled for three instruction sets; frames.c chooses. */
#ifndef RM_OPTICS_FRAMES_SIMD_H
#define RM_OPTICS_FRAMES_SIMD_H

#include "frames.h"

typedef void rm_frames_fill_simd(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                                 struct rm_optics *optics);

rm_frames_fill_simd rm_frames_fill_scalar, rm_frames_fill_avx2, rm_frames_fill_avx512;

#endif
