// SPDX-License-Identifier: Apache-2.0
#include "excursion.h"

#include <math.h>

void premortem_excursion_begin(struct premortem_excursion *excursion, uint32_t steps, uint32_t slow_steps,
                               double circle) {
    premortem_boxcar_begin(&excursion->mean, steps);
    excursion->baseline = (struct premortem_baseline){.steps = slow_steps};
    excursion->circle = circle;
    excursion->unwrapped = NAN;
}

double premortem_excursion_take(struct premortem_excursion *excursion, double value, double warning) {
    double const way = value - excursion->unwrapped;
    bool const wraps = excursion->circle > 0.0 && isfinite(way);
    excursion->unwrapped = wraps ? excursion->unwrapped + remainder(way, excursion->circle) : value;
    double const mean = premortem_boxcar_take(&excursion->mean, excursion->unwrapped, NULL);
    if (!premortem_baseline_is_learned(&excursion->baseline)) {
        premortem_baseline_take(&excursion->baseline, excursion->unwrapped);
        return NAN;
    }
    double const level = fabs(mean - excursion->baseline.value);
    if (level < warning)
        premortem_baseline_take(&excursion->baseline, excursion->unwrapped);
    return level;
}
