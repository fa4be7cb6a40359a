// SPDX-License-Identifier: Apache-2.0
/** Detector `excursion`: a phase leaves its place, to either side.
 *
 *     level = |m − b|    in the lanes' unit (µrad)
 *
 * The phase is unwrapped first: from one record to the next it goes the short way round a full circle C, so it may move
 * by less than C/2. Where C is 0 nothing is unwrapped. m is the boxcar over L records of the unwrapped mean of the
 * signals (boxcar.h), b the slow baseline (baseline.h). Filter: m. Delay: (L − 1)/2 steps; a jump of h crosses θ in
 * the ⌈L θ/h⌉th record that has it.
 */
#ifndef PREMORTEM_EXCURSION_H
#define PREMORTEM_EXCURSION_H

#include "baseline.h"
#include "boxcar.h"

struct premortem_excursion {
    struct premortem_boxcar mean;
    struct premortem_baseline baseline;
    /** C, in the lanes' unit. */
    double circle;
    /** The last value, unwrapped; NaN before the first. */
    double unwrapped;
};

void premortem_excursion_begin(struct premortem_excursion *excursion, uint32_t steps, uint32_t slow_steps,
                               double circle);

/** Takes the value of a record, and returns the level; NaN while the baseline is learned. The baseline stands still
 * where the level is `warning` or more. */
double premortem_excursion_take(struct premortem_excursion *excursion, double value, double warning);

#endif
