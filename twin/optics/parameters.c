// SPDX-License-Identifier: Apache-2.0
/** What follows from the radiation integrals (M. Sands, SLAC-121). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"
#include "integrals.h"

static double const light_m_s = 2.99792458e8, electron_mass_ev = 510998.95069;
static double const electron_radius_m = 2.8179403205e-15, hbar_c_ev_m = 197.3269804593025e-9;

static double of_cavities(struct rm_twin const *twin, double *lowest_hz) {
    double voltage = 0;
    *lowest_hz = INFINITY;
    for (uint32_t i = 0; i < twin->count; ++i)
        if (twin->elements[i].kind == RM_ELEMENT_CAVITY) {
            voltage += twin->elements[i].voltage_v;
            *lowest_hz = fmin(*lowest_hz, twin->elements[i].frequency_hz);
        }
    return voltage;
}

/** Without a voltage the longitudinal plane has no tune, phase or length: they stay 0. */
static enum rm_code longitudinal_parameters(struct rm_ring_parameters *p, double energy_ev, double frequency_hz,
                                            double beta, struct rm_error *error) {
    if (p->voltage_v == 0)
        return RM_OK;
    if (!(p->energy_loss_ev <= p->voltage_v))
        return rm_fail(error, RM_E_CONFIG,
                       "the cavities' voltage, %.4g V, is lower than the energy radiated in a turn, %.4g eV; raise it",
                       p->voltage_v, p->energy_loss_ev);
    double const harmonic = round(frequency_hz / p->revolution_frequency_hz);
    p->synchronous_phase_rad = M_PI - asin(p->energy_loss_ev / p->voltage_v);
    p->synchrotron_tune =
        sqrt(fabs(p->slip_factor * harmonic * p->voltage_v * cos(p->synchronous_phase_rad) / energy_ev / 2 / M_PI)) /
        beta;
    double const circumference_m = beta * light_m_s / p->revolution_frequency_hz;
    if (p->synchrotron_tune > 0)
        p->bunch_length_m =
            beta * fabs(p->slip_factor) * circumference_m / 2 / M_PI / p->synchrotron_tune * p->energy_spread;
    return RM_OK;
}

static enum rm_code derive_parameters(struct rm_twin const *twin, struct rm_ring_parameters *p,
                                      struct rm_error *error) {
    struct rm_lattice_facts const *const info = &twin->lattice->info;
    double const periods = info->periodicity != 0 ? info->periodicity : 1, energy = info->energy_ev;
    double const gamma = energy / (info->rest_energy_ev != 0 ? info->rest_energy_ev : electron_mass_ev);
    double const beta = sqrt(1 - 1 / (gamma * gamma)), circumference_m = periods * twin->lattice->s_m[twin->count];
    double const c_q = 55.0 / 32 / sqrt(3) * hbar_c_ev_m / electron_mass_ev;
    double const c_gamma = 4 * M_PI * electron_radius_m / 3 / pow(electron_mass_ev, 3);
    double frequency_hz;
    if (!(p->i[1] > 0))
        return rm_fail(error, RM_E_CONFIG, "no dipole bends: there are no radiation integrals");
    p->voltage_v = periods * of_cavities(twin, &frequency_hz);
    p->energy_loss_ev = c_gamma / 2 / M_PI * pow(energy, 4) * p->i[1];
    p->damping_partition[0] = 1 - p->i[3] / p->i[1];
    p->damping_partition[1] = 1;
    p->damping_partition[2] = 2 + p->i[3] / p->i[1];
    p->revolution_frequency_hz = beta * light_m_s / circumference_m;
    for (int k = 0; k < 3; ++k) {
        if (!(p->damping_partition[k] > 0))
            return rm_fail(error, RM_E_CONFIG, "the %s plane is not damped: its partition number is %.3g",
                           k == 0 ? "horizontal" : "longitudinal", p->damping_partition[k]);
        p->damping_time_s[k] = 2 * energy / p->energy_loss_ev / p->revolution_frequency_hz / p->damping_partition[k];
    }
    p->momentum_compaction = p->i[0] / circumference_m;
    p->slip_factor = 1 / (gamma * gamma) - p->momentum_compaction;
    p->emittance_x_m = c_q * gamma * gamma * p->i[4] / p->damping_partition[0] / p->i[1];
    p->energy_spread = sqrt(c_q * gamma * gamma * p->i[2] / p->damping_partition[2] / p->i[1]);
    return longitudinal_parameters(p, energy, frequency_hz, beta, error);
}

static enum rm_code compute_parameters(struct rm_twin const *twin, uint32_t *refpts, struct rm_optics *optics,
                                       struct rm_ring_parameters *parameters, struct rm_error *error) {
    struct rm_optics_options const options = {.chromaticity = true};
    struct rm_optics_summary ring;
    double const periods = twin->lattice->info.periodicity != 0 ? twin->lattice->info.periodicity : 1;
    for (uint32_t i = 0; i <= twin->count; ++i)
        refpts[i] = i;
    enum rm_code const code = rm_twin_linopt6(twin, &options, refpts, twin->count + 1, &ring, optics, error);
    if (code != RM_OK)
        return code;
    memset(parameters, 0, sizeof *parameters);
    rm_integrals(twin, optics, parameters->i);
    for (int i = 0; i < 5; ++i)
        parameters->i[i] *= periods;
    for (int k = 0; k < 2; ++k) {
        double const tune = periods * ring.tune[k];
        parameters->tune[k] = tune - floor(tune);
        parameters->chromaticity[k] = periods * ring.chromaticity[k];
    }
    return derive_parameters(twin, parameters, error);
}

enum rm_code rm_twin_ring_parameters(struct rm_twin const *twin, struct rm_ring_parameters *parameters,
                                     struct rm_error *error) {
    size_t const count = (size_t)twin->count + 1;
    struct rm_optics *const optics = malloc(count * sizeof *optics);
    uint32_t *const refpts = malloc(count * sizeof *refpts);
    enum rm_code const code = optics != NULL && refpts != NULL
                                  ? compute_parameters(twin, refpts, optics, parameters, error)
                                  : rm_fail(error, RM_E_NO_SPACE, "no memory for optics at %zu points", count);
    free(optics);
    free(refpts);
    return code;
}
