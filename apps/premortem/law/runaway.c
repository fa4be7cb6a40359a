// SPDX-License-Identifier: Apache-2.0
#include "runaway.h"

#include <math.h>

void premortem_runaway_begin(struct premortem_runaway *runaway, uint32_t steps, uint32_t first_steps,
                             enum premortem_distance distance, double ahead_steps) {
    premortem_boxcar_begin(&runaway->mean, steps);
    runaway->distance = distance;
    runaway->ahead_steps = ahead_steps;
    runaway->first_steps = first_steps;
    runaway->taken = 0;
}

static void learn_orbit(double const *value, bool const *is_good, double *first, uint32_t *seen, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (is_good[i])
            first[i] += (value[i] - first[i]) / ++seen[i];
}

/** A signal that was not good once while the orbit was made has no first value, and does not count. */
static double distance_of(struct premortem_runaway const *runaway, double const *value, bool const *is_good,
                          double const *first, uint32_t const *seen, uint32_t count) {
    double squares = 0.0, worst = 0.0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!is_good[i] || seen[i] == 0)
            continue;
        double const way = value[i] - first[i];
        squares += way * way;
        worst = fmax(worst, fabs(way));
        ++used;
    }
    if (used == 0)
        return NAN;
    return runaway->distance == PREMORTEM_WORST ? worst : sqrt(squares / used);
}

double premortem_runaway_take(struct premortem_runaway *runaway, double const *value, bool const *is_good,
                              double *first, uint32_t *seen, uint32_t count) {
    if (runaway->taken < runaway->first_steps) {
        ++runaway->taken;
        learn_orbit(value, is_good, first, seen, count);
        return NAN;
    }
    double const distance = distance_of(runaway, value, is_good, first, seen, count);
    if (!isfinite(distance))
        return NAN;
    double gone;
    double const mean = premortem_boxcar_take(&runaway->mean, distance, &gone);
    double const rate_per_step = (distance - gone) / runaway->mean.length;
    return mean + runaway->ahead_steps * fmax(0.0, rate_per_step);
}
