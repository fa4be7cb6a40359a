// SPDX-License-Identifier: Apache-2.0
/** How the beam's own motion (oscillation.h) follows from the lattice as it stands: its optics, what the BPMs see of it,
 * and what each magnet does to the tunes between two looks.
 *
 * With A the normalising matrix at the start of the lattice and M the matrix from there to a BPM, the BPM sees x and y
 * of M A (X₁, P₁, X₂, P₂), and D δ + D' δ²: amplitudes, phases and coupling are those of the lattice with its errors.
 *
 * Of a gradient that changes by ΔK the tune of mode u changes at once by
 *
 *     ΔQ_u = (1/4π) ∫ (β_ux − β_uy) ΔK ds
 *
 * along the magnet (E. Courant, H. Snyder, Ann. Phys. 3, 1, 1958, eq. 4.37), β_ux being the square of what x shows of
 * the mode. The next look finds the tunes themselves.
 */
#ifndef RM_INSTRUMENTS_MOTION_OPTICS_H
#define RM_INSTRUMENTS_MOTION_OPTICS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/twin.h>

#include "oscillation.h"

struct rm_machine;

/** Parts of the motion that a BPM sees: all but the phase. */
enum { RM_SEEN_PARTS = RM_OSCILLATION_PHASE };

/** What the background found, for the fast part. */
struct rm_motion_optics {
    struct rm_oscillation_optics optics;
    /** [BPM][x, y][part] in m per unit of the part, of the true beam. */
    double (*weight)[2][RM_SEEN_PARTS];
    /** [magnet][mode] change of the tune per relative change of the gradient. */
    double (*slope)[2];
    /** [magnet] relative change at the look. */
    double *change;
};

/** The background's own. */
struct rm_optics_points {
    /** Elements at which the optics are wanted, ascending: the start, BPMs, magnets. */
    uint32_t *element;
    uint32_t count;
    /** [count] */
    struct rm_optics *optics;
    struct rm_optics_summary ring;
    /** The same at a momentum that is lower, [0], and higher: by so much, with these tunes, and orbits at the BPMs. */
    struct rm_optics_side {
        double delta, tune[2];
        double (*orbit)[RM_COORDINATES];
    } side[2];
    /** [magnet] relative change of its gradient, as was set last. */
    double *change;
    /** [winding] change of its field. */
    double *winding_change;
};

bool rm_optics_points_make(struct rm_machine *machine);
void rm_optics_points_free(struct rm_optics_points *points);

bool rm_motion_optics_make(struct rm_machine const *machine, struct rm_motion_optics *found);
void rm_motion_optics_free(struct rm_motion_optics *found);

/** Optics, chromaticities and damping at the points, about the orbit that was found. */
enum rm_code rm_optics_points_look(struct rm_machine *machine, struct rm_orbit_options const *orbit,
                                   struct rm_error *error);

/** What follows from the last look. */
void rm_motion_optics_fill(struct rm_machine const *machine, struct rm_motion_optics *found);

/** The longitudinal plane, once, before the first look. RM_E_CONFIG: there is none, with these cavities. */
enum rm_code rm_machine_find_rf(struct rm_machine *machine, struct rm_error *error);

/** Sets 2π h α_c so that the one cavity has the synchrotron tune of the lattice at the last look:
 * 4 sin²(π Q_s) = −2π h α_c V cos φ_s. */
void rm_machine_fit_slip(struct rm_machine *machine);

#endif
