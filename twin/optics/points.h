// SPDX-License-Identifier: Apache-2.0
/** Optics at each of many points, from normal modes at the start and the matrices from there. */
#ifndef RM_OPTICS_POINTS_H
#define RM_OPTICS_POINTS_H

#include "closed.h"
#include "modes.h"

/** Fills in the optics. `dispersion` is that of the orbit at the start, for 4D. Phases are left between -π and π. */
void rm_points_fill(struct rm_twin const *twin, struct rm_closed const *closed, struct rm_modes const *modes,
                    double const dispersion[6], uint32_t const *refpts, uint32_t count, struct rm_optics *optics);

#endif
