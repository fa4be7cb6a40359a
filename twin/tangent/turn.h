// SPDX-License-Identifier: Apache-2.0
/** One turn of a particle and its neighbourhood through a route. */
#ifndef RM_TANGENT_TURN_H
#define RM_TANGENT_TURN_H

#include <ringmaster/twin.h>

#include "route.h"

/** Results at the route's points. Members may be NULL. */
struct rm_turn_points {
    struct rm_tangent *tangent;
    struct rm_diffusion *diffusion;
};

/** Sets a tangent to particle `z` with the identity as its Jacobian. */
void rm_tangent_begin(struct rm_tangent *tangent, double const z[6]);

/** Takes `tangent` through the route. `diffusion`, if not NULL, keeps its content, and radiating magnets add to it.
 * `simd` does not change the results beyond rounding; RM_SIMD_BEST takes what this processor has. */
void rm_turn(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
             struct rm_turn_points const *points, enum rm_simd simd);

#endif
