// SPDX-License-Identifier: Apache-2.0
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include <ringmaster/abi.h>

#include "../law/product.h"
#include "csv.h"

/** The matrix while it grows. */
struct matrix_reading {
    struct feedback_csv csv;
    struct feedback_matrix *matrix;
    uint32_t room; /**< rows that `value` and `row_name` have room for */
    struct rm_error *error;
};

static enum rm_code no_memory(struct matrix_reading const *reading) {
    return feedback_fail(reading->error, RM_E_NO_SPACE, "%s: no memory for the matrix", reading->csv.place.path);
}

/* A copy of the name at the end of a list, if it is one, and not there yet. */
static enum rm_code add_name(struct matrix_reading *reading, char const *what, char const *name, char **names,
                             uint32_t *count) {
    char text[FEEDBACK_QUOTED_BYTES];
    struct feedback_place const *place = &reading->csv.place;
    if (name == NULL || *name == '\0')
        return feedback_fail_at(reading->error, place, "a %s without a name", what);
    if (strlen(name) >= RM_NAME_BYTES)
        return feedback_fail_at(reading->error, place, "the %s's name %s is longer than %d bytes", what,
                                feedback_quote(name, text), RM_NAME_BYTES - 1);
    for (uint32_t n = 0; n < *count; ++n)
        if (strcmp(names[n], name) == 0)
            return feedback_fail_at(reading->error, place, "the %s %s is there twice", what,
                                    feedback_quote(name, text));
    names[*count] = strdup(name);
    if (names[*count] == NULL)
        return no_memory(reading);
    ++*count;
    return RM_OK;
}

static enum rm_code read_columns(struct matrix_reading *reading) {
    struct feedback_matrix *matrix = reading->matrix;
    char text[FEEDBACK_QUOTED_BYTES];
    char *field = NULL;
    if (!feedback_csv_line(&reading->csv))
        return feedback_fail_at(reading->error, &(struct feedback_place){.path = reading->csv.place.path},
                                "is empty, expected a first line \",COLUMN,COLUMN,…\"");
    enum rm_code code = feedback_csv_field(&reading->csv, &field, reading->error);
    if (code == RM_OK && *field != '\0')
        return feedback_fail_at(reading->error, &reading->csv.place,
                                "found %s, expected an empty field: the first line is \",COLUMN,COLUMN,…\"",
                                feedback_quote(field, text));
    matrix->column_name = reallocarray(NULL, FEEDBACK_OUTPUTS_MAX, sizeof *matrix->column_name);
    if (matrix->column_name == NULL)
        return no_memory(reading);
    while (code == RM_OK && (code = feedback_csv_field(&reading->csv, &field, reading->error)) == RM_OK) {
        if (field == NULL && matrix->columns > 0)
            return RM_OK;
        if (field == NULL)
            return feedback_fail_at(reading->error, &reading->csv.place, "no columns, expected their names");
        if (matrix->columns == FEEDBACK_OUTPUTS_MAX)
            return feedback_fail_at(reading->error, &reading->csv.place, "more than %d columns", FEEDBACK_OUTPUTS_MAX);
        code = add_name(reading, "column", field, matrix->column_name, &matrix->columns);
    }
    return code;
}

static enum rm_code make_matrix_room(struct matrix_reading *reading) {
    struct feedback_matrix *matrix = reading->matrix;
    if (matrix->rows < reading->room)
        return RM_OK;
    if (matrix->rows == FEEDBACK_ROWS_MAX)
        return feedback_fail_at(reading->error, &reading->csv.place, "more than %d rows", FEEDBACK_ROWS_MAX);
    uint32_t const room = reading->room == 0 ? 16 : 2 * reading->room;
    char **names = realloc(matrix->row_name, room * sizeof *names);
    if (names == NULL)
        return no_memory(reading);
    matrix->row_name = names;
    double *values = realloc(matrix->value, (size_t)room * matrix->columns * sizeof *values);
    if (values == NULL)
        return no_memory(reading);
    matrix->value = values;
    reading->room = room;
    return RM_OK;
}

