// SPDX-License-Identifier: Apache-2.0
/** One turn of a particle and its neighbourhood through a route. */
#ifndef RM_TANGENT_TURN_H
#define RM_TANGENT_TURN_H

#include <ringmaster/twin.h>

#include "route.h"

/** Where a turn leaves what it sees at the route's points. Members may be NULL. */
struct rm_turn_points {
    struct rm_tangent *tangent;
    struct rm_diffusion *diffusion;
};

/** Sets a tangent to particle `z` with the identity as its Jacobian. */
void rm_tangent_begin(struct rm_tangent *tangent, double const z[6]);

/** Takes `tangent` through the route. `diffusion`, if not NULL, begins at what it holds and gathers what radiating
 * magnets add. Results are the same to rounding whatever `simd`; RM_TWIN_SIMD_BEST takes what this processor has. */
void rm_turn(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
             struct rm_turn_points const *points, enum rm_twin_simd simd);

/** RM_TWIN_SIMD_BEST as the best of this processor; others as they are. */
enum rm_twin_simd rm_turn_simd(enum rm_twin_simd simd);

#endif
