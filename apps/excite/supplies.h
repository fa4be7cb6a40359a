// SPDX-License-Identifier: Apache-2.0
/** Where the supplies stand, their ways to other positions, and their sines. All arrays lie in one piece of memory, so
 * that a copy of it is all there is. */
#ifndef EXCITE_SUPPLIES_H
#define EXCITE_SUPPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "law/sines.h"

struct excite_supplies {
    uint32_t count, moving;
    /** Supplies of which it is not known yet where they stand. */
    uint32_t unknown;
    size_t bytes;
    void *memory;
    struct excite_sines sines;
    /** [supply] where it stands, NaN: not known yet; what was asked for last; and what it is to be, with its sine. */
    double *standing, *asked, *value;
    /** [supply] the way it is on: from, to, turns that it takes (0: none), and the turn at which it began. */
    double *from, *to, *way_turns, *begun;
    /** [supply] the sines of the run, as the settings had them at its beginning. */
    double *amplitude, *hz, *phase;
};

/** False: there is no memory. */
bool excite_supplies_make(struct excite_supplies *supplies, uint32_t count);
void excite_supplies_free(struct excite_supplies *supplies);

/** At the first step: all stand where they were sent to, whatever the positions say. */
void excite_supplies_begin(struct excite_supplies *supplies, double const *sent, double const *position, double step_s);

/** Goes to the step at `turn`: supplies whose position was put begin their way, and those on their way go on. `sent` is
 * where those stand that were not known. `slew` [supply] is per step of `step_turns`. True: a supply stands elsewhere. */
bool excite_supplies_move(struct excite_supplies *supplies, double turn, double const *sent, double const *position,
                          double const *slew, double step_turns, double least_turns);

/** Takes the sines of a run. */
void excite_supplies_excite(struct excite_supplies *supplies, double const *amplitude, double const *hz,
                            double const *phase);

/** What each is to be at a step of the run, in `value`; the largest excursion. */
double excite_supplies_add_sines(struct excite_supplies *supplies, uint64_t step, double envelope);

/** Writes the values within their limits, and no further than `slew` from what is there. True: one was cut. */
bool excite_supplies_put(struct excite_supplies const *supplies, double const *low, double const *high,
                         double const *slew, double *restrict setpoint);

#endif
