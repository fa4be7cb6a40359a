// SPDX-License-Identifier: Apache-2.0
/** What a file says of an element, whatever its format: fields with names and values, as the Accelerator Toolbox names
 * them. All of it lives in the scratch memory of the reading (scratch.h). */
#ifndef RM_TWIN_READ_VALUE_H
#define RM_TWIN_READ_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum rm_value_kind {
    RM_VALUE_OTHER,   /**< what no lattice needs: complex numbers, objects, functions */
    RM_VALUE_NUMBERS, /**< rows × columns, maybe none */
    RM_VALUE_TEXT,
    RM_VALUE_FIELDS, /**< a structure */
    RM_VALUE_LIST,   /**< a cell array, or an array of structures */
};

struct rm_field;

struct rm_value {
    enum rm_value_kind kind;
    uint32_t rows, columns; /**< of numbers */
    uint32_t count;         /**< numbers, characters, fields or items */
    uint32_t line;          /**< where it stands in a text, from 1; 0 elsewhere */
    double const *numbers;  /**< row by row */
    char const *text;       /**< UTF-8, ends with zero */
    struct rm_field const *fields;
    struct rm_value const *items;
};

struct rm_field {
    char const *name;
    struct rm_value value;
};

/** The last of that name, since later options of a constructor go before earlier ones; NULL: there is none. */
struct rm_value const *rm_value_find(struct rm_value const *fields, char const *name);

/** The text of a field, or NULL. */
char const *rm_value_text(struct rm_value const *fields, char const *name);

/** The number of a field that is one number; false, and `number` as it was: it is not there or no single number. */
bool rm_value_number(struct rm_value const *fields, char const *name, double *number);

/** The field's value, when it is numbers; else NULL. */
struct rm_value const *rm_value_numbers(struct rm_value const *fields, char const *name);

#endif
