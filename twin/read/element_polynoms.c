// SPDX-License-Identifier: Apache-2.0
/** Polynoms as pyAT's classes complete them: a quadrupole that only says K has PolynomB [0 K], and PolynomB goes before
 * K and H where a file has both; MaxOrder is the longer polynom's last, and at least the class's own order. */
#include <math.h>
#include <string.h>

#include "fields.h"

/** The class's own order, and the field that gives its strength; -1: the class has none. */
struct main_field {
    int order;
    char const *strength;
};

static struct main_field main_field_of(enum rm_element_kind kind) {
    switch (kind) {
    case RM_ELEMENT_DIPOLE:
    case RM_ELEMENT_QUADRUPOLE:
        return (struct main_field){1, "K"};
    case RM_ELEMENT_SEXTUPOLE:
        return (struct main_field){2, "H"};
    case RM_ELEMENT_OCTUPOLE:
        return (struct main_field){3, NULL};
    case RM_ELEMENT_MULTIPOLE:
    case RM_ELEMENT_THIN_MULTIPOLE:
        return (struct main_field){0, NULL};
    default:
        return (struct main_field){-1, NULL};
    }
}

static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/** The field's numbers (any count), or none. */
static bool read_polynom(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                         double const **from, uint32_t *count) {
    struct rm_value const *const value = rm_value_find(fields, name);
    *from = NULL;
    *count = 0;
    if (value == NULL || value->count == 0)
        return true;
    if (value->kind != RM_VALUE_NUMBERS || (value->rows != 1 && value->columns != 1))
        return rm_reading_fail(reading, "%s is no row of numbers; write its coefficients, dipole first", name);
    *from = value->numbers;
    *count = value->count;
    return true;
}

/** `orders` coefficients of which the first are those given. */
static bool complete_polynom(struct rm_lattice_reading *reading, double const *from, uint32_t count, uint32_t orders,
                             double **to) {
    *to = rm_reading_take(reading, orders, sizeof **to);
    if (*to == NULL)
        return false;
    if (from != NULL)
        memcpy(*to, from, (count < orders ? count : orders) * sizeof **to);
    return true;
}

/** The passes of the linear matrices look at b_1 whatever MaxOrder says. */
static uint32_t least_order(enum rm_pass pass) {
    return pass == RM_PASS_QUAD_LINEAR || pass == RM_PASS_BEND_LINEAR ? 1 : 0;
}

bool rm_take_polynoms(struct rm_lattice_reading *reading, struct rm_value const *fields, struct rm_element *element) {
    struct main_field const field = main_field_of(element->kind);
    double const *a;
    double const *b;
    uint32_t a_count;
    uint32_t b_count;
    if (!read_polynom(reading, fields, "PolynomA", &a, &a_count) ||
        !read_polynom(reading, fields, "PolynomB", &b, &b_count))
        return false;
    double strength = 0;
    if (field.strength != NULL && !rm_take_number(reading, fields, field.strength, &strength))
        return false;
    if (b == NULL && field.strength != NULL) {
        double *const main = rm_reading_take(reading, (size_t)field.order + 1, sizeof *main);
        if (main == NULL)
            return false;
        main[field.order] = strength;
        b = main;
        b_count = (uint32_t)field.order + 1;
    }
    uint32_t max_order = 0;
    if (field.order >= 0)
        max_order = max_u32((uint32_t)field.order, max_u32(max_u32(a_count, 1), max_u32(b_count, 1)) - 1);
    if (max_order >= RM_POLYNOM_ORDERS && rm_value_find(fields, "MaxOrder") == NULL)
        return rm_reading_fail(reading, "its field has %u orders; at most %d are tracked", max_order + 1,
                               RM_POLYNOM_ORDERS);
    if (max_order >= RM_POLYNOM_ORDERS)
        max_order = 0;
    if (!rm_take_whole(reading, fields, "MaxOrder", 0, RM_POLYNOM_ORDERS - 1, &max_order))
        return false;
    max_order = max_u32(max_order, least_order(element->pass));
    element->max_order = max_order;
    bool const has_field = field.order >= 0 || least_order(element->pass) != 0;
    return (a == NULL && !has_field ? true
                                    : complete_polynom(reading, a, a_count, max_order + 1, &element->polynom_a)) &&
           (b == NULL && !has_field ? true : complete_polynom(reading, b, b_count, max_order + 1, &element->polynom_b));
}
