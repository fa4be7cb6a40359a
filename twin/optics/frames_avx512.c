// SPDX-License-Identifier: Apache-2.0
#include "frames_body.h"
#include "frames_simd.h"

struct rm_frames_simd const rm_frames_avx512 = {fill, twiss};
