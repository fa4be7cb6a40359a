// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <stdlib.h>
#include <string.h>

#include <ringmaster/csv.h>

#include "../law/product.h"

static double const GOLDEN_MOST_NM = 1e8;
static double const WEIGHT_MOST = 1e6;

/** The files that the configuration names, while they are read. */
struct loading {
    char const *path;
    struct feedback_configuration *configuration;
    bool *row_seen, *column_seen; /**< in the file of pairs that is read now */
    struct rm_errors *errors;
};

/* An error that has its place, if it has one, in its words. */
static enum rm_code refuse_all(struct loading *loading, struct rm_error const *why) {
    rm_errors_add(loading->errors, why);
    return why->code;
}

static enum rm_code no_memory(struct loading *loading) {
    struct rm_error why;
    rm_fail(&why, RM_E_NO_SPACE, "%s: no memory", loading->path);
    return refuse_all(loading, &why);
}

/* When a file that a key names cannot be opened, the key's place is what people need. */
static enum rm_code tell_place(struct loading *loading, char const *key, enum rm_code code,
                               struct rm_error const *why) {
    if (code == RM_E_SYSTEM)
        return rm_configuration_refuse(loading->errors, loading->path, key, "%s", why->text);
    return code == RM_OK ? RM_OK : refuse_all(loading, why);
}

static enum rm_code check_golden_rows(struct loading *loading, char const *path) {
    struct rm_table const *matrix = &loading->configuration->matrix;
    char text[RM_QUOTED_BYTES];
    struct rm_error why;
    for (uint32_t r = 0; r < matrix->rows; ++r) {
        bool const has_lane = strchr(matrix->row_name[r], '/') != NULL;
        if (has_lane && feedback_row_plane(matrix->row_name[r]) != '\0')
            continue;
        rm_fail(&why, RM_E_CONFIG,
                "%s: the row %s is no BPM reading, expected INSTRUMENT/LANE with a lane that begins with x or y", path,
                rm_quote(matrix->row_name[r], strlen(matrix->row_name[r]), text));
        return refuse_all(loading, &why);
    }
    return RM_OK;
}

static enum rm_code check_sizes(struct loading *loading, char const *path) {
    struct rm_table const *matrix = &loading->configuration->matrix;
    struct rm_error why;
    if (matrix->rows <= FEEDBACK_ROWS_MAX && matrix->columns <= FEEDBACK_OUTPUTS_MAX)
        return RM_OK;
    rm_fail(&why, RM_E_CONFIG, "%s: found %u rows and %u columns, expected at most %d and %d", path, matrix->rows,
            matrix->columns, FEEDBACK_ROWS_MAX, FEEDBACK_OUTPUTS_MAX);
    return refuse_all(loading, &why);
}

static enum rm_code load_matrix(struct loading *loading) {
    struct rm_error why = {.text = ""};
    char *path = rm_configuration_beside(loading->path, loading->configuration->matrix_file);
    if (path == NULL)
        return no_memory(loading);
    enum rm_code code = rm_table_load(path, &loading->configuration->matrix, &why);
    code = tell_place(loading, "matrix", code, &why);
    if (code == RM_OK)
        code = check_sizes(loading, path);
    if (code == RM_OK)
        code = check_golden_rows(loading, path);
    free(path);
    return code;
}

static enum rm_code make_arrays(struct loading *loading) {
    struct feedback_configuration *to = loading->configuration;
    uint32_t const rows = to->matrix.rows;
    uint32_t const columns = to->matrix.columns;
    to->golden_nm = calloc(rows, sizeof *to->golden_nm);
    to->row_weight = calloc(rows, sizeof *to->row_weight);
    to->column_weight = calloc(columns, sizeof *to->column_weight);
    loading->row_seen = calloc(rows, sizeof *loading->row_seen);
    loading->column_seen = calloc(columns, sizeof *loading->column_seen);
    if (to->golden_nm == NULL || to->row_weight == NULL || to->column_weight == NULL || loading->row_seen == NULL ||
        loading->column_seen == NULL)
        return no_memory(loading);
    for (uint32_t r = 0; r < rows; ++r)
        to->row_weight[r] = 1;
    for (uint32_t c = 0; c < columns; ++c)
        to->column_weight[c] = 1;
    return RM_OK;
}

/** A file of lines NAME,number: what the number is called, its range, and where those of a row or a column go. */
struct pairs {
    char const *key, *what;
    double low, high;
    /** [row], [column]; NULL: there are none for columns. */
    double *of_row, *of_column;
};

/** Where the number of the row or column of this name goes, and whether it has been there; NULL: there is none. */
static double *find_place(struct loading *loading, struct pairs const *pairs, char const *name, bool **seen) {
    struct rm_table const *matrix = &loading->configuration->matrix;
    uint32_t const row = rm_table_row(matrix, name);
    uint32_t const column = rm_table_column(matrix, name);
    bool const is_row = row < matrix->rows;
    if (!is_row && (pairs->of_column == NULL || column == matrix->columns))
        return NULL;
    *seen = is_row ? &loading->row_seen[row] : &loading->column_seen[column];
    return is_row ? &pairs->of_row[row] : &pairs->of_column[column];
}

