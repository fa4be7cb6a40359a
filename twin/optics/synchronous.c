// SPDX-License-Identifier: Apache-2.0
#include "synchronous.h"

#include <math.h>

#include "../lattice_parts.h"
#include "base/fail.h"

static double const light_m_s = 2.99792458e8;
enum { MOST_ITERATIONS = 50 };

double rm_radiated_ev(struct rm_route const *route) {
    double i2 = 0;
    for (uint32_t i = 0; i < route->count; ++i) {
        struct rm_leg const *const leg = &route->legs[i];
        if ((leg->kind == RM_LEG_MULTIPOLE || leg->kind == RM_LEG_E2_BODY) && leg->of.multipole.radiates) {
            double const h = leg->of.multipole.curvature;
            i2 += h * h * leg->of.multipole.length_m;
        }
    }
    return route->loss_per_kick * i2 * route->twin->lattice->info.energy_ev;
}

/** What the cavities give to a particle at `ct`, over the energy, and its derivative by ct. */
static double energy_gain(struct rm_route const *route, double ct, double *slope) {
    double sum = 0;
    *slope = 0;
    for (uint32_t i = 0; i < route->count; ++i) {
        if (route->legs[i].kind != RM_LEG_CAVITY)
            continue;
        struct rm_leg_cavity const *const cavity = &route->legs[i].of.cavity;
        double const wave = 2 * M_PI * cavity->frequency_hz / light_m_s;
        double const phase = wave * (ct - cavity->time_lag_m) - cavity->phase_lag_rad;
        sum -= cavity->gain * sin(phase);
        *slope -= cavity->gain * wave * cos(phase);
    }
    return sum;
}

static struct rm_leg_cavity const *main_cavity(struct rm_route const *route, double *voltage) {
    struct rm_leg_cavity const *lowest = NULL;
    *voltage = 0;
    for (uint32_t i = 0; i < route->count; ++i) {
        struct rm_leg_cavity const *const cavity = &route->legs[i].of.cavity;
        if (route->legs[i].kind == RM_LEG_CAVITY && cavity->gain != 0 &&
            (lowest == NULL || cavity->frequency_hz < lowest->frequency_hz))
            lowest = cavity;
    }
    for (uint32_t i = 0; lowest != NULL && i < route->count; ++i)
        if (route->legs[i].kind == RM_LEG_CAVITY && route->legs[i].of.cavity.frequency_hz == lowest->frequency_hz)
            *voltage += route->legs[i].of.cavity.gain;
    return lowest;
}

enum rm_code rm_synchronous(struct rm_route const *route, double *path_m, double *slip, double start[6],
                            struct rm_error *error) {
    struct rm_lattice_facts const *const info = &route->twin->lattice->info;
    double voltage, slope;
    struct rm_leg_cavity const *const cavity = main_cavity(route, &voltage);
    double const f = cavity != NULL ? cavity->frequency_hz : 0,
                 length_m = route->twin->lattice->s_m[route->twin->count];
    double const over_gamma = info->rest_energy_ev / info->energy_ev, beta = sqrt(1 - over_gamma * over_gamma);
    if (cavity == NULL || !(f > 0))
        return rm_fail(error, RM_E_CONFIG, "a cavity's frequency is %g Hz; it must be above 0", f);
    double const harmonic = round(f * length_m / beta / light_m_s);
    *path_m = beta * light_m_s * harmonic / f - length_m;
    *slip = -beta * light_m_s * harmonic / (f * f);
    if (start == NULL)
        return RM_OK;
    double const loss = rm_radiated_ev(route) / info->energy_ev;
    if (!(loss <= fabs(voltage)))
        return rm_fail(error, RM_E_CONFIG,
                       "the cavities' voltage, %.4g V, is lower than what is radiated in a turn, %.4g eV; raise it",
                       fabs(voltage) * info->energy_ev, loss * info->energy_ev);
    double const wave = 2 * M_PI * f / light_m_s;
    double ct = cavity->time_lag_m + (cavity->phase_lag_rad - asin(loss / voltage)) / wave;
    for (int i = 0; i < MOST_ITERATIONS; ++i) { /* cavities of other frequencies */
        double const missing = loss - energy_gain(route, ct, &slope), step = missing / slope;
        if (!isfinite(step) || fabs(step) > 0.25 / wave)
            break;
        ct += step;
        if (fabs(step) < 1e-12)
            break;
    }
    for (int i = 0; i < 6; ++i)
        start[i] = 0;
    start[RM_CT] = ct;
    return RM_OK;
}
