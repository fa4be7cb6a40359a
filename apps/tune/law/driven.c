// SPDX-License-Identifier: Apache-2.0
#include "driven.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { PLACE, LOG_DAMPING, LOG_POWER, LOG_FLOOR, UNKNOWNS, STEPS_MOST = 60, SMOOTHED = 2 };

static double const PI = 3.14159265358979323846;
/** Of the change of −ln L, at which it ends. */
static double const CONVERGED = 1e-6;

struct driven_fit {
    float const *periodogram;
    uint32_t turns, windows;
    struct tune_band band;
    /** Q N, ln λ, ln (R²/2), ln F. */
    double unknown[UNKNOWNS];
    double information[UNKNOWNS][UNKNOWNS], slope[UNKNOWNS];
    /** −ln L. */
    double unlikely;
};

static double window_of_line(uint32_t turns, double damping, double bins) {
    double complex const q = cexp(-damping + I * 2.0 * PI * bins / turns);
    double complex const last = cexp(-damping * turns + I * 2.0 * PI * bins);
    double complex const beside = 1.0 - q;
    return creal(turns * (1.0 + q) / beside - 2.0 * q * (1.0 - last) / (beside * beside));
}

/** −ln L, and where asked its slope and information. */
static void fit_look(struct driven_fit *fit, bool slopes) {
    double const small = 1e-4, damping = exp(fit->unknown[LOG_DAMPING]);
    double const power = exp(fit->unknown[LOG_POWER]), floor = exp(fit->unknown[LOG_FLOOR]);
    fit->unlikely = 0.0;
    memset(fit->slope, 0, sizeof fit->slope);
    memset(fit->information, 0, sizeof fit->information);
    for (uint32_t k = fit->band.first; k <= fit->band.last; ++k) {
        double const bins = fit->unknown[PLACE] - k, line = window_of_line(fit->turns, damping, bins);
        double const mean = power * line + floor, excess = (double)fit->periodogram[k] / mean;
        fit->unlikely += fit->windows * (log(mean) + excess);
        if (!slopes)
            continue;
        double const moved = window_of_line(fit->turns, damping, bins + small);
        double const wider = window_of_line(fit->turns, damping * (1.0 + small), bins);
        double const by[UNKNOWNS] = {power * (moved - line) / (small * mean), power * (wider - line) / (small * mean),
                                     power * line / mean, floor / mean};
        for (int i = 0; i < UNKNOWNS; ++i) {
            fit->slope[i] += fit->windows * (excess - 1.0) * by[i];
            for (int j = 0; j < UNKNOWNS; ++j)
                fit->information[i][j] += fit->windows * by[i] * by[j];
        }
    }
}

/** Solves A x = b, A symmetric and positive; false if it is not. By Cholesky. */
static bool unknowns_solve(double a[UNKNOWNS][UNKNOWNS], double const *b, double *x) {
    double l[UNKNOWNS][UNKNOWNS] = {{0.0}};
    for (int i = 0; i < UNKNOWNS; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = a[i][j];
            for (int k = 0; k < j; ++k)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0.0))
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (int i = 0; i < UNKNOWNS; ++i) {
        x[i] = b[i];
        for (int k = 0; k < i; ++k)
            x[i] -= l[i][k] * x[k];
        x[i] /= l[i][i];
    }
    for (int i = UNKNOWNS - 1; i >= 0; --i) {
        for (int k = i + 1; k < UNKNOWNS; ++k)
            x[i] -= l[k][i] * x[k];
        x[i] /= l[i][i];
    }
    return true;
}

/** Diagonal of the inverse of the information. */
static bool fit_variances(struct driven_fit *fit, double *variance) {
    for (int i = 0; i < UNKNOWNS; ++i) {
        double unit[UNKNOWNS] = {0.0}, column[UNKNOWNS];
        unit[i] = 1.0;
        if (!unknowns_solve(fit->information, unit, column))
            return false;
        variance[i] = column[i];
    }
    return true;
}

