// SPDX-License-Identifier: Apache-2.0
/** The law: an integral of the tunes' errors, through the inverse of a matrix of two by two, within limits.
 *
 *     move = share · gain · M⁻¹ · error            share = 2π · integral_hz · seconds of a step
 *     offset += move
 *
 * offset is by how much each family of quadrupoles stands off from where it stood when the loop was closed. A move that is too long for one step, or would take a family beyond its excursion, is
 * shortened in both families alike: so it points where it did, and the two planes stay uncoupled. The offset is all the
 * state there is, so nothing winds up at a limit.
 */
#ifndef TUNEFEEDBACK_INTEGRATOR_H
#define TUNEFEEDBACK_INTEGRATOR_H

#include <stdbool.h>

enum {
    /** Index 0 is horizontal, 1 vertical. */
    TUNEFEEDBACK_PLANES = 2,
    TUNEFEEDBACK_FAMILIES = 2,
};

struct tunefeedback_integrator {
    /** [family][plane] A per tune. */
    double inverse[TUNEFEEDBACK_FAMILIES][TUNEFEEDBACK_PLANES];
    /** Share of an error that a step takes away, at a gain of 1. */
    double share;
    /** [family] most that it moves in a step, A. */
    double step_a[TUNEFEEDBACK_FAMILIES];
    /** [family] range of the offset, A; 0 is in it. */
    double low_a[TUNEFEEDBACK_FAMILIES], high_a[TUNEFEEDBACK_FAMILIES];
    /** [family] A. */
    double offset_a[TUNEFEEDBACK_FAMILIES];
};

/** Inverts matrix[plane][family], tune per A. False where two families do not move two planes: its determinant is less
 * than a hundredth of what columns of these lengths could have. */
bool tunefeedback_invert(double const matrix[TUNEFEEDBACK_PLANES][TUNEFEEDBACK_FAMILIES],
                         double inverse[TUNEFEEDBACK_FAMILIES][TUNEFEEDBACK_PLANES]);

/** A move by these errors, wanted less measured, in the limits of a step and of the excursions. Returns whether an
 * excursion is what shortens it. */
bool tunefeedback_move(struct tunefeedback_integrator const *integrator, double const error[TUNEFEEDBACK_PLANES],
                       double gain, double move_a[TUNEFEEDBACK_FAMILIES]);

#endif
