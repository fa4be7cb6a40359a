// SPDX-License-Identifier: Apache-2.0
/** The synchronous particle: where a particle must be for the RF. */
#ifndef RM_OPTICS_SYNCHRONOUS_H
#define RM_OPTICS_SYNCHRONOUS_H

#include "../tangent/route.h"

/** For a route with cavities. `path_m` is the path by which ct grows in each turn: β c h / f less the ring's length. h
 * is the number of RF periods that fit the ring, f the lowest of the cavities' frequencies. `slip` is the derivative
 * of the path by f. `start`, if not NULL, gets the origin at the phase whose voltage makes up for what dipoles
 * radiate. RM_E_CONFIG: the voltage is too low for that. */
enum rm_code rm_synchronous(struct rm_route const *route, double *path_m, double *slip, double start[6],
                            struct rm_error *error);

/** C_γ/2π E⁴ I2 of this period: what radiating dipoles take in a turn, eV. */
double rm_radiated_ev(struct rm_route const *route);

#endif
