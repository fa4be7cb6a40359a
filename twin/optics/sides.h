// SPDX-License-Identifier: Apache-2.0
/** Optics a little above and below a momentum, and what their difference says. */
#ifndef RM_OPTICS_SIDES_H
#define RM_OPTICS_SIDES_H

#include "closed.h"
#include "modes.h"

struct rm_side {
    struct rm_closed closed;
    struct rm_modes modes;
    /** Derivative of the orbit at the start, per δ (4D) or Hz (6D). */
    double change[6];
};

/** Computes both sides, [0] above: their momenta (6D: frequencies) differ by `options->dp_step`. `apart` is by how
 * much δ differs. Matrices at the points are computed only when `options->w` asks for them. Call rm_sides_free
 * whatever it returns. */
enum rm_code rm_sides_find(struct rm_twin const *twin, struct rm_optics_options const *options, uint32_t const *refpts,
                           uint32_t refpt_count, struct rm_closed const *middle, struct rm_side sides[2], double *apart,
                           struct rm_error *error);
void rm_sides_free(struct rm_side sides[2]);

void rm_sides_chromaticity(struct rm_side const sides[2], double apart, double chromaticity[3]);

/** Second order dispersion at point i. */
void rm_sides_dispersion(struct rm_side const sides[2], double apart, uint32_t i, double change[4]);

/** Twiss functions of two planes on both sides, and their derivatives; W by B. Montague (LEP Note 165). */
struct rm_sides_twiss {
    /** [side][plane]. */
    double beta[2][2], alpha[2][2];
};
void rm_sides_functions(struct rm_sides_twiss const *twiss, double apart, double w[2], double dalpha[2],
                        double dbeta[2]);

/** Derivative of a phase, of which only the part below a turn is known on each side. */
double rm_sides_phase(double above_rad, double below_rad, double apart);

/** The options when none are given. */
extern struct rm_optics_options const rm_optics_plain;

#endif
