// SPDX-License-Identifier: Apache-2.0
/** Detector `rise`: more is lost than before.
 *
 *     level = m − b    in the lanes' unit (counts)
 *
 * v is the mean over the signals of a record, m the boxcar over its last L records (boxcar.h), b the slow baseline
 * (baseline.h). Filter: m. Delay: (L − 1)/2 steps; a jump of h counts crosses θ in the ⌈L θ/h⌉th record that has it.
 */
#ifndef PREMORTEM_RISE_H
#define PREMORTEM_RISE_H

#include "baseline.h"
#include "boxcar.h"

struct premortem_rise {
    struct premortem_boxcar mean;
    struct premortem_baseline baseline;
};

/** Begins anew; `steps` is L, `slow_steps` the baseline's S. */
void premortem_rise_begin(struct premortem_rise *rise, uint32_t steps, uint32_t slow_steps);

/** Takes the value of a record, and returns the level; NaN while the baseline is learned. The baseline stands still
 * where the level is `warning` or more. */
double premortem_rise_take(struct premortem_rise *rise, double value, double warning);

#endif
