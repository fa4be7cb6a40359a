// SPDX-License-Identifier: Apache-2.0
#include "turn_body.h"
#include "turn_simd.h"

void rm_turn_avx512(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                    struct rm_turn_points const *points) {
    walk_route(route, tangent, diffusion, points);
}
