// SPDX-License-Identifier: Apache-2.0
/** Detector `runaway`: the orbit goes away from where it was.
 *
 *     d     = RMS over the good signals of v − g, or the largest |v − g|
 *     level = m + T max(0, r)         in the lanes' unit (nm)
 *
 * g is the first orbit: the mean of each signal over the first S records. m is the boxcar of d over L records
 * (boxcar.h), and r the rate of d between its two ends, (d(n) − d(n−L)) / L. So T, in steps, is how far it looks ahead:
 * the level is the distance that d will have then, if it goes on. With T = 0 the rate does not count.
 * Filter: m. Delay: (L − 1)/2 steps; a jump of h crosses θ in the ⌈L θ/h − T⌉th record that has it, in the first at
 * the least. The price: d has noise σ, and T r has √2 σ T/L.
 */
#ifndef PREMORTEM_RUNAWAY_H
#define PREMORTEM_RUNAWAY_H

#include "boxcar.h"

enum premortem_distance { PREMORTEM_RMS, PREMORTEM_WORST };

struct premortem_runaway {
    struct premortem_boxcar mean;
    enum premortem_distance distance;
    /** T, in steps. */
    double ahead_steps;
    /** Records that the first orbit is the mean of, and how many have come. */
    uint32_t first_steps, taken;
};

void premortem_runaway_begin(struct premortem_runaway *runaway, uint32_t steps, uint32_t first_steps,
                             enum premortem_distance distance, double ahead_steps);

/** Takes `count` signals of a record; `is_good` says which have a value. `first` has the first orbit, which is made
 * there, and `seen` how many values each is the mean of: `count` each, zeroed when it begins. Returns the level; NaN
 * while the first orbit is made. */
double premortem_runaway_take(struct premortem_runaway *runaway, double const *value, bool const *is_good,
                              double *first, uint32_t *seen, uint32_t count);

#endif
