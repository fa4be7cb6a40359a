// SPDX-License-Identifier: Apache-2.0
#include "detector.h"

#include <math.h>
#include <string.h>

static double const PI = 3.14159265358979323846;

static double or_else(double value, double otherwise) { return isfinite(value) ? value : otherwise; }

static struct premortem_growth_plan growth_plan(struct premortem_plan const *plan, double steps_per_second) {
    return (struct premortem_growth_plan){
        .steps = plan->steps,
        .slow_steps = plan->slow_steps,
        .memory_windows = plan->memory_windows,
        .floor = plan->floor,
        .low_per_step = or_else(plan->band_low_hz, 0.0) / steps_per_second,
        .high_per_step = or_else(plan->band_high_hz, 0.0) / steps_per_second,
        .steps_per_second = steps_per_second,
    };
}

void premortem_detector_begin(struct premortem_detector *detector, double steps_per_second, bool has_golden) {
    struct premortem_plan const *plan = detector->plan;
    struct premortem_growth_plan growth;
    detector->level = NAN;
    detector->latch.run = 0;
    switch ((enum premortem_kind)plan->kind) {
    case PREMORTEM_RISE:
        premortem_rise_begin(&detector->law.rise, plan->steps, plan->slow_steps);
        break;
    case PREMORTEM_RUNAWAY:
        premortem_runaway_begin(&detector->law.runaway, plan->steps, has_golden ? 0 : plan->slow_steps,
                                (enum premortem_distance)plan->distance, plan->ahead_steps);
        break;
    case PREMORTEM_EXCURSION:
        premortem_excursion_begin(&detector->law.excursion, plan->steps, plan->slow_steps, plan->circle);
        break;
    case PREMORTEM_GROWTH:
        growth = growth_plan(plan, steps_per_second);
        premortem_growth_begin(&detector->law.growth, &growth);
        break;
    case PREMORTEM_DRIFT:
        premortem_drift_begin(&detector->law.drift, plan->steps, or_else(plan->low, -INFINITY),
                              or_else(plan->high, INFINITY), steps_per_second);
        break;
    }
}

static double mean_of(struct premortem_values const *values, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; ++i)
        sum += values->is_good[i] ? values->value[i] : 0.0;
    return sum / values->good;
}

static double detector_level(struct premortem_detector *detector, struct premortem_values const *values,
                             double warning) {
    uint32_t const count = detector->signals;
    switch ((enum premortem_kind)detector->plan->kind) {
    case PREMORTEM_RISE:
        return premortem_rise_take(&detector->law.rise, mean_of(values, count), warning);
    case PREMORTEM_RUNAWAY:
        return premortem_runaway_take(&detector->law.runaway, values->value, values->is_good, values->first,
                                      values->seen, count);
    case PREMORTEM_EXCURSION:
        return premortem_excursion_take(&detector->law.excursion, mean_of(values, count), warning);
    case PREMORTEM_GROWTH:
        return premortem_growth_take(&detector->law.growth, mean_of(values, count));
    case PREMORTEM_DRIFT:
        return premortem_drift_take(&detector->law.drift, mean_of(values, count));
    }
    return NAN;
}

static enum premortem_state detector_state(struct premortem_detector const *detector, double warning, bool is_masked) {
    if (detector->latch.is_latched)
        return PREMORTEM_ALARM;
    if (detector->bad_run > PREMORTEM_BRIDGE_STEPS)
        return PREMORTEM_BLIND;
    if (is_masked)
        return PREMORTEM_MASKED;
    if (isnan(detector->level))
        return PREMORTEM_LEARNS;
    return detector->level >= warning ? PREMORTEM_WARNS : PREMORTEM_WATCHES;
}

bool premortem_detector_step(struct premortem_detector *detector, struct premortem_values const *values,
                             struct premortem_wishes const *wishes, rm_turn turn, bool *anew) {
    struct premortem_plan const *plan = detector->plan;
    double const warning = plan->warning * wishes->threshold;
    bool const is_bad = values->good == 0 || values->good < plan->good * detector->signals - 1e-9;
    bool alarms = false;
    *anew = false;
    if (is_bad) {
        ++detector->bad;
        detector->bad_run += detector->bad_run < UINT32_MAX;
        if (detector->bad_run > PREMORTEM_BRIDGE_STEPS)
            detector->level = NAN;
    } else if (detector->bad_run > PREMORTEM_BRIDGE_STEPS) {
        detector->bad_run = 0;
        *anew = true;
    } else {
        struct premortem_rule const rule = {wishes->threshold, plan->confirm, wishes->is_masked};
        detector->bad_run = 0;
        detector->level = detector_level(detector, values, warning);
        alarms = premortem_latch_take(&detector->latch, &rule, detector->level, turn);
    }
    detector->state = detector_state(detector, warning, wishes->is_masked);
    return alarms;
}

double premortem_detector_delay_steps(struct premortem_plan const *plan, double steps_per_second) {
    double const confirm = plan->confirm - 1.0;
    double const width_hz = or_else(plan->band_high_hz - plan->band_low_hz, 0.0);
    switch ((enum premortem_kind)plan->kind) {
    case PREMORTEM_GROWTH:
        return confirm + (double)PREMORTEM_FIT_WINDOWS * plan->steps +
               (width_hz > 0.0 ? steps_per_second / (PI * width_hz) : 0.0);
    case PREMORTEM_DRIFT:
        return confirm + 0.5 * PREMORTEM_DRIFT_BLOCKS * plan->steps;
    case PREMORTEM_RISE:
    case PREMORTEM_RUNAWAY:
    case PREMORTEM_EXCURSION:
        break;
    }
    return confirm + 0.5 * (plan->steps - 1.0);
}
