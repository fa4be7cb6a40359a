// SPDX-License-Identifier: Apache-2.0
/** Strengths of a twin's elements. */
#include <math.h>
#include <stddef.h>

#include "base/fail.h"
#include "pass/plan_parts.h"

/** The element, or NULL with the error filled in: there is no such one, or one of the values is not finite. */
static struct rm_element *element_to_set(struct rm_twin *twin, uint32_t element, char const *what, double const *values,
                                         unsigned count, struct rm_error *error) {
    if (element >= twin->count) {
        rm_fail(error, RM_E_ARGUMENT, "no element %u to set the %s of: there are %u", element, what, twin->count);
        return NULL;
    }
    for (unsigned i = 0; i < count; ++i)
        if (!isfinite(values[i])) {
            rm_fail(error, RM_E_ARGUMENT, "%s of element %u '%s' would be %g: give a finite number", what, element,
                    twin->elements[element].name, values[i]);
            return NULL;
        }
    return &twin->elements[element];
}

enum rm_code rm_twin_set_polynom(struct rm_twin *twin, uint32_t element, enum rm_component component, uint32_t order,
                                 double value, struct rm_error *error) {
    char const *const what = component == RM_NORMAL ? "polynom_b" : "polynom_a";
    struct rm_element *const it = element_to_set(twin, element, what, &value, 1, error);
    if (it == NULL)
        return RM_E_ARGUMENT;
    double *const polynom = component == RM_NORMAL ? it->polynom_b : it->polynom_a;
    if (polynom == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "element %u '%s' has no %s: %s has no field", element, it->name, what,
                       rm_pass_name(it->pass, RM_RADIATION_NONE));
    if (order > it->max_order)
        return rm_fail(error, RM_E_ARGUMENT, "%s of element %u '%s' has orders to %u, not %u", what, element, it->name,
                       it->max_order, order);
    polynom[order] = value;
    return RM_OK;
}

enum rm_code rm_twin_set_kick(struct rm_twin *twin, uint32_t element, double horizontal_rad, double vertical_rad,
                              struct rm_error *error) {
    double const kick[2] = {horizontal_rad, vertical_rad};
    struct rm_element *const it = element_to_set(twin, element, "kick", kick, 2, error);
    if (it == NULL)
        return RM_E_ARGUMENT;
    if (!rm_pass_has_kick(it))
        return rm_fail(error, RM_E_ARGUMENT,
                       "element %u '%s' takes no kick: it is no corrector, and no magnet with a "
                       "field and a length",
                       element, it->name);
    it->kick_angle_rad[0] = kick[0];
    it->kick_angle_rad[1] = kick[1];
    return RM_OK;
}

enum rm_code rm_twin_set_cavity(struct rm_twin *twin, uint32_t element, double voltage_v, double frequency_hz,
                                double time_lag_m, struct rm_error *error) {
    double const values[3] = {voltage_v, frequency_hz, time_lag_m};
    struct rm_element *const it = element_to_set(twin, element, "cavity", values, 3, error);
    if (it == NULL)
        return RM_E_ARGUMENT;
    if (it->kind != RM_ELEMENT_CAVITY && it->pass != RM_PASS_RF_CAVITY)
        return rm_fail(error, RM_E_ARGUMENT, "element %u '%s' is a %s, no cavity", element, it->name,
                       rm_element_kind_name(it->kind));
    if (frequency_hz <= 0)
        return rm_fail(error, RM_E_ARGUMENT, "the frequency of cavity %u '%s' would be %g Hz: it is above 0", element,
                       it->name, frequency_hz);
    it->voltage_v = voltage_v;
    it->frequency_hz = frequency_hz;
    it->time_lag_m = time_lag_m;
    return RM_OK;
}

static enum rm_code set_strength(struct rm_twin *twin, struct rm_strength const *at, double value,
                                 struct rm_error *error) {
    struct rm_element const *const it = at->element < twin->count ? &twin->elements[at->element] : NULL;
    double const *const kick = it != NULL ? it->kick_angle_rad : (double const[2]){0};
    switch (at->kind) {
    case RM_STRENGTH_NORMAL:
        return rm_twin_set_polynom(twin, at->element, RM_NORMAL, at->order, value, error);
    case RM_STRENGTH_SKEW:
        return rm_twin_set_polynom(twin, at->element, RM_SKEW, at->order, value, error);
    case RM_STRENGTH_KICK_HORIZONTAL:
        return rm_twin_set_kick(twin, at->element, value, kick[1], error);
    case RM_STRENGTH_KICK_VERTICAL:
        return rm_twin_set_kick(twin, at->element, kick[0], value, error);
    case RM_STRENGTH_FREQUENCY:
        return rm_twin_set_cavity(twin, at->element, it != NULL ? it->voltage_v : 0, value,
                                  it != NULL ? it->time_lag_m : 0, error);
    }
    return rm_fail(error, RM_E_ARGUMENT, "%u of element %u is no enum rm_strength_kind", (unsigned)at->kind,
                   at->element);
}

enum rm_code rm_twin_set_strengths(struct rm_twin *twin, struct rm_strength const *strengths, double const *values,
                                   uint32_t count, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < count && code == RM_OK; ++i)
        code = set_strength(twin, &strengths[i], values[i], error);
    return code;
}
