// SPDX-License-Identifier: Apache-2.0
#include "value.h"

#include <stddef.h>
#include <string.h>

struct rm_value const *rm_value_find(struct rm_value const *fields, char const *name) {
    for (uint32_t i = fields->kind == RM_VALUE_FIELDS ? fields->count : 0; i-- > 0;)
        if (strcmp(fields->fields[i].name, name) == 0)
            return &fields->fields[i].value;
    return NULL;
}

char const *rm_value_text(struct rm_value const *fields, char const *name) {
    struct rm_value const *const value = rm_value_find(fields, name);
    return value != NULL && value->kind == RM_VALUE_TEXT ? value->text : NULL;
}

struct rm_value const *rm_value_numbers(struct rm_value const *fields, char const *name) {
    struct rm_value const *const value = rm_value_find(fields, name);
    return value != NULL && value->kind == RM_VALUE_NUMBERS ? value : NULL;
}

bool rm_value_number(struct rm_value const *fields, char const *name, double *number) {
    struct rm_value const *const value = rm_value_numbers(fields, name);
    if (value == NULL || value->count != 1)
        return false;
    *number = value->numbers[0];
    return true;
}
