// SPDX-License-Identifier: Apache-2.0
/** Whether a closed orbit gets through the apertures, which matrices and their derivatives know nothing of. */
#ifndef RM_TWIN_OPTICS_APERTURE_H
#define RM_TWIN_OPTICS_APERTURE_H

#include <ringmaster/twin.h>

/** Tracks the closed orbit for a turn, if there is an aperture. RM_E_CONFIG names the element at which it is lost. */
enum rm_code rm_orbit_check(struct rm_twin const *twin, double const z[6], struct rm_error *error);

#endif
