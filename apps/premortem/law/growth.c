// SPDX-License-Identifier: Apache-2.0
#include "growth.h"

#include <math.h>

static double const PI = 3.14159265358979323846;
static double const ERRORS = 3.0;

static bool has_band(struct premortem_growth_plan const *plan) { return plan->high_per_step > 0.0; }

void premortem_growth_begin(struct premortem_growth *growth, struct premortem_growth_plan const *plan) {
    *growth = (struct premortem_growth){.plan = *plan, .level = NAN, .rate_hz = NAN, .error_hz = NAN};
    growth->settle_steps = plan->slow_steps;
    if (!has_band(plan))
        return;
    double const width = plan->high_per_step - plan->low_per_step;
    double const centre = 2.0 * PI * sqrt(plan->low_per_step * plan->high_per_step);
    double const alpha = tan(PI * width);
    double const a0 = 1.0 + alpha;
    growth->b0 = alpha / a0;
    growth->a1 = -2.0 * cos(centre) / a0;
    growth->a2 = (1.0 - alpha) / a0;
    growth->settle_steps = (uint32_t)ceil(5.0 / (PI * width)); /* e⁻⁵ is left of what it began with */
}

static double filter_of(struct premortem_growth *growth, double value) {
    if (!has_band(&growth->plan)) {
        uint32_t const taken =
            growth->settled < growth->plan.slow_steps ? growth->settled + 1 : growth->plan.slow_steps;
        growth->mean += (value - growth->mean) / taken;
        return value - growth->mean;
    }
    double const out = growth->b0 * (value - growth->x2) - growth->a1 * growth->y1 - growth->a2 * growth->y2;
    growth->x2 = growth->x1;
    growth->x1 = value;
    growth->y2 = growth->y1;
    growth->y1 = out;
    return out;
}

/** All windows are one older, and weigh less; then the newest at age 0. */
static void fit_take(struct premortem_growth_fit *fit, double log_amplitude, double forget) {
    fit->time2 = forget * (fit->time2 + 2.0 * fit->time + fit->weight);
    fit->time = forget * (fit->time + fit->weight);
    fit->log_time = forget * (fit->log_time + fit->log) /* age 0 adds nothing */;
    fit->weight = forget * fit->weight + 1.0;
    fit->log = forget * fit->log + log_amplitude;
    fit->log2 = forget * fit->log2 + log_amplitude * log_amplitude;
    ++fit->windows;
}

/** Slope per window, towards the newest, and its standard error. */
static bool fit_slope(struct premortem_growth_fit const *fit, double forget, double *slope, double *error) {
    if (fit->windows < PREMORTEM_FIT_WINDOWS)
        return false;
    double const time = fit->time / fit->weight, log = fit->log / fit->weight;
    double const spread = fit->time2 - fit->weight * time * time;
    double const together = fit->log_time - fit->weight * time * log;
    double const residual = fmax(0.0, fit->log2 - fit->weight * log * log - together * together / spread);
    double const most = (1.0 + forget) / (1.0 - forget);
    double const windows = fmin((double)fit->windows, most);
    *slope = -together / spread;
    *error = sqrt(residual / fit->weight * windows / (windows - 2.0) / (spread / fit->weight * windows));
    return true;
}

static double judge_window(struct premortem_growth *growth) {
    double const forget = 1.0 - 1.0 / growth->plan.memory_windows;
    double const per_second = growth->plan.steps_per_second / growth->plan.steps;
    growth->amplitude = sqrt(growth->squares / growth->plan.steps);
    growth->rate_hz = growth->error_hz = NAN;
    if (!(growth->amplitude >= growth->plan.floor) || growth->amplitude == 0.0) {
        growth->fit = (struct premortem_growth_fit){.windows = 0};
        return 0.0;
    }
    fit_take(&growth->fit, log(growth->amplitude), forget);
    double slope, error;
    if (!fit_slope(&growth->fit, forget, &slope, &error))
        return 0.0;
    growth->rate_hz = slope * per_second;
    growth->error_hz = error * per_second;
    return fmax(0.0, growth->rate_hz - ERRORS * growth->error_hz);
}

double premortem_growth_take(struct premortem_growth *growth, double value) {
    double const out = filter_of(growth, value);
    if (growth->settled < growth->settle_steps) {
        ++growth->settled;
        return NAN;
    }
    growth->squares += out * out;
    if (++growth->in_window == growth->plan.steps) {
        growth->level = judge_window(growth);
        growth->squares = 0.0;
        growth->in_window = 0;
    }
    return growth->level;
}
