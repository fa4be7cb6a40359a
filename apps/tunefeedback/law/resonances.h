// SPDX-License-Identifier: Apache-2.0
/** Tunes that are not to be asked for: too near to a resonance, or on the other side of one.
 *
 * Tunes are those that turns show, 0 to 0.5: fractional tunes above a half are folded. So the lines are
 *
 *     an end at 0      integer
 *     an end at 0.5    half-integer
 *     x = y            coupling, of the difference, or of the sum where one of the two tunes is folded
 *
 * The way from one pair of tunes to another is straight, so it crosses the coupling line where its ends lie on two sides.
 */
#ifndef TUNEFEEDBACK_RESONANCES_H
#define TUNEFEEDBACK_RESONANCES_H

#include <stdbool.h>
#include <stddef.h>

/** Least distances, tune. */
struct tunefeedback_resonances {
    double integer, half, coupling;
};

/** Why not these tunes, in words into text[bytes]: false. `from` is where the way begins; NULL: nowhere. */
bool tunefeedback_resonances_allow(struct tunefeedback_resonances const *margin, double const tune[2],
                                   double const from[2], char *text, size_t bytes);

#endif
