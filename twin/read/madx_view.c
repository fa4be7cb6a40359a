// SPDX-License-Identifier: Apache-2.0
/** What an element is and has, where it stands. */
#include <math.h>
#include <string.h>

#include "madx.h"

bool rm_madx_class(struct rm_madx *madx, struct rm_madx_object const *object, char const **class) {
    char const *base = object->base;
    for (int depth = 0; depth < RM_MOST_DEPTH; ++depth) {
        struct rm_madx_object const *const next = rm_madx_find(madx, base);
        *class = rm_madx_class_name(base);
        if (*class != NULL)
            return true;
        if (next == NULL || next->kind != RM_MADX_ELEMENT)
            return rm_reading_fail(madx->reading,
                                   "%.60s is no class of element that is read here, and no element; define "
                                   "it, or use one of MAD-X's (quadrupole, sbend, multipole, ...)",
                                   base);
        base = next->base;
    }
    return rm_reading_fail(madx->reading, "%.60s is made from itself; give it a class of MAD-X's", object->name);
}

/** Here, in its definition, or in a base that was defined later than it. */
struct rm_madx_attribute_value const *rm_madx_look(struct rm_madx const *madx, struct rm_madx_view const *view,
                                                   char const *name) {
    struct rm_madx_attribute_value const *found = rm_madx_attribute(view->here, name);
    struct rm_madx_object const *object = view->object;
    for (int depth = 0; found == NULL && object != NULL && depth < RM_MOST_DEPTH; ++depth) {
        found = rm_madx_attribute(&object->attributes, name);
        object = object->kind == RM_MADX_ELEMENT ? rm_madx_find(madx, object->base) : NULL;
    }
    return found;
}

bool rm_madx_take(struct rm_madx *madx, struct rm_madx_view const *view, char const *name, double *number_found) {
    struct rm_madx_attribute_value const *const found = rm_madx_look(madx, view, name);
    return found == NULL || rm_madx_number(madx, found, number_found);
}

double rm_madx_arc(double chord_m, double half_rad) {
    return half_rad == 0 ? chord_m : chord_m * half_rad / sin(half_rad);
}

bool rm_madx_length(struct rm_madx *madx, struct rm_madx_view const *view, double *length_m) {
    char const *class;
    double angle_rad = 0;
    *length_m = 0;
    if (!rm_madx_class(madx, view->object, &class) || !rm_madx_take(madx, view, "l", length_m))
        return false;
    if (strcmp(class, "multipole") == 0)
        *length_m = 0; /* of a thin one only a fiction for radiation */
    if (strcmp(class, "rbend") != 0)
        return true;
    bool const held = rm_madx_take(madx, view, "angle", &angle_rad);
    *length_m = rm_madx_arc(*length_m, angle_rad / 2);
    return held;
}
