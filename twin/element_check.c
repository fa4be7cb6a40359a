// SPDX-License-Identifier: Apache-2.0
/** What an element must have so that its pass can be tracked. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "lattice_parts.h"

enum { MOST_STEPS = 100000 };

/** An element that is being looked at, and where it stands. */
struct element_look {
    struct rm_element const *element;
    uint32_t index;
    struct rm_error *error;
};

static enum rm_code element_check_refuse(struct element_look const *look, char const *what) {
    return rm_fail(look->error, RM_E_CONFIG, "element %u (\"%.*s\"): %s", look->index, RM_ELEMENT_NAME_BYTES - 1,
                   look->element->name, what);
}

static enum rm_code all_of_finite(struct element_look const *look, char const *name, double const *numbers,
                                  uint32_t count) {
    char text[120];
    for (uint32_t i = 0; numbers != NULL && i < count; ++i)
        if (!isfinite(numbers[i])) {
            snprintf(text, sizeof text, "%s[%u] is %f; every number must be finite", name, i, numbers[i]);
            return element_check_refuse(look, text);
        }
    return RM_OK;
}

static enum rm_code all_finite(struct element_look const *look) {
    struct rm_element const *const e = look->element;
    double const scalars[] = {e->length_m,      e->bending_angle_rad, e->entrance_angle_rad, e->exit_angle_rad,
                              e->full_gap_m,    e->curvature_1,       e->curvature_2,        e->voltage_v,
                              e->frequency_hz,  e->time_lag_m,        e->phase_lag_rad,      e->solenoid_strength,
                              e->reference_x_m, e->reference_ct_m};
    static char const *const names[] = {"length_m",      "bending_angle_rad", "entrance_angle_rad", "exit_angle_rad",
                                        "full_gap_m",    "curvature_1",       "curvature_2",        "voltage_v",
                                        "frequency_hz",  "time_lag_m",        "phase_lag_rad",      "solenoid_strength",
                                        "reference_x_m", "reference_ct_m"};
    struct {
        char const *name;
        double const *numbers;
        uint32_t count;
    } const arrays[] = {{"polynom_a", e->polynom_a, e->max_order + 1},
                        {"polynom_b", e->polynom_b, e->max_order + 1},
                        {"kick_angle_rad", e->kick_angle_rad, 2},
                        {"fringe_int", e->fringe_int, 2},
                        {"fringe_integrals", e->fringe_integrals, 10},
                        {"t1", e->t1, 6},
                        {"t2", e->t2, 6},
                        {"r1", e->r1, 36},
                        {"r2", e->r2, 36},
                        {"rectangle_aperture", e->rectangle_aperture, 4},
                        {"elliptic_aperture", e->elliptic_aperture, 2},
                        {"matrix", e->matrix, 36}};
    enum rm_code code = RM_OK;
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0] && code == RM_OK; ++i)
        code = all_of_finite(look, names[i], &scalars[i], 1);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && code == RM_OK; ++i)
        code = all_of_finite(look, arrays[i].name, arrays[i].numbers, arrays[i].count);
    return code;
}

/** Numbers that stand for something else: kinds, passes, methods of fringe fields. */
static enum rm_code codes_known(struct element_look const *look) {
    struct rm_element const *const e = look->element;
    if (memchr(e->name, '\0', sizeof e->name) == NULL)
        return element_check_refuse(look, "its name has no end; at most 63 bytes and a zero");
    if ((unsigned)e->kind >= RM_ELEMENT_KINDS)
        return element_check_refuse(look, "its kind is none of enum rm_element_kind");
    if ((unsigned)e->pass >= RM_PASSES)
        return element_check_refuse(look, "its pass is none of enum rm_pass");
    if ((unsigned)e->radiation > RM_RADIATION_QUANTUM || rm_pass_name(e->pass, e->radiation) == NULL)
        return element_check_refuse(look,
                                    "its pass has no such variant with radiation; set radiation to RM_RADIATION_NONE");
    if (e->max_order >= RM_POLYNOM_ORDERS)
        return element_check_refuse(look, "max_order is beyond 31; leave out the highest orders");
    for (int end = 0; end < 2; ++end)
        if (e->fringe_bend[end] > 3 || e->fringe_quad[end] > 2)
            return element_check_refuse(look,
                                        "a fringe method is not known; fringe_bend is 0 to 3, fringe_quad 0 to 2");
    return RM_OK;
}

static bool has_polynoms(struct rm_element const *e) { return e->polynom_a != NULL && e->polynom_b != NULL; }

static enum rm_code check_integrated(struct element_look const *look, bool bends) {
    struct rm_element const *const e = look->element;
    if (!has_polynoms(e))
        return element_check_refuse(look, "its pass needs polynom_a and polynom_b");
    if (e->steps < 1 || e->steps > MOST_STEPS)
        return element_check_refuse(look, "its pass needs steps from 1 to 100000");
    if (e->length_m < 0)
        return element_check_refuse(look, "its length is below 0, and its pass integrates; only a drift may go back");
    if (bends && e->length_m == 0)
        return element_check_refuse(look, "a bend needs a length above 0");
    return RM_OK;
}

static enum rm_code check_linear(struct element_look const *look, bool bends) {
    struct rm_element const *const e = look->element;
    if (!has_polynoms(e) || e->max_order < 1)
        return element_check_refuse(look, "its pass needs polynom_a and polynom_b with max_order of at least 1");
    if (e->length_m < 0 || (bends && e->length_m == 0))
        return element_check_refuse(look, "its pass needs a length above 0");
    return RM_OK;
}

