// SPDX-License-Identifier: Apache-2.0
#pragma GCC target("avx2,fma")

#include "tangent/turn_body.h"
#include "tangent/turn_simd.h"

void rm_turn_avx2(struct rm_plan const *plan, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                    struct rm_turn_points const *points) {
    walk(plan, tangent, diffusion, points);
}
