// SPDX-License-Identifier: Apache-2.0
/** 4D and 6D: cavities on and off, radiation of elements. */
#include <stddef.h>

#include "base/fail.h"
#include "twin_parts.h"

/** Whether the pass of this element has a form with that radiation. */
static bool element_knows_radiation(struct rm_element const *element, enum rm_radiation radiation) {
    return rm_pass_name(element->pass, radiation) != NULL;
}

/** Radiates by AT's defaults. (A matrix only in name: whatever it loses is in it already.) */
static bool element_radiates(struct rm_element const *element) {
    return element->kind == RM_ELEMENT_DIPOLE || element->kind == RM_ELEMENT_QUADRUPOLE ||
           element->kind == RM_ELEMENT_WIGGLER || element->kind == RM_ELEMENT_MATRIX;
}

static bool is_field_free(enum rm_pass pass) {
    return pass == RM_PASS_DRIFT || pass == RM_PASS_EXACT_DRIFT || pass == RM_PASS_IDENTITY;
}

enum rm_code rm_twin_enable_6d(struct rm_twin *twin, struct rm_error *error) {
    for (uint32_t i = 0; i < twin->count; ++i) {
        struct rm_element const *const element = &twin->elements[i];
        if (element_radiates(element) && !is_field_free(element->pass) &&
            !element_knows_radiation(element, RM_RADIATION_CLASSICAL))
            return rm_fail(error, RM_E_CONFIG,
                           "element %u '%s' should radiate, but %s has no form that does; use StrMPoleSymplectic4Pass "
                           "or BndMPoleSymplectic4Pass, or rm_twin_set_radiation for the others",
                           i, element->name, rm_pass_name(element->pass, RM_RADIATION_NONE));
    }
    for (uint32_t i = 0; i < twin->count; ++i) {
        struct rm_element *const element = &twin->elements[i];
        if (element->kind == RM_ELEMENT_CAVITY)
            element->pass = RM_PASS_RF_CAVITY;
        else if (element_radiates(element) && element_knows_radiation(element, RM_RADIATION_CLASSICAL))
            element->radiation = RM_RADIATION_CLASSICAL;
    }
    return RM_OK;
}

void rm_twin_disable_6d(struct rm_twin *twin) {
    for (uint32_t i = 0; i < twin->count; ++i) {
        struct rm_element *const element = &twin->elements[i];
        if (element->kind == RM_ELEMENT_CAVITY)
            element->pass = element->length_m != 0 ? RM_PASS_DRIFT : RM_PASS_IDENTITY;
        element->radiation = RM_RADIATION_NONE;
    }
}

bool rm_twin_is_6d(struct rm_twin const *twin) {
    for (uint32_t i = 0; i < twin->count; ++i)
        if (twin->elements[i].pass == RM_PASS_RF_CAVITY && twin->elements[i].voltage_v != 0)
            return true;
    return false;
}

enum rm_code rm_twin_set_radiation(struct rm_twin *twin, uint32_t element, enum rm_radiation radiation,
                                   struct rm_error *error) {
    if (element >= twin->count)
        return rm_fail(error, RM_E_ARGUMENT, "no element %u: there are %u", element, twin->count);
    struct rm_element *const it = &twin->elements[element];
    if ((unsigned)radiation > RM_RADIATION_QUANTUM)
        return rm_fail(error, RM_E_ARGUMENT, "radiation %u of element %u '%s' is no enum rm_radiation",
                       (unsigned)radiation, element, it->name);
    if (!element_knows_radiation(it, radiation))
        return rm_fail(error, RM_E_ARGUMENT, "element %u '%s': %s has no form with %s radiation", element, it->name,
                       rm_pass_name(it->pass, RM_RADIATION_NONE),
                       radiation == RM_RADIATION_QUANTUM ? "quantum" : "classical");
    it->radiation = radiation;
    return RM_OK;
}
