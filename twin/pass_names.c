// SPDX-License-Identifier: Apache-2.0
/** The Accelerator Toolbox's names of passes and kinds. */
#include <stddef.h>
#include <string.h>

#include <ringmaster/lattice.h>

struct pass_names {
    char const *name[3]; /**< by enum rm_radiation; NULL: there is no such variant */
};

static struct pass_names const names[RM_PASSES] = {
    [RM_PASS_IDENTITY] = {{"IdentityPass"}},
    [RM_PASS_DRIFT] = {{"DriftPass"}},
    [RM_PASS_EXACT_DRIFT] = {{"ExactDriftPass"}},
    [RM_PASS_STR_MPOLE] = {{"StrMPoleSymplectic4Pass", "StrMPoleSymplectic4RadPass", "StrMPoleSymplectic4QuantPass"}},
    [RM_PASS_BND_MPOLE] = {{"BndMPoleSymplectic4Pass", "BndMPoleSymplectic4RadPass", "BndMPoleSymplectic4QuantPass"}},
    [RM_PASS_BND_MPOLE_E2] = {{"BndMPoleSymplectic4E2Pass", "BndMPoleSymplectic4E2RadPass"}},
    [RM_PASS_BND_STR_MPOLE] = {{"BndStrMPoleSymplectic4Pass"}},
    [RM_PASS_QUAD_LINEAR] = {{"QuadLinearPass"}},
    [RM_PASS_BEND_LINEAR] = {{"BendLinearPass"}},
    [RM_PASS_CORRECTOR] = {{"CorrectorPass"}},
    [RM_PASS_THIN_MPOLE] = {{"ThinMPolePass"}},
    [RM_PASS_RF_CAVITY] = {{"RFCavityPass"}},
    [RM_PASS_MATRIX66] = {{"Matrix66Pass", "Matrix66RadPass"}},
    [RM_PASS_APERTURE] = {{"AperturePass"}},
    [RM_PASS_SOLENOID_LINEAR] = {{"SolenoidLinearPass"}},
    [RM_PASS_GWIG] = {{"GWigSymplecticPass", "GWigSymplecticRadPass"}},
};

static char const *const kinds[RM_ELEMENT_KINDS] = {
    [RM_ELEMENT_MARKER] = "Marker",
    [RM_ELEMENT_MONITOR] = "Monitor",
    [RM_ELEMENT_DRIFT] = "Drift",
    [RM_ELEMENT_DIPOLE] = "Dipole",
    [RM_ELEMENT_QUADRUPOLE] = "Quadrupole",
    [RM_ELEMENT_SEXTUPOLE] = "Sextupole",
    [RM_ELEMENT_OCTUPOLE] = "Octupole",
    [RM_ELEMENT_MULTIPOLE] = "Multipole",
    [RM_ELEMENT_THIN_MULTIPOLE] = "ThinMultipole",
    [RM_ELEMENT_CORRECTOR] = "Corrector",
    [RM_ELEMENT_CAVITY] = "RFCavity",
    [RM_ELEMENT_MATRIX] = "M66",
    [RM_ELEMENT_APERTURE] = "Aperture",
    [RM_ELEMENT_SOLENOID] = "Solenoid",
    [RM_ELEMENT_WIGGLER] = "Wiggler",
};

char const *rm_pass_name(enum rm_pass pass, enum rm_radiation radiation) { return names[pass].name[radiation]; }

bool rm_pass_by_name(char const *name, enum rm_pass *pass, enum rm_radiation *radiation) {
    for (int p = 0; p < RM_PASSES; ++p)
        for (int r = 0; r < 3; ++r)
            if (names[p].name[r] != NULL && strcmp(name, names[p].name[r]) == 0) {
                *pass = (enum rm_pass)p;
                *radiation = (enum rm_radiation)r;
                return true;
            }
    return false;
}

char const *rm_element_kind_name(enum rm_element_kind kind) { return kinds[kind]; }
