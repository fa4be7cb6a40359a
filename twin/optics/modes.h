// SPDX-License-Identifier: Apache-2.0
/** Normal modes of a one-turn matrix.
 *
 * M = A R A⁻¹ with R a rotation, perhaps damped, of each mode's plane. Columns 2k and 2k + 1 of A are the real and the
 * imaginary part of mode k's eigenvector, normalised by the symplectic form and turned so that A is in standard form
 * (E. Forest, Phys. Rev. E 58, 2481). Modes are in the order of the planes in which they are largest.
 */
#ifndef RM_OPTICS_MODES_H
#define RM_OPTICS_MODES_H

#include <ringmaster/twin.h>

struct rm_modes {
    /** 2 or 3. */
    int count;

    double a[36];
    /** Fractional part, 0 to 1. */
    double tune[3];
    /** Damping rate per turn. */
    double damping_rate[3];
};

/** Finds the modes of the leading 2 `count` × 2 `count` part of `m`. RM_E_CONFIG names an unstable plane. */
enum rm_code rm_modes_find(double const m[36], int count, struct rm_modes *modes, struct rm_error *error);

/** R_k = A_k S_k (A⁻¹)_k Sᵀ (A. Wolski, Phys. Rev. ST Accel. Beams 9, 024001): the mode's part of a beam matrix per
 * emittance; `a` need not be symplectic. */
void rm_modes_matrices(double const a[36], int count, double r[3][36]);

/** Phase of a mode in the frame of `a`. */
double rm_modes_phase(double const a[36], int mode);

#endif