static enum rm_code check_aperture(struct element_look const *look, bool needed) {
    double const *const rectangle = look->element->rectangle_aperture;
    double const *const ellipse = look->element->elliptic_aperture;
    if (needed && rectangle == NULL)
        return element_check_refuse(look, "its pass needs rectangle_aperture");
    if (rectangle != NULL && (rectangle[0] > rectangle[1] || rectangle[2] > rectangle[3]))
        return element_check_refuse(look, "rectangle_aperture is turned around; expected xmin, xmax, ymin, ymax");
    if (ellipse != NULL && (ellipse[0] <= 0 || ellipse[1] <= 0))
        return element_check_refuse(look, "elliptic_aperture needs half axes above 0");
    return RM_OK;
}

static enum rm_code check_harmonics(struct element_look const *look, struct rm_wiggler_harmonic const *list,
                                    uint32_t count) {
    if (count != 0 && list == NULL)
        return element_check_refuse(look, "its wiggler counts harmonics that are not there");
    for (uint32_t i = 0; i < count; ++i) {
        double const numbers[] = {list[i].number, list[i].amplitude, list[i].kx,
                                  list[i].ky,     list[i].kz,        list[i].phase_rad};
        enum rm_code const code = all_of_finite(look, "wiggler harmonic", numbers, 6);
        if (code != RM_OK)
            return code;
        if (list[i].kz == 0)
            return element_check_refuse(look, "a harmonic of its wiggler has kz 0; expected a number of periods");
    }
    return RM_OK;
}

static enum rm_code check_wiggler(struct element_look const *look) {
    struct rm_wiggler const *const w = look->element->wiggler;
    if (w == NULL)
        return look->element->pass == RM_PASS_GWIG ? element_check_refuse(look, "its pass needs a wiggler") : RM_OK;
    enum rm_code const code = all_of_finite(look, "peak_field_t", &w->peak_field_t, 1);
    if (code != RM_OK)
        return code;
    if (!(w->period_m > 0) || !isfinite(w->period_m) || look->element->length_m <= 0)
        return element_check_refuse(look, "a wiggler needs a length and a period above 0");
    double const periods = look->element->length_m / w->period_m;
    if (fabs(periods - round(periods)) > 1e-6 || periods > MOST_STEPS)
        return element_check_refuse(look, "a wiggler's length must be a whole number of periods");
    if (w->steps_per_period < 1 || w->steps_per_period > MOST_STEPS || (w->method != 2 && w->method != 4))
        return element_check_refuse(look, "a wiggler needs steps_per_period of at least 1 and method 2 or 4");
    enum rm_code const by = check_harmonics(look, w->by, w->by_count);
    return by != RM_OK ? by : check_harmonics(look, w->bx, w->bx_count);
}

static enum rm_code check_pass(struct element_look const *look) {
    struct rm_element const *const e = look->element;
    switch (e->pass) {
    case RM_PASS_STR_MPOLE:
        return check_integrated(look, false);
    case RM_PASS_BND_MPOLE:
    case RM_PASS_BND_MPOLE_E2:
    case RM_PASS_BND_STR_MPOLE:
        return check_integrated(look, true);
    case RM_PASS_QUAD_LINEAR:
        return check_linear(look, false);
    case RM_PASS_BEND_LINEAR:
        return check_linear(look, true);
    case RM_PASS_THIN_MPOLE:
        return has_polynoms(e) ? RM_OK : element_check_refuse(look, "its pass needs polynom_a and polynom_b");
    case RM_PASS_RF_CAVITY:
        return e->length_m < 0 || e->frequency_hz < 0
                   ? element_check_refuse(look, "a cavity needs a length and a frequency of at least 0")
                   : RM_OK;
    case RM_PASS_MATRIX66:
        return e->matrix != NULL ? RM_OK : element_check_refuse(look, "its pass needs a matrix");
    default:
        return RM_OK;
    }
}

enum rm_code rm_element_check(struct rm_element const *element, uint32_t index, struct rm_error *error) {
    struct element_look const look = {element, index, error};
    enum rm_code code = codes_known(&look);
    if (code == RM_OK)
        code = all_finite(&look);
    if (code == RM_OK)
        code = check_pass(&look);
    if (code == RM_OK)
        code = check_aperture(&look, element->pass == RM_PASS_APERTURE);
    return code == RM_OK ? check_wiggler(&look) : code;
}

enum rm_code rm_lattice_info_check(struct rm_lattice_facts const *info, struct rm_error *error) {
    if (memchr(info->name, '\0', sizeof info->name) == NULL ||
        memchr(info->particle, '\0', sizeof info->particle) == NULL)
        return rm_fail(error, RM_E_CONFIG, "the name of the lattice or of its particle has no end; at most 63 bytes");
    if (!isfinite(info->energy_ev) || info->energy_ev <= 0 || !isfinite(info->charge_e) || info->charge_e == 0)
        return rm_fail(error, RM_E_CONFIG,
                       "lattice \"%s\": energy %g eV and charge %g e; expected an energy above 0 and a "
                       "charge that is not 0",
                       info->name, info->energy_ev, info->charge_e);
    if (!(info->rest_energy_ev >= 0 && info->rest_energy_ev < info->energy_ev))
        return rm_fail(error, RM_E_CONFIG,
                       "lattice \"%s\": a rest energy of %g eV at %g eV; expected 0, or less than the "
                       "energy",
                       info->name, info->rest_energy_ev, info->energy_ev);
    if (info->periodicity < 1)
        return rm_fail(error, RM_E_CONFIG,
                       "lattice \"%s\": periodicity 0; expected 1, or how often the elements repeat", info->name);
    return RM_OK;
}