static enum rm_code take_pair(struct loading *loading, struct pairs const *pairs, struct rm_csv const *csv,
                              struct rm_error *error) {
    struct rm_csv_cell const *name = csv->cell;
    char text[RM_QUOTED_BYTES];
    bool *seen = NULL;
    double number = 0;
    if (csv->cell_count != 2)
        return rm_csv_fail(csv, error, csv->cell[csv->cell_count > 2 ? 2 : 0].column,
                           "found %u fields, expected NAME,number: %s", csv->cell_count, pairs->what);
    enum rm_code const code = rm_csv_number(csv, &csv->cell[1], pairs->what, &number, error);
    if (code != RM_OK)
        return code;
    rm_quote(name->text, strlen(name->text), text);
    double *place = find_place(loading, pairs, name->text, &seen);
    if (place == NULL)
        return rm_csv_fail(csv, error, name->column,
                           pairs->of_column == NULL ? "%s is no row of the matrix"
                                                    : "%s is neither row nor column of the matrix",
                           text);
    if (*seen)
        return rm_csv_fail(csv, error, name->column, "%s is there twice", text);
    if (number < pairs->low || number > pairs->high)
        return rm_csv_fail(csv, error, name->column, "%s: found %g, expected %g to %g", text, number, pairs->low,
                           pairs->high);
    *seen = true;
    *place = number;
    return RM_OK;
}

static enum rm_code read_pairs(struct loading *loading, struct pairs const *pairs, char const *path,
                               struct rm_error *error) {
    struct rm_csv csv;
    bool more = false;
    enum rm_code code = rm_csv_open(path, &csv, error);
    while (code == RM_OK && (code = rm_csv_next(&csv, &more, error)) == RM_OK && more)
        code = take_pair(loading, pairs, &csv, error);
    rm_csv_close(&csv);
    return code;
}

static enum rm_code load_pairs(struct loading *loading, char const *name, struct pairs const *pairs) {
    struct rm_error why = {.text = ""};
    if (name == NULL)
        return RM_OK;
    char *path = rm_configuration_beside(loading->path, name);
    if (path == NULL)
        return no_memory(loading);
    memset(loading->row_seen, 0, loading->configuration->matrix.rows * sizeof *loading->row_seen);
    memset(loading->column_seen, 0, loading->configuration->matrix.columns * sizeof *loading->column_seen);
    enum rm_code const code = tell_place(loading, pairs->key, read_pairs(loading, pairs, path, &why), &why);
    free(path);
    return code;
}

static enum rm_code find_rf(struct loading *loading) {
    struct feedback_configuration *to = loading->configuration;
    if (to->rf.actuator == NULL)
        return RM_OK;
    uint32_t const column = rm_table_column(&to->matrix, to->rf.actuator);
    to->rf.column = (int32_t)column;
    if (column < to->matrix.columns)
        return RM_OK;
    return rm_configuration_refuse(loading->errors, loading->path, "rf.actuator",
                                   "found \"%s\", expected a column of the matrix %s: its response to the RF frequency",
                                   to->rf.actuator, to->matrix_file);
}

static enum rm_code check_families(struct loading *loading) {
    int32_t *family = calloc(loading->configuration->matrix.columns, sizeof *family);
    if (family == NULL)
        return no_memory(loading);
    enum rm_code const code = feedback_families_check(loading->configuration, family, loading->errors);
    free(family);
    return code;
}

/* What stands on the matrix: nothing of it is judged where that is wrong. */
static enum rm_code load_matrix_and_more(struct loading *loading) {
    struct feedback_configuration *to = loading->configuration;
    enum rm_code code = load_matrix(loading);
    if (code == RM_OK)
        code = make_arrays(loading);
    if (code != RM_OK)
        return code;
    struct pairs const golden = {"golden", "nm", -GOLDEN_MOST_NM, GOLDEN_MOST_NM, to->golden_nm, NULL};
    struct pairs const weights = {"weights", "the weight", 0, WEIGHT_MOST, to->row_weight, to->column_weight};
    code = load_pairs(loading, to->golden_file, &golden);
    code = rm_code_first(code, load_pairs(loading, to->weights_file, &weights));
    code = rm_code_first(code, find_rf(loading));
    return rm_code_first(code, check_families(loading));
}

static enum rm_code check_configuration(char const *path, void *values, struct rm_errors *errors) {
    struct loading loading = {.path = path, .configuration = values, .errors = errors};
    enum rm_code code = feedback_configuration_resolve(path, loading.configuration, errors);
    loading.configuration->path = strdup(path);
    if (loading.configuration->path == NULL)
        code = rm_code_first(code, no_memory(&loading));
    else
        code = rm_code_first(code, load_matrix_and_more(&loading));
    free(loading.row_seen);
    free(loading.column_seen);
    return code;
}

enum rm_code feedback_configuration_load_all(char const *path, struct feedback_configuration *configuration,
                                             struct rm_errors *errors) {
    *configuration = (struct feedback_configuration){.rf = {.column = -1}};
    enum rm_code const code = rm_configuration_load(path, feedback_keys, configuration, check_configuration, errors);
    if (code != RM_OK)
        feedback_configuration_free(configuration);
    return code;
}

enum rm_code feedback_configuration_load(char const *path, struct feedback_configuration *configuration,
                                         struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = feedback_configuration_load_all(path, configuration, &errors);
    if (code != RM_OK && error != NULL)
        *error = errors.first[0];
    return code;
}

void feedback_configuration_free(struct feedback_configuration *configuration) {
    rm_configuration_free(feedback_keys, configuration);
    rm_table_free(&configuration->matrix);
    free(configuration->golden_nm);
    free(configuration->row_weight);
    free(configuration->column_weight);
    free(configuration->path);
    *configuration = (struct feedback_configuration){.rf = {.column = -1}};
}
