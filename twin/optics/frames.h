// SPDX-License-Identifier: Apache-2.0
/** The modes' frame and their R matrices at many points: the part of linear optics that grows with their number. */
#ifndef RM_OPTICS_FRAMES_H
#define RM_OPTICS_FRAMES_H

#include <ringmaster/twin.h>

#include "../tangent/tangent.h"
#include "modes.h"

/** Fills in closed_orbit, m, a and r at each point. `simd` does not change the results beyond rounding. */
void rm_frames_fill(struct rm_tangent const *points, uint32_t count, struct rm_modes const *modes,
                    struct rm_optics *optics, enum rm_simd simd);

#endif
