// SPDX-License-Identifier: Apache-2.0
/** What a file says of the ring: a RingParam element first, then the elements themselves, as pyAT's params_filter does.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"

static double const light_m_per_s = 299792458.0;

struct particle {
    char const *name;
    double rest_energy_ev, charge_e;
};

/* Rest energies of CODATA 2018, as pyAT has them; its antiproton weighs as much as a muon, which is not followed. */
static double const electron_ev = 510998.95069;
static double const proton_ev = 938272089.4300001;
static double const muon_ev = 105658375.5;

bool rm_particle_by_name(char const *name, double *rest_energy_ev, double *charge_e) {
    struct particle const particles[] = {{"relativistic", 0, -1},       {"electron", electron_ev, -1},
                                         {"positron", electron_ev, 1},  {"proton", proton_ev, 1},
                                         {"antiproton", proton_ev, -1}, {"posmuon", muon_ev, 1},
                                         {"negmuon", muon_ev, -1}};
    for (size_t i = 0; i < sizeof particles / sizeof particles[0]; ++i)
        if (strcmp(name, particles[i].name) == 0) {
            *rest_energy_ev = particles[i].rest_energy_ev;
            *charge_e = particles[i].charge_e;
            return true;
        }
    return false;
}

static bool take_particle(struct rm_lattice_reading *reading, struct rm_value const *fields) {
    struct rm_ring_facts *const facts = &reading->facts;
    struct rm_value const *const particle = rm_value_find(fields, "Particle");
    if (particle == NULL || particle->count == 0)
        return true;
    bool const own = particle->kind == RM_VALUE_FIELDS;
    if (!rm_take_name(reading, own ? particle : fields, own ? "name" : "Particle", facts->particle))
        return false;
    if (rm_particle_by_name(facts->particle, &facts->rest_energy_ev, &facts->charge_e))
        return true;
    if (own && rm_value_number(particle, "rest_energy", &facts->rest_energy_ev) &&
        rm_value_number(particle, "charge", &facts->charge_e))
        return true;
    return rm_reading_fail(reading,
                           "the particle \"%s\" is not known; give it rest_energy (eV) and charge (e), or name "
                           "electron, positron, proton, ...",
                           facts->particle);
}

bool rm_reading_ring(struct rm_lattice_reading *reading, struct rm_value const *fields) {
    struct rm_ring_facts *const facts = &reading->facts;
    if (facts->has_parameters)
        return true;
    facts->has_parameters = true;
    return rm_take_name(reading, fields, "FamName", facts->name) &&
           rm_take_number(reading, fields, "Energy", &facts->energy_ev) &&
           rm_take_number(reading, fields, "Periodicity", &facts->periodicity) &&
           rm_take_number(reading, fields, "cell_harmnumber", &facts->cell_harmonic_number) &&
           take_particle(reading, fields);
}

static bool find_energy(struct rm_lattice_reading *reading, struct rm_lattice_facts *info) {
    struct rm_ring_facts const *const facts = &reading->facts;
    double const said[] = {facts->energy_ev, facts->cavity_energy_ev, facts->element_energy_ev};
    for (int i = 0; i < 3; ++i)
        if (!isnan(said[i])) {
            info->energy_ev = said[i];
            return true;
        }
    return rm_reading_fail(reading, "it does not say at which energy the ring works; give it a RingParam element with "
                                    "Energy in eV, or its elements an Energy");
}

/** From the sum of all bending angles, when the file does not say it. */
static bool find_periodicity(struct rm_lattice_reading *reading, struct rm_lattice_facts *info) {
    double periodicity = reading->facts.periodicity;
    if (isnan(periodicity) || periodicity <= 0) {
        double angle_rad = 0;
        for (uint32_t i = 0; i < reading->count; ++i)
            if (reading->elements[i].kind == RM_ELEMENT_DIPOLE)
                angle_rad += reading->elements[i].bending_angle_rad;
        periodicity = angle_rad == 0 ? 1 : fmax(1, round(2 * M_PI / angle_rad));
    }
    if (!(periodicity >= 1 && periodicity <= RM_MOST_ELEMENTS) || periodicity != floor(periodicity))
        return rm_reading_fail(reading, "a periodicity of %g; expected a whole number from 1", periodicity);
    info->periodicity = (uint32_t)periodicity;
    return true;
}

static double relative_speed(struct rm_lattice_facts const *info) {
    double const ratio = info->energy_ev > 0 ? info->rest_energy_ev / info->energy_ev : 0;
    return ratio < 1 ? sqrt(1 - ratio * ratio) : 1;
}

/** Of the cavity of lowest frequency: how often it swings while the beam goes around. */
static double cell_harmonic(struct rm_lattice_reading const *reading, struct rm_lattice_facts const *info) {
    struct rm_element const *lowest = NULL;
    double length_m = 0;
    for (uint32_t i = 0; i < reading->count; ++i) {
        struct rm_element const *const element = &reading->elements[i];
        length_m += element->length_m;
        if (element->kind == RM_ELEMENT_CAVITY && (lowest == NULL || element->frequency_hz < lowest->frequency_hz))
            lowest = element;
    }
    if (lowest == NULL)
        return fmax(0, reading->facts.cell_harmonic_number);
    double const swings = round(lowest->frequency_hz * length_m / (relative_speed(info) * light_m_per_s));
    return swings > 0 ? swings : (double)lowest->harmonic_number / info->periodicity;
}

bool rm_reading_info(struct rm_lattice_reading *reading, struct rm_lattice_facts *info) {
    struct rm_ring_facts const *const facts = &reading->facts;
    *info = (struct rm_lattice_facts){0};
    rm_reading_at(reading, "%s", "");
    memcpy(info->name, facts->name, sizeof info->name);
    snprintf(info->particle, sizeof info->particle, "%s",
             facts->particle[0] != '\0' ? facts->particle : "relativistic");
    info->rest_energy_ev = isnan(facts->rest_energy_ev) ? 0 : facts->rest_energy_ev;
    info->charge_e = isnan(facts->charge_e) ? -1 : facts->charge_e;
    if (!find_energy(reading, info) || !find_periodicity(reading, info))
        return false;
    double const harmonic = round(cell_harmonic(reading, info) * info->periodicity);
    info->harmonic_number = harmonic >= 0 && harmonic < UINT32_MAX ? (uint32_t)harmonic : 0;
    return true;
}
