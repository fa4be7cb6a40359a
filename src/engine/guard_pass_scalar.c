// SPDX-License-Identifier: Apache-2.0
#define RM_GUARD_TARGET
#define RM_GUARD_TAKE rm_guard_take_scalar
#define RM_GUARD_STEP rm_guard_step_scalar

#include "engine/guard_pass_alike.h"

struct rm_guard_passes rm_guard_passes_for(enum rm_simd simd) {
    switch (rm_simd_choose(simd)) {
    case RM_SIMD_BEST:
    case RM_SIMD_SCALAR:
        break;
    case RM_SIMD_AVX2:
        return (struct rm_guard_passes){rm_guard_take_avx2, rm_guard_step_avx2};
    case RM_SIMD_AVX512:
        return (struct rm_guard_passes){rm_guard_take_avx512, rm_guard_step_avx512};
    }
    return (struct rm_guard_passes){rm_guard_take_scalar, rm_guard_step_scalar};
}