/** From a smoothed periodogram: its top, its mean away from that, and what is above. */
static bool fit_start(struct driven_fit *fit) {
    double top = 0.0, least = INFINITY, sum = 0.0;
    uint32_t const count = fit->band.last - fit->band.first + 1;
    fit->unknown[PLACE] = fit->band.first;
    for (uint32_t k = fit->band.first + SMOOTHED; k + SMOOTHED <= fit->band.last; ++k) {
        double mean = 0.0;
        for (uint32_t i = k - SMOOTHED; i <= k + SMOOTHED; ++i)
            mean += (double)fit->periodogram[i] / (2 * SMOOTHED + 1);
        if (mean > top) {
            top = mean;
            fit->unknown[PLACE] = k;
        }
        least = fmin(least, mean);
        sum += mean;
    }
    /* The least of many means is some third of the floor; too low a floor does no harm. */
    double const floor = least, above = sum - count * floor;
    if (!(least > 0.0) || !(top > floor) || !(above > 0.0) || !isfinite(sum))
        return false;
    double const square = (double)fit->turns * fit->turns;
    double const power = above / square, damping = 2.0 * fit->turns * power / (top - floor);
    fit->unknown[LOG_POWER] = log(power);
    fit->unknown[LOG_DAMPING] = log(fmin(0.5, fmax(damping, 1.0 / fit->turns)));
    fit->unknown[LOG_FLOOR] = log(floor);
    return true;
}

/** A step that makes it likelier, by as much less than a whole one as that takes. */
static bool fit_step(struct driven_fit *fit, double *gain) {
    double step[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; ++i)
        fit->information[i][i] *= 1.0 + 1e-9;
    if (!unknowns_solve(fit->information, fit->slope, step))
        return false;
    double const width = fmax(1.0, exp(fit->unknown[LOG_DAMPING]) * fit->turns / PI);
    double shrink = fmin(1.0, width / (fabs(step[PLACE]) + 1e-30));
    for (int i = LOG_DAMPING; i < UNKNOWNS; ++i)
        shrink = fmin(shrink, 1.0 / (fabs(step[i]) + 1e-30));
    struct driven_fit const before = *fit;
    for (int tries = 0; tries < 8; ++tries, shrink *= 0.3) {
        *fit = before;
        for (int i = 0; i < UNKNOWNS; ++i)
            fit->unknown[i] += shrink * step[i];
        fit_look(fit, true);
        if (fit->unlikely <= before.unlikely) {
            *gain = before.unlikely - fit->unlikely;
            return true;
        }
    }
    *fit = before;
    *gain = 0.0;
    return true;
}

bool tune_driven_fit(float const *periodogram, uint32_t turns, uint32_t windows, struct tune_band band,
                     struct tune_driven *driven) {
    struct driven_fit fit = {.periodogram = periodogram, .turns = turns, .windows = windows, .band = band};
    double variance[UNKNOWNS], gain = INFINITY;
    *driven = (struct tune_driven){.tune = NAN};
    if (!fit_start(&fit))
        return false;
    fit_look(&fit, true);
    for (int i = 0; i < STEPS_MOST && gain > CONVERGED; ++i)
        if (!fit_step(&fit, &gain))
            return false;
    double const place = fit.unknown[PLACE], damping = exp(fit.unknown[LOG_DAMPING]);
    bool const is_within = place > band.first && place < band.last && damping * turns / PI < band.last - band.first;
    if (!(gain <= CONVERGED) || !is_within || !fit_variances(&fit, variance))
        return false;
    driven->tune = place / turns;
    driven->tune_sigma = sqrt(variance[PLACE]) / turns;
    driven->damping_per_turn = damping;
    driven->damping_sigma = damping * sqrt(variance[LOG_DAMPING]);
    driven->rms = sqrt(2.0 * exp(fit.unknown[LOG_POWER]));
    driven->rms_sigma = 0.5 * driven->rms * sqrt(variance[LOG_POWER]);
    driven->floor = exp(fit.unknown[LOG_FLOOR]);
    driven->is_resolved = damping * turns / PI >= TUNE_RESOLVED_BINS;
    return true;
}