static enum rm_code read_numbers(struct matrix_reading *reading) {
    struct feedback_matrix *matrix = reading->matrix;
    double *value = matrix->value + (size_t)(matrix->rows - 1) * matrix->columns;
    char const *row = matrix->row_name[matrix->rows - 1];
    char text[FEEDBACK_QUOTED_BYTES];
    uint32_t column = 0;
    for (;; ++column) {
        char *field = NULL;
        enum rm_code code = feedback_csv_field(&reading->csv, &field, reading->error);
        if (code != RM_OK)
            return code;
        if (field == NULL)
            break;
        if (column == matrix->columns)
            return feedback_fail_at(reading->error, &reading->csv.place, "row %s has more numbers than the %u columns",
                                    feedback_quote(row, text), matrix->columns);
        code = feedback_csv_number(&reading->csv, field, matrix->column_name[column], &value[column], reading->error);
        if (code != RM_OK)
            return code;
    }
    if (column < matrix->columns)
        return feedback_fail_at(reading->error, &reading->csv.place,
                                "row %s has %u numbers, expected %u, one per column", feedback_quote(row, text), column,
                                matrix->columns);
    return RM_OK;
}

static enum rm_code read_rows(struct matrix_reading *reading) {
    struct feedback_matrix *matrix = reading->matrix;
    enum rm_code code = RM_OK;
    while (code == RM_OK && feedback_csv_line(&reading->csv)) {
        char *name = NULL;
        code = make_matrix_room(reading);
        if (code == RM_OK)
            code = feedback_csv_field(&reading->csv, &name, reading->error);
        if (code == RM_OK)
            code = add_name(reading, "row", name, matrix->row_name, &matrix->rows);
        if (code == RM_OK)
            code = read_numbers(reading);
    }
    if (code == RM_OK && matrix->rows == 0)
        return feedback_fail_at(reading->error, &(struct feedback_place){.path = reading->csv.place.path},
                                "has no rows, expected lines \"ROW,number,number,…\"");
    return code;
}

static enum rm_code read_matrix(struct matrix_reading *reading) {
    *reading->matrix = (struct feedback_matrix){.rows = 0};
    enum rm_code code = read_columns(reading);
    if (code == RM_OK)
        code = read_rows(reading);
    feedback_csv_close(&reading->csv);
    if (code != RM_OK)
        feedback_matrix_free(reading->matrix);
    return code;
}

enum rm_code feedback_matrix_load(char const *path, struct feedback_matrix *matrix, struct rm_error *error) {
    struct matrix_reading reading = {.matrix = matrix, .error = error};
    *matrix = (struct feedback_matrix){.rows = 0};
    enum rm_code const code = feedback_csv_open(path, &reading.csv, error);
    return code == RM_OK ? read_matrix(&reading) : code;
}

enum rm_code feedback_matrix_parse(char const *path, char const *text, size_t bytes, struct feedback_matrix *matrix,
                                   struct rm_error *error) {
    struct matrix_reading reading = {.matrix = matrix, .error = error};
    *matrix = (struct feedback_matrix){.rows = 0};
    enum rm_code const code = feedback_csv_parse(path, text, bytes, &reading.csv, error);
    return code == RM_OK ? read_matrix(&reading) : code;
}

void feedback_matrix_free(struct feedback_matrix *matrix) {
    for (uint32_t r = 0; r < matrix->rows; ++r)
        free(matrix->row_name[r]);
    for (uint32_t c = 0; c < matrix->columns; ++c)
        free(matrix->column_name[c]);
    free(matrix->row_name);
    free(matrix->column_name);
    free(matrix->value);
    *matrix = (struct feedback_matrix){.rows = 0};
}

char feedback_row_plane(char const *name) {
    char const *lane = strrchr(name, '/');
    lane = lane == NULL ? name : lane + 1;
    if (*lane == 'x' || *lane == 'y')
        return *lane;
    return '\0';
}

char feedback_column_plane(struct feedback_matrix const *matrix, uint32_t column) {
    double x = 0;
    double y = 0;
    for (uint32_t r = 0; r < matrix->rows; ++r) {
        double const value = matrix->value[(size_t)r * matrix->columns + column];
        double *of_plane = feedback_row_plane(matrix->row_name[r]) == 'y' ? &y : &x;
        *of_plane += value * value;
    }
    return y > x ? 'y' : 'x';
}
