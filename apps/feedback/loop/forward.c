// SPDX-License-Identifier: Apache-2.0
#include "forward.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/errors.h>
#include <ringmaster/table.h>

/** The lane's values stand as names of the lines. */
static enum rm_code values_of(struct rm_table const *matrix, char const *path, double *at, struct rm_error *error) {
    for (uint32_t i = 0; i < matrix->rows; ++i) {
        char *end = NULL;
        at[i] = strtod(matrix->row_name[i], &end);
        if (end == matrix->row_name[i] || *end != '\0' || !isfinite(at[i]))
            return rm_fail(error, RM_E_CONFIG, "%s: a line of a feed-forward table begins with the lane's value", path);
        if (i > 0 && at[i] <= at[i - 1])
            return rm_fail(error, RM_E_CONFIG, "%s: the values of the lane must rise from line to line", path);
    }
    return RM_OK;
}

enum rm_code feedback_forward_load(char const *path, struct feedback_forward *table, struct rm_error *error) {
    struct rm_table matrix = {0};
    enum rm_code code = rm_table_load(path, &matrix, error);
    if (code != RM_OK)
        return code;
    *table = (struct feedback_forward){.points = matrix.rows, .columns = matrix.columns};
    table->at = calloc(matrix.rows, sizeof *table->at);
    table->output = calloc(matrix.columns, sizeof *table->output);
    table->name = calloc(matrix.columns, sizeof *table->name);
    table->value = calloc((size_t)matrix.rows * matrix.columns, sizeof *table->value);
    bool const there = table->at != NULL && table->output != NULL && table->name != NULL && table->value != NULL;
    code = there ? values_of(&matrix, path, table->at, error) : rm_fail(error, RM_E_NO_SPACE, "%s: no memory", path);
    if (there)
        memcpy(table->value, matrix.value, (size_t)matrix.rows * matrix.columns * sizeof *table->value);
    for (uint32_t i = 0; there && i < matrix.columns; ++i) {
        table->name[i] = strdup(matrix.column_name[i]);
        table->output[i] = UINT32_MAX;
    }
    rm_table_free(&matrix);
    if (code != RM_OK)
        feedback_forward_free(table);
    return code;
}

void feedback_forward_free(struct feedback_forward *table) {
    for (uint32_t i = 0; table->name != NULL && i < table->columns; ++i)
        free(table->name[i]);
    free(table->at);
    free(table->value);
    free(table->name);
    free(table->output);
    *table = (struct feedback_forward){0};
}

void feedback_forward_add(struct feedback_forward const *table, double value, double *ahead) {
    if (table->points == 0 || !isfinite(value))
        return;
    uint32_t next = 0;
    while (next < table->points && table->at[next] <= value)
        ++next;
    uint32_t const low = next == 0 ? 0 : next - 1;
    uint32_t const high = next == table->points ? low : next;
    double const width = table->at[high] - table->at[low];
    double const way = width > 0.0 ? fmax((value - table->at[low]) / width, 0.0) : 0.0;
    double const *below = table->value + (uint64_t)low * table->columns;
    double const *above = table->value + (uint64_t)high * table->columns;
    for (uint32_t i = 0; i < table->columns; ++i)
        if (table->output[i] != UINT32_MAX)
            ahead[table->output[i]] += below[i] + way * (above[i] - below[i]);
}
