// SPDX-License-Identifier: Apache-2.0
/** An element from its fields, by the Accelerator Toolbox's names and pyAT's defaults. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../lattice_parts.h"
#include "fields.h"
#include "kinds.h"

enum { MOST_STEPS = 100000, DEFAULT_STEPS = 10, FRINGE_INTEGRALS = 5 };

/** What would change the beam but has no place in an element of ours. */
static bool refuse_untracked(struct rm_lattice_reading *reading, struct rm_value const *fields, enum rm_pass pass) {
    bool const looks = pass == RM_PASS_BND_STR_MPOLE || pass == RM_PASS_BEND_LINEAR; /* at ByError */
    double scaling = 1;
    double field_error = 0;
    if (!rm_take_number(reading, fields, "FieldScaling", &scaling) ||
        (looks && !rm_take_number(reading, fields, "ByError", &field_error)))
        return false;
    if (scaling != 1)
        return rm_reading_fail(reading, "FieldScaling is %g, and the twin has only 1; scale the field itself", scaling);
    if (field_error != 0)
        return rm_reading_fail(reading, "ByError is %g, and the twin has only 0; write it into PolynomB", field_error);
    return true;
}

bool rm_refuse_untracked(struct rm_lattice_reading *reading, char const *class, char const *name) {
    if (class == NULL || !rm_kind_is_untracked(class))
        return true;
    return rm_reading_fail(reading,
                           "element %u \"%.60s\" is of class %s, which acts on the beam in 6D and which the twin does "
                           "not track; remove it, or replace it by a Marker if its effect may be left out",
                           reading->count, name != NULL ? name : "", class);
}

/** pyAT writes a misalignment twice: as dx, dy, … and as the T1, T2, R1, R2 that follow. Only the latter are read. */
static bool refuse_lone_shift(struct rm_lattice_reading *reading, struct rm_value const *fields,
                              struct rm_element const *element) {
    static char const *const shifts[] = {"dx", "dy", "dz", "tilt", "pitch", "yaw", "tilt_frame"};
    bool const shifted = element->t1 != NULL || element->t2 != NULL || element->r1 != NULL || element->r2 != NULL;
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0] && !shifted; ++i) {
        double value = 0;
        if (rm_value_number(fields, shifts[i], &value) && value != 0)
            return rm_reading_fail(reading,
                                   "%s is %g but there is no T1, T2, R1, R2 that does it; save the lattice with "
                                   "them, as pyAT and MATLAB do",
                                   shifts[i], value);
    }
    return true;
}

static bool take_pass(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element) {
    struct rm_value const *const pass = rm_value_find(fields, "PassMethod");
    element->pass = rm_kind_pass(element->kind);
    if (pass == NULL || pass->count == 0)
        return true;
    if (pass->kind != RM_VALUE_TEXT)
        return rm_reading_fail(reading, "PassMethod is no text; write the name of a pass method");
    if (rm_pass_by_name(pass->text, &element->pass, &element->radiation))
        return true;
    return rm_reading_fail(reading,
                           "the twin does not track %.40s; use a pass method that it knows (DriftPass, "
                           "StrMPoleSymplectic4Pass, BndMPoleSymplectic4Pass, ... : rm_pass_name), or replace "
                           "the element by a Matrix66Pass",
                           pass->text);
}

static bool take_bend(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element) {
    return rm_take_number(reading, fields, "BendingAngle", &element->bending_angle_rad) &&
           rm_take_number(reading, fields, "EntranceAngle", &element->entrance_angle_rad) &&
           rm_take_number(reading, fields, "ExitAngle", &element->exit_angle_rad) &&
           rm_take_number(reading, fields, "FullGap", &element->full_gap_m) &&
           rm_take_number(reading, fields, "FringeInt1", &element->fringe_int[0]) &&
           rm_take_number(reading, fields, "FringeInt2", &element->fringe_int[1]) &&
           rm_take_whole(reading, fields, "FringeBendEntrance", 0, 3, &element->fringe_bend[0]) &&
           rm_take_whole(reading, fields, "FringeBendExit", 0, 3, &element->fringe_bend[1]) &&
           rm_take_number(reading, fields, "H1", &element->curvature_1) &&
           rm_take_number(reading, fields, "H2", &element->curvature_2) &&
           rm_take_number(reading, fields, "X0ref", &element->reference_x_m) &&
           rm_take_number(reading, fields, "RefDZ", &element->reference_ct_m);
}

static bool take_fringe(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element) {
    double *entrance = NULL;
    double *exit = NULL;
    if (!rm_take_whole(reading, fields, "FringeQuadEntrance", 0, 2, &element->fringe_quad[0]) ||
        !rm_take_whole(reading, fields, "FringeQuadExit", 0, 2, &element->fringe_quad[1]) ||
        !rm_take_vector(reading, fields, "fringeIntM0", FRINGE_INTEGRALS, &entrance) ||
        !rm_take_vector(reading, fields, "fringeIntP0", FRINGE_INTEGRALS, &exit))
        return false;
    if ((entrance == NULL) != (exit == NULL))
        return rm_reading_fail(reading, "it has one of fringeIntM0 and fringeIntP0; give both or none");
    if (entrance == NULL)
        return true;
    element->fringe_integrals = rm_reading_take(reading, 2 * FRINGE_INTEGRALS, sizeof(double));
    if (element->fringe_integrals == NULL)
        return false;
    memcpy(element->fringe_integrals, entrance, FRINGE_INTEGRALS * sizeof *entrance);
    memcpy(element->fringe_integrals + FRINGE_INTEGRALS, exit, FRINGE_INTEGRALS * sizeof *exit);
    return true;
}

