// SPDX-License-Identifier: Apache-2.0
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")

#include "tangent/turn_body.h"
#include "tangent/turn_simd.h"

void rm_turn_avx512(struct rm_plan const *plan, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                      struct rm_turn_points const *points) {
    walk(plan, tangent, diffusion, points);
}
