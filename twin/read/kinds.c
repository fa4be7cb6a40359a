// SPDX-License-Identifier: Apache-2.0
#include "kinds.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

struct named_kind {
    char const *name;
    int kind;
};

static struct named_kind const classes[] = {
    {"marker", RM_ELEMENT_MARKER},       {"monitor", RM_ELEMENT_MONITOR},
    {"bpm", RM_ELEMENT_MONITOR},         {"drift", RM_ELEMENT_DRIFT},
    {"collimator", RM_ELEMENT_DRIFT},    {"dipole", RM_ELEMENT_DIPOLE},
    {"bend", RM_ELEMENT_DIPOLE},         {"sbend", RM_ELEMENT_DIPOLE},
    {"rbend", RM_ELEMENT_DIPOLE},        {"quadrupole", RM_ELEMENT_QUADRUPOLE},
    {"quad", RM_ELEMENT_QUADRUPOLE},     {"sextupole", RM_ELEMENT_SEXTUPOLE},
    {"sext", RM_ELEMENT_SEXTUPOLE},      {"octupole", RM_ELEMENT_OCTUPOLE},
    {"multipole", RM_ELEMENT_MULTIPOLE}, {"thinmultipole", RM_ELEMENT_THIN_MULTIPOLE},
    {"corrector", RM_ELEMENT_CORRECTOR}, {"rfcavity", RM_ELEMENT_CAVITY},
    {"rf", RM_ELEMENT_CAVITY},           {"m66", RM_ELEMENT_MATRIX},
    {"matrix66", RM_ELEMENT_MATRIX},     {"aperture", RM_ELEMENT_APERTURE},
    {"ap", RM_ELEMENT_APERTURE},         {"solenoid", RM_ELEMENT_SOLENOID},
    {"wiggler", RM_ELEMENT_WIGGLER},     {"wig", RM_ELEMENT_WIGGLER},
    {"ringparam", RM_KIND_RING},
};

/** pyAT 0.9's classes that its enable_6d() switches on, less those above. */
static char const *const untracked[] = {
    "EnergyLoss",       "SimpleRadiation", "SimpleQuantDiff",      "QuantumDiffusion",   "WakeElement",
    "ResonatorElement", "ResWallElement",  "LongResonatorElement", "BeamLoadingElement", "CrabCavity",
};

static struct named_kind const by_pass[] = {
    {"BendLinearPass", RM_ELEMENT_DIPOLE},
    {"BndMPoleSymplectic4RadPass", RM_ELEMENT_DIPOLE},
    {"BndMPoleSymplectic4Pass", RM_ELEMENT_DIPOLE},
    {"QuadLinearPass", RM_ELEMENT_QUADRUPOLE},
    {"StrMPoleSymplectic4Pass", RM_ELEMENT_MULTIPOLE},
    {"StrMPoleSymplectic4RadPass", RM_ELEMENT_MULTIPOLE},
    {"CorrectorPass", RM_ELEMENT_CORRECTOR},
    {"RFCavityPass", RM_ELEMENT_CAVITY},
    {"ThinMPolePass", RM_ELEMENT_THIN_MULTIPOLE},
    {"Matrix66Pass", RM_ELEMENT_MATRIX},
    {"AperturePass", RM_ELEMENT_APERTURE},
    {"SolenoidLinearPass", RM_ELEMENT_SOLENOID},
    {"GWigSymplecticPass", RM_ELEMENT_WIGGLER},
};

/** The first whose field an element has; Polynom… and KickAngle come after these. */
static struct named_kind const by_field[] = {
    {"FullGap", RM_ELEMENT_DIPOLE},  {"FringeInt1", RM_ELEMENT_DIPOLE},    {"FringeInt2", RM_ELEMENT_DIPOLE},
    {"gK", RM_ELEMENT_DIPOLE},       {"EntranceAngle", RM_ELEMENT_DIPOLE}, {"ExitAngle", RM_ELEMENT_DIPOLE},
    {"Voltage", RM_ELEMENT_CAVITY},  {"Frequency", RM_ELEMENT_CAVITY},     {"HarmNumber", RM_ELEMENT_CAVITY},
    {"PhaseLag", RM_ELEMENT_CAVITY}, {"TimeLag", RM_ELEMENT_CAVITY},       {"Periodicity", RM_KIND_RING},
    {"Limits", RM_ELEMENT_APERTURE}, {"M66", RM_ELEMENT_MATRIX},           {"K", RM_ELEMENT_QUADRUPOLE},
};