static bool take_cavity(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element) {
    return rm_take_number(reading, fields, "Voltage", &element->voltage_v) &&
           rm_take_number(reading, fields, "Frequency", &element->frequency_hz) &&
           rm_take_number(reading, fields, "TimeLag", &element->time_lag_m) &&
           rm_take_number(reading, fields, "PhaseLag", &element->phase_lag_rad) &&
           rm_take_whole(reading, fields, "HarmNumber", 0, UINT32_MAX, &element->harmonic_number);
}

static bool take_placing(struct rm_lattice_reading *reading, struct rm_value const *fields,
                         struct rm_element *element) {
    char const *const limits = element->kind == RM_ELEMENT_APERTURE ? "Limits" : "RApertures";
    return rm_take_vector(reading, fields, "T1", 6, &element->t1) &&
           rm_take_vector(reading, fields, "T2", 6, &element->t2) &&
           rm_take_matrix(reading, fields, "R1", &element->r1) && rm_take_matrix(reading, fields, "R2", &element->r2) &&
           rm_take_vector(reading, fields, limits, 4, &element->rectangle_aperture) &&
           rm_take_vector(reading, fields, "EApertures", 2, &element->elliptic_aperture) &&
           refuse_lone_shift(reading, fields, element);
}

static bool take_matrix(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element) {
    if (!rm_take_matrix(reading, fields, "M66", &element->matrix))
        return false;
    if (element->matrix != NULL || element->pass != RM_PASS_MATRIX66)
        return true;
    element->matrix = rm_reading_take(reading, 36, sizeof *element->matrix);
    for (int i = 0; element->matrix != NULL && i < 6; ++i)
        element->matrix[i * 7] = 1;
    return element->matrix != NULL;
}

static bool take_solenoid(struct rm_lattice_reading *reading, struct rm_value const *fields,
                          struct rm_element *element) {
    if (element->kind != RM_ELEMENT_SOLENOID && element->pass != RM_PASS_SOLENOID_LINEAR)
        return true;
    return rm_take_number(reading, fields, "KS", &element->solenoid_strength) &&
           rm_take_number(reading, fields, "K", &element->solenoid_strength);
}

/** Keeps the largest energy of cavities and of other elements: a ring without parameters has no other. */
static bool note_energy(struct rm_lattice_reading *reading, struct rm_value const *fields, enum rm_element_kind kind) {
    double energy_ev = NAN;
    if (!rm_take_number(reading, fields, "Energy", &energy_ev))
        return false;
    double *const largest =
        kind == RM_ELEMENT_CAVITY ? &reading->facts.cavity_energy_ev : &reading->facts.element_energy_ev;
    *largest = fmax(*largest, energy_ev); /* of a number and NaN it is the number */
    return true;
}

/** What the lattice would refuse in the end, now, while it is known where it stands. MAD-X completes a frequency later.
 */
static bool check_element_fields(struct rm_lattice_reading *reading, struct rm_element const *element) {
    struct rm_element complete = *element;
    struct rm_error error = {0};
    if (isnan(complete.frequency_hz))
        complete.frequency_hz = 0;
    return rm_element_check(&complete, reading->count, &error) == RM_OK || rm_reading_fail(reading, "%s", error.text);
}

bool rm_reading_add_fields(struct rm_lattice_reading *reading, struct rm_value const *fields) {
    int const kind = rm_kind_of_fields(fields);
    if (kind == RM_KIND_RING)
        return rm_reading_ring(reading, fields);
    if (!rm_refuse_untracked(reading, rm_value_text(fields, "Class"), rm_value_text(fields, "FamName")))
        return false;
    struct rm_element element = {.kind = (enum rm_element_kind)kind, .steps = DEFAULT_STEPS, .fringe_bend = {1, 1}};
    if (rm_value_find(fields, "FamName") == NULL)
        return rm_reading_fail(reading, "it has no FamName; give it a name");
    return rm_take_name(reading, fields, "FamName", element.name) && take_pass(reading, fields, &element) &&
           rm_take_number(reading, fields, "Length", &element.length_m) &&
           rm_take_whole(reading, fields, "NumIntSteps", 0, MOST_STEPS, &element.steps) &&
           rm_take_polynoms(reading, fields, &element) &&
           rm_take_numbers(reading, fields, "KickAngle", 2, element.kick_angle_rad) &&
           take_bend(reading, fields, &element) && take_fringe(reading, fields, &element) &&
           take_cavity(reading, fields, &element) && take_placing(reading, fields, &element) &&
           take_matrix(reading, fields, &element) && take_solenoid(reading, fields, &element) &&
           rm_take_wiggler(reading, fields, &element) && refuse_untracked(reading, fields, element.pass) &&
           note_energy(reading, fields, element.kind) && check_element_fields(reading, &element) &&
           rm_reading_add(reading, &element);
}
