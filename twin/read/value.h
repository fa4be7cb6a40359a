// SPDX-License-Identifier: Apache-2.0
/** What a file says of an element, whatever its format: fields with names and values, as the Accelerator Toolbox names
 * them. All of it lives in the scratch memory of the reading (scratch.h). */
#ifndef RM_TWIN_READ_VALUE_H
#define RM_TWIN_READ_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum rm_value_kind {
    /** A value that no lattice needs: complex numbers, objects, functions. */
    RM_VALUE_OTHER,
    /** Rows × columns of numbers, maybe none. */
    RM_VALUE_NUMBERS,

    RM_VALUE_TEXT,
    /** A structure. */
    RM_VALUE_FIELDS,
    /** A cell array, or an array of structures. */
    RM_VALUE_LIST,
};

struct rm_value_field;

struct rm_value {
    enum rm_value_kind kind;
    /** Rows and columns of numbers. */
    uint32_t rows, columns;
    /** Number of numbers, characters, fields or items. */
    uint32_t count;
    /** Line of a text where it stands, from 1; 0 in other files. */
    uint32_t line;
    /** Numbers, row by row. */
    double const *numbers;
    /** Text in UTF-8, ends with zero. */
    char const *text;

    struct rm_value_field const *fields;
    struct rm_value const *items;
};

struct rm_value_field {
    char const *name;
    struct rm_value value;
};

/** Finds the last field of that name, since later options of a constructor override earlier ones; NULL: there is none.
 */
struct rm_value const *rm_value_find(struct rm_value const *fields, char const *name);

/** The text of a field, or NULL. */
char const *rm_value_text(struct rm_value const *fields, char const *name);

/** The number of a field that is one number. False, with `number` unchanged: it is not there, or not a single number.
 */
bool rm_value_number(struct rm_value const *fields, char const *name, double *number);

/** The field's value, when it is numbers; else NULL. */
struct rm_value const *rm_value_numbers(struct rm_value const *fields, char const *name);

#endif
