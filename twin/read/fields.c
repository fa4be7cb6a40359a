// SPDX-License-Identifier: Apache-2.0
#include "fields.h"

#include <math.h>
#include <string.h>

/** The field when it holds numbers; NULL with `*held` true when there is none, false when it holds something else. */
static struct rm_value const *numbers_of(struct rm_lattice_reading *reading, struct rm_value const *fields,
                                         char const *name, bool *held) {
    struct rm_value const *const value = rm_value_find(fields, name);
    *held = true;
    if (value == NULL || (value->count == 0 && value->kind != RM_VALUE_OTHER))
        return NULL;
    if (value->kind == RM_VALUE_NUMBERS)
        return value;
    *held = rm_reading_fail(reading, "%s is no number; write it as one", name);
    return NULL;
}

bool rm_take_number(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                    double *number) {
    bool held;
    struct rm_value const *const value = numbers_of(reading, fields, name, &held);
    if (value == NULL)
        return held;
    if (value->count != 1)
        return rm_reading_fail(reading, "%s has %u numbers; expected one", name, value->count);
    *number = value->numbers[0];
    return true;
}

bool rm_take_whole(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name, uint32_t least,
                   uint32_t most, uint32_t *number) {
    double value = *number;
    if (!rm_take_number(reading, fields, name, &value))
        return false;
    if (!(value >= least && value <= most) || value != floor(value))
        return rm_reading_fail(reading, "%s is %g; expected a whole number from %u to %u", name, value, least, most);
    *number = (uint32_t)value;
    return true;
}

bool rm_take_vector(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name, uint32_t count,
                    double **numbers) {
    bool held;
    struct rm_value const *const value = numbers_of(reading, fields, name, &held);
    if (value == NULL)
        return held;
    if (value->count != count || (value->rows != 1 && value->columns != 1))
        return rm_reading_fail(reading, "%s is %u x %u; expected %u numbers in a row or a column", name, value->rows,
                               value->columns, count);
    *numbers = rm_reading_take(reading, count, sizeof **numbers);
    if (*numbers == NULL)
        return false;
    memcpy(*numbers, value->numbers, count * sizeof **numbers);
    return true;
}

bool rm_take_numbers(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                     uint32_t count, double *numbers) {
    double *taken = NULL;
    if (!rm_take_vector(reading, fields, name, count, &taken))
        return false;
    if (taken != NULL)
        memcpy(numbers, taken, count * sizeof *numbers);
    return true;
}

bool rm_take_matrix(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                    double **numbers) {
    bool held;
    struct rm_value const *const value = numbers_of(reading, fields, name, &held);
    if (value == NULL)
        return held;
    if (value->rows != RM_COORDINATES || value->columns != RM_COORDINATES)
        return rm_reading_fail(reading, "%s is %u x %u; expected 6 x 6", name, value->rows, value->columns);
    *numbers = rm_reading_take(reading, 36, sizeof **numbers);
    if (*numbers == NULL)
        return false;
    memcpy(*numbers, value->numbers, 36 * sizeof **numbers);
    return true;
}

bool rm_take_name(struct rm_lattice_reading *reading, struct rm_value const *fields, char const *name,
                  char text[RM_ELEMENT_NAME_BYTES]) {
    struct rm_value const *const value = rm_value_find(fields, name);
    if (value == NULL || value->count == 0)
        return true;
    if (value->kind != RM_VALUE_TEXT)
        return rm_reading_fail(reading, "%s is no text; write a name", name);
    size_t const length = strlen(value->text);
    if (length >= RM_ELEMENT_NAME_BYTES)
        return rm_reading_fail(reading, "%s \"%.40s...\" has %zu bytes; give a name of at most %d", name, value->text,
                               length, RM_ELEMENT_NAME_BYTES - 1);
    memcpy(text, value->text, length + 1);
    return true;
}
