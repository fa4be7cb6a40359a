// SPDX-License-Identifier: Apache-2.0
#include "rise.h"

#include <math.h>

void premortem_rise_begin(struct premortem_rise *rise, uint32_t steps, uint32_t slow_steps) {
    premortem_boxcar_begin(&rise->mean, steps);
    rise->baseline = (struct premortem_baseline){.steps = slow_steps};
}

double premortem_rise_take(struct premortem_rise *rise, double value, double warning) {
    double const mean = premortem_boxcar_take(&rise->mean, value, NULL);
    if (!premortem_baseline_is_learned(&rise->baseline)) {
        premortem_baseline_take(&rise->baseline, value);
        return NAN;
    }
    double const level = mean - rise->baseline.value;
    if (level < warning)
        premortem_baseline_take(&rise->baseline, value);
    return level;
}
