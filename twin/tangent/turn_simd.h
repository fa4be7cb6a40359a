// SPDX-License-Identifier: Apache-2.0
/** The same turn compiled for three instruction sets; rm_turn chooses. */
#ifndef RM_TANGENT_TURN_SIMD_H
#define RM_TANGENT_TURN_SIMD_H

#include "turn.h"

void rm_turn_scalar(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                    struct rm_turn_points const *points);
void rm_turn_avx2(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                  struct rm_turn_points const *points);
void rm_turn_avx512(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                    struct rm_turn_points const *points);

#endif
