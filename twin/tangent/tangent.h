// SPDX-License-Identifier: Apache-2.0
/** A particle and its neighbourhood: where it is, and how that depends on where it began.
 *
 * A pass advances both at once. The particle is six doubles; its Jacobian is held row by row, each row a vector over
 * what it is derived by, so that a thin kick, which adds multiples of some coordinates to others, costs as many fused
 * multiply-adds on vectors as it has nonzero entries. Derivatives are exact: no step is chosen and none must be small.
 */
#ifndef RM_TANGENT_TANGENT_H
#define RM_TANGENT_TANGENT_H

#include <stdint.h>

/** Names of coordinates and of the lanes of a row. */
enum { RM_X, RM_PX, RM_Y, RM_PY, RM_DELTA, RM_CT, RM_LANE_FREQUENCY, RM_LANES = 8 };

/** A row of a Jacobian: derivatives by the six coordinates at the start, and by the frequency of all cavities (1/Hz).
 * The last lane is 0. */
typedef double rm_lanes __attribute__((vector_size(64)));

struct rm_tangent {
    rm_lanes j[6];
    double z[6];
    /** Energy gained in cavities since the start, over the design energy. */
    double gained;
};

/** The diffusion of the beam by photons, carried back to the start: Σ_k b_k u_k u_kᵀ with u_k = M_k⁻¹ v_k, where M_k is
 * the matrix from the start to kick k and v_k the direction in which a photon emitted there moves the particle. */
struct rm_diffusion {
    rm_lanes d[6];
};

#endif
