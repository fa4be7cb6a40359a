// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <stdio.h>
#include <string.h>

#include <ringmaster/pattern.h>

static enum rm_code fail_pattern(struct feedback_configuration const *configuration, uint32_t family, uint32_t pattern,
                                 char const *what, struct rm_errors *errors) {
    char key[64];
    snprintf(key, sizeof key, "families[%u].actuators[%u]", family, pattern);
    return rm_configuration_refuse(errors, configuration->path, key, "%s", what);
}

static enum rm_code assign_family(struct feedback_configuration const *configuration, uint32_t f, uint32_t p,
                                  int32_t *family, struct rm_errors *errors) {
    struct rm_table const *matrix = &configuration->matrix;
    char const *pattern = configuration->family[f].patterns[p];
    char what[384];
    bool found = false;
    for (uint32_t c = 0; c < matrix->columns; ++c) {
        if ((int32_t)c == configuration->rf.column || !rm_pattern_matches(pattern, matrix->column_name[c]))
            continue;
        found = true;
        if (family[c] >= 0 && family[c] != (int32_t)f) {
            snprintf(what, sizeof what, "\"%s\" finds %s, which is in the family \"%s\" already", pattern,
                     matrix->column_name[c], configuration->family[family[c]].name);
            return fail_pattern(configuration, f, p, what, errors);
        }
        family[c] = (int32_t)f;
    }
    if (found)
        return RM_OK;
    snprintf(what, sizeof what, "\"%s\" finds none of the matrix's %u columns, expected a name or a pattern of some",
             pattern, matrix->columns);
    return fail_pattern(configuration, f, p, what, errors);
}

enum rm_code feedback_families_check(struct feedback_configuration const *configuration, int32_t *family,
                                     struct rm_errors *errors) {
    enum rm_code code = RM_OK;
    for (uint32_t c = 0; c < configuration->matrix.columns; ++c)
        family[c] = -1;
    for (uint32_t f = 0; f < configuration->family_count; ++f)
        for (uint32_t p = 0; p < configuration->family[f].pattern_count; ++p)
            code = rm_code_first(code, assign_family(configuration, f, p, family, errors));
    return code;
}

enum rm_code feedback_families_assign(struct feedback_configuration const *configuration, int32_t *family,
                                      struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = feedback_families_check(configuration, family, &errors);
    if (code != RM_OK && error != NULL)
        *error = errors.first[0];
    return code;
}

static bool is_taken(struct feedback_configuration const *configuration, uint32_t column) {
    if ((int32_t)column == configuration->rf.column)
        return true;
    for (uint32_t f = 0; f < configuration->family_count; ++f)
        for (uint32_t p = 0; p < configuration->family[f].pattern_count; ++p)
            if (rm_pattern_matches(configuration->family[f].patterns[p], configuration->matrix.column_name[column]))
                return true;
    return false;
}

enum rm_code feedback_actuators_find(struct feedback_configuration const *configuration, char const *const *actuator,
                                     uint32_t actuators, uint32_t *column, struct rm_error *error) {
    struct rm_table const *matrix = &configuration->matrix;
    for (uint32_t a = 0; a < actuators; ++a) {
        for (column[a] = 0; column[a] < matrix->columns; ++column[a])
            if (strcmp(actuator[a], matrix->column_name[column[a]]) == 0)
                break;
        if (column[a] == matrix->columns)
            return rm_fail(error, RM_E_CONFIG,
                           "%s: the application has the supply %s, but the matrix has no column of that name; "
                           "take it out of the application's `supplies`, or make another matrix",
                           configuration->path, actuator[a]);
    }
    for (uint32_t c = 0; c < matrix->columns; ++c) {
        bool found = !is_taken(configuration, c);
        for (uint32_t a = 0; a < actuators && !found; ++a)
            found = column[a] == c;
        if (!found)
            return rm_fail(error, RM_E_CONFIG,
                           "%s: the matrix has the column %s, but the application has no supply of that name; add "
                           "it to the application's `supplies`, or take it out of `families` or `rf`",
                           configuration->path, matrix->column_name[c]);
    }
    return RM_OK;
}
