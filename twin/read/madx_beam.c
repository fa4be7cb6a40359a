// SPDX-License-Identifier: Apache-2.0
/** BEAM: particle and energy, which of several MAD-X takes first; then cavities and radiation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "madx.h"

static double const light_m_per_s = 299792458.0;

static bool take_beam_attribute(struct rm_madx *madx, struct rm_madx_object const *beam, char const *name,
                                double *number) {
    struct rm_madx_view const view = {.object = beam};
    return beam == NULL || rm_madx_take(madx, &view, name, number);
}

/** Positrons unless it says otherwise, as in MAD-X. */
static bool take_particle(struct rm_madx *madx, struct rm_madx_object const *beam) {
    struct rm_ring_facts *const facts = &madx->reading->facts;
    char const *const word = beam != NULL ? rm_madx_word(madx, &beam->attributes, "particle") : NULL;
    double mass_gev = NAN;
    if (word != NULL && strlen(word) >= sizeof facts->particle)
        return rm_reading_fail(madx->reading, "the name of the particle is too long");
    snprintf(facts->particle, sizeof facts->particle, "%s", word != NULL ? word : "positron");
    if (rm_particle_by_name(facts->particle, &facts->rest_energy_ev, &facts->charge_e))
        return true;
    if (!take_beam_attribute(madx, beam, "mass", &mass_gev) ||
        !take_beam_attribute(madx, beam, "charge", &facts->charge_e))
        return false;
    facts->rest_energy_ev = 1e9 * mass_gev;
    if (isnan(mass_gev) || isnan(facts->charge_e))
        return rm_reading_fail(madx->reading, "particle %s is not known; give BEAM its mass (GeV) and charge",
                               facts->particle);
    return true;
}

/** By energy, pc, gamma, beta or brho, in this order; 1 GeV unless it says one. */
static bool take_energy(struct rm_madx *madx, struct rm_madx_object const *beam) {
    struct rm_ring_facts *const facts = &madx->reading->facts;
    double const mass_gev = 1e-9 * facts->rest_energy_ev;
    static char const *const names[] = {"energy", "pc", "gamma", "beta", "brho"};
    int which = 0;
    double value = 1;
    while (which < 5 && (beam == NULL || rm_madx_attribute(&beam->attributes, names[which]) == NULL))
        ++which;
    if (which < 5 && !take_beam_attribute(madx, beam, names[which], &value))
        return false;
    double energy_gev = value;
    if (which == 1)
        energy_gev = hypot(value, mass_gev);
    else if (which == 2)
        energy_gev = value * mass_gev;
    else if (which == 3)
        energy_gev = mass_gev / sqrt(1 - value * value);
    else if (which == 4)
        energy_gev = hypot(1e-9 * value * light_m_per_s * fabs(facts->charge_e), mass_gev);
    facts->energy_ev = 1e9 * energy_gev;
    if (isfinite(facts->energy_ev) && facts->energy_ev > facts->rest_energy_ev)
        return true;
    return rm_reading_fail(madx->reading,
                           "BEAM has %g GeV, which is not above the rest energy of %s; set ENERGY in GeV", energy_gev,
                           facts->particle);
}

/** Turns per second. */
static double revolution_hz(struct rm_lattice_reading const *reading) {
    double const ratio = reading->facts.rest_energy_ev / reading->facts.energy_ev;
    double length_m = 0;
    for (uint32_t i = 0; i < reading->count; ++i)
        length_m += reading->elements[i].length_m;
    return sqrt(1 - ratio * ratio) * light_m_per_s / length_m;
}

/** Frequency from harmonic number, or the other way around. */
static bool complete_cavities(struct rm_lattice_reading *reading) {
    double const turn_hz = revolution_hz(reading);
    for (uint32_t i = 0; i < reading->count; ++i) {
        struct rm_element *const cavity = &reading->elements[i];
        if (cavity->kind != RM_ELEMENT_CAVITY)
            continue;
        if (isnan(cavity->frequency_hz))
            cavity->frequency_hz = cavity->harmonic_number * turn_hz;
        double const harmonic = round(cavity->frequency_hz / turn_hz);
        if (!(harmonic >= 0 && harmonic < UINT32_MAX))
            return rm_reading_fail(reading,
                                   "cavity %.63s has %g Hz in a ring of %g turns/s; expected a frequency in MHz",
                                   cavity->name, cavity->frequency_hz, turn_hz);
        if (cavity->harmonic_number == 0)
            cavity->harmonic_number = (uint32_t)harmonic;
    }
    return true;
}

/** AT's enable_6d: cavities on, radiation in dipoles, quadrupoles and wigglers. */
static void radiate_everywhere(struct rm_lattice_reading *reading) {
    for (uint32_t i = 0; i < reading->count; ++i) {
        struct rm_element *const element = &reading->elements[i];
        bool const magnet = element->kind == RM_ELEMENT_DIPOLE || element->kind == RM_ELEMENT_QUADRUPOLE ||
                            element->kind == RM_ELEMENT_WIGGLER;
        if (magnet && rm_pass_name(element->pass, RM_RADIATION_CLASSICAL) != NULL)
            element->radiation = RM_RADIATION_CLASSICAL;
        if (element->kind == RM_ELEMENT_CAVITY)
            element->pass = RM_PASS_RF_CAVITY;
    }
}

bool rm_madx_beam(struct rm_madx *madx, char const *used) {
    char name[RM_MADX_NAME_BYTES + 8];
    snprintf(name, sizeof name, "beam%%%.*s", RM_MADX_NAME_BYTES, used);
    struct rm_madx_object const *beam = rm_madx_find(madx, name);
    if (beam == NULL)
        beam = rm_madx_find(madx, "beam%");
    double radiates = 0;
    if (beam != NULL)
        rm_madx_at(madx, &beam->where, "beam");
    if (!take_particle(madx, beam) || !take_energy(madx, beam) ||
        !take_beam_attribute(madx, beam, "radiate", &radiates))
        return false;
    if (!complete_cavities(madx->reading))
        return false;
    if (radiates != 0)
        radiate_everywhere(madx->reading);
    madx->reading->facts.periodicity = 1;
    return true;
}