static enum rm_pass const passes[RM_ELEMENT_KINDS] = {
    [RM_ELEMENT_MARKER] = RM_PASS_IDENTITY,
    [RM_ELEMENT_MONITOR] = RM_PASS_IDENTITY,
    [RM_ELEMENT_DRIFT] = RM_PASS_DRIFT,
    [RM_ELEMENT_DIPOLE] = RM_PASS_BND_MPOLE,
    [RM_ELEMENT_QUADRUPOLE] = RM_PASS_STR_MPOLE,
    [RM_ELEMENT_SEXTUPOLE] = RM_PASS_STR_MPOLE,
    [RM_ELEMENT_OCTUPOLE] = RM_PASS_STR_MPOLE,
    [RM_ELEMENT_MULTIPOLE] = RM_PASS_STR_MPOLE,
    [RM_ELEMENT_THIN_MULTIPOLE] = RM_PASS_THIN_MPOLE,
    [RM_ELEMENT_CORRECTOR] = RM_PASS_CORRECTOR,
    [RM_ELEMENT_CAVITY] = RM_PASS_RF_CAVITY,
    [RM_ELEMENT_MATRIX] = RM_PASS_MATRIX66,
    [RM_ELEMENT_APERTURE] = RM_PASS_APERTURE,
    [RM_ELEMENT_SOLENOID] = RM_PASS_SOLENOID_LINEAR,
    [RM_ELEMENT_WIGGLER] = RM_PASS_GWIG,
};

int rm_kind_by_class(char const *name) {
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; ++i)
        if (strcasecmp(name, classes[i].name) == 0)
            return classes[i].kind;
    return -1;
}

bool rm_kind_is_untracked(char const *name) {
    for (size_t i = 0; i < sizeof untracked / sizeof untracked[0]; ++i)
        if (strcasecmp(name, untracked[i]) == 0)
            return true;
    return false;
}

static int kind_by_pass(char const *pass) {
    for (size_t i = 0; i < sizeof by_pass / sizeof by_pass[0]; ++i)
        if (strcmp(pass, by_pass[i].name) == 0)
            return by_pass[i].kind;
    return -1;
}

/** The lowest order of PolynomB that is not 0, or -1. */
static int lowest_order(struct rm_value const *fields) {
    struct rm_value const *const polynom = rm_value_numbers(fields, "PolynomB");
    for (uint32_t n = 0; polynom != NULL && n < polynom->count; ++n)
        if (polynom->numbers[n] != 0)
            return (int)n;
    return -1;
}

static int kind_by_polynom(struct rm_value const *fields, char const *pass, double length_m) {
    switch (lowest_order(fields)) {
    case 1:
        return RM_ELEMENT_QUADRUPOLE;
    case 2:
        return RM_ELEMENT_SEXTUPOLE;
    case 3:
        return RM_ELEMENT_OCTUPOLE;
    default:
        break;
    }
    bool const thick = length_m > 0 || strncmp(pass, "StrMPoleSymplectic4", strlen("StrMPoleSymplectic4")) == 0;
    return thick ? RM_ELEMENT_MULTIPOLE : RM_ELEMENT_THIN_MULTIPOLE;
}

static int kind_by_fields(struct rm_value const *fields, char const *pass) {
    for (size_t i = 0; i < sizeof by_field / sizeof by_field[0]; ++i)
        if (rm_value_find(fields, by_field[i].name) != NULL)
            return by_field[i].kind;
    double length_m = 0;
    rm_value_number(fields, "Length", &length_m);
    if (rm_value_find(fields, "PolynomB") != NULL || rm_value_find(fields, "PolynomA") != NULL)
        return kind_by_polynom(fields, pass, length_m);
    if (rm_value_find(fields, "KickAngle") != NULL)
        return RM_ELEMENT_CORRECTOR;
    if (length_m > 0)
        return RM_ELEMENT_DRIFT;
    return rm_value_find(fields, "GCR") != NULL ? RM_ELEMENT_MONITOR : RM_ELEMENT_MARKER;
}

int rm_kind_of_fields(struct rm_value const *fields) {
    char const *const names[] = {rm_value_text(fields, "Class"), rm_value_text(fields, "FamName")};
    for (int i = 0; i < 2; ++i) {
        int const kind = names[i] != NULL ? rm_kind_by_class(names[i]) : -1;
        if (kind >= 0)
            return kind;
    }
    char const *const pass = rm_value_text(fields, "PassMethod");
    int const kind = pass != NULL ? kind_by_pass(pass) : -1;
    return kind >= 0 ? kind : kind_by_fields(fields, pass != NULL ? pass : "");
}

enum rm_pass rm_kind_pass(enum rm_element_kind kind) { return passes[kind]; }
