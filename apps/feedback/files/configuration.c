// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "configuration_file.h"
#include "csv.h"
#include "fail.h"

static double const GOLDEN_MOST_NM = 1e8;
static double const WEIGHT_MOST = 1e6;

/** What is read by and by. */
struct loading {
    char const *path;
    struct feedback_file *file;
    struct feedback_configuration *configuration;
    bool *row_seen, *column_seen; /**< in the file of pairs that is read now */
    struct rm_errors *errors;
};

char *feedback_beside(char const *path, char const *name) {
    char const *slash = strrchr(path, '/');
    char *made = NULL;
    if (name[0] == '/' || slash == NULL)
        return strdup(name);
    return asprintf(&made, "%.*s/%s", (int)(slash - path), path, name) < 0 ? NULL : made;
}

enum rm_code feedback_refuse(struct rm_errors *errors, char const *path, char const *key, char const *format, ...) {
    struct rm_error error;
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = rm_yaml_vfail(&error, path, key, format, arguments);
    va_end(arguments);
    rm_errors_add(errors, &error);
    return code;
}

/* An error that has its place, if it has one, in its words. */
static enum rm_code refuse_all(struct loading *loading, struct rm_error const *why) {
    rm_errors_add(loading->errors, why);
    return why->code;
}

static enum rm_code no_memory(struct loading *loading) {
    struct rm_error why;
    feedback_fail(&why, RM_E_NO_SPACE, "%s: no memory", loading->path);
    return refuse_all(loading, &why);
}

static uint32_t find_name(char *const *names, uint32_t count, char const *name) {
    uint32_t n = 0;
    while (n < count && strcmp(names[n], name) != 0)
        ++n;
    return n;
}

/* When a file that a key names cannot be opened, the key's place is what people need. */
static enum rm_code tell_place(struct loading *loading, char const *key, enum rm_code code,
                               struct rm_error const *why) {
    if (code == RM_E_SYSTEM)
        return feedback_refuse(loading->errors, loading->path, key, "%s", why->text);
    return code == RM_OK ? RM_OK : refuse_all(loading, why);
}

static enum rm_code check_golden_rows(struct loading *loading, char const *path) {
    struct feedback_matrix const *matrix = &loading->configuration->matrix;
    char text[FEEDBACK_QUOTED_BYTES];
    struct rm_error why;
    for (uint32_t r = 0; r < matrix->rows; ++r) {
        bool const has_lane = strchr(matrix->row_name[r], '/') != NULL;
        if (has_lane && feedback_row_plane(matrix->row_name[r]) != '\0')
            continue;
        feedback_fail(&why, RM_E_CONFIG,
                      "%s: the row %s is no BPM reading, expected INSTRUMENT/LANE with a lane that begins with x or y",
                      path, feedback_quote(matrix->row_name[r], text));
        return refuse_all(loading, &why);
    }
    return RM_OK;
}

static enum rm_code load_matrix(struct loading *loading) {
    struct rm_error why = {.text = ""};
    char *path = feedback_beside(loading->path, loading->file->matrix);
    if (path == NULL)
        return no_memory(loading);
    enum rm_code code = feedback_matrix_load(path, &loading->configuration->matrix, &why);
    code = tell_place(loading, "matrix", code, &why);
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

static enum rm_code check_number_pair(struct feedback_csv const *csv, char const *name, bool *seen, double number,
                                      double low, double high, struct rm_error *error) {
    char text[FEEDBACK_QUOTED_BYTES];
    if (*seen)
        return feedback_fail_at(error, &csv->place, "%s is there twice", feedback_quote(name, text));
    *seen = true;
    if (number < low || number > high)
        return feedback_fail_at(error, &csv->place, "%s: found %g, expected %g to %g", feedback_quote(name, text),
                                number, low, high);
    return RM_OK;
}

static enum rm_code take_golden(void *context, struct feedback_csv const *csv, char const *name, double number,
                                struct rm_error *error) {
    struct loading *loading = context;
    struct feedback_configuration *to = loading->configuration;
    char text[FEEDBACK_QUOTED_BYTES];
    uint32_t const row = find_name(to->matrix.row_name, to->matrix.rows, name);
    if (row == to->matrix.rows)
        return feedback_fail_at(error, &csv->place, "%s is no row of the matrix", feedback_quote(name, text));
    to->golden_nm[row] = number;
    return check_number_pair(csv, name, &loading->row_seen[row], number, -GOLDEN_MOST_NM, GOLDEN_MOST_NM, error);
}

static enum rm_code take_weight(void *context, struct feedback_csv const *csv, char const *name, double number,
                                struct rm_error *error) {
    struct loading *loading = context;
    struct feedback_configuration *to = loading->configuration;
    char text[FEEDBACK_QUOTED_BYTES];
    uint32_t const row = find_name(to->matrix.row_name, to->matrix.rows, name);
    uint32_t const column = find_name(to->matrix.column_name, to->matrix.columns, name);
    bool const is_row = row < to->matrix.rows;
    if (!is_row && column == to->matrix.columns)
        return feedback_fail_at(error, &csv->place, "%s is neither row nor column of the matrix",
                                feedback_quote(name, text));
    *(is_row ? &to->row_weight[row] : &to->column_weight[column]) = number;
    return check_number_pair(csv, name, is_row ? &loading->row_seen[row] : &loading->column_seen[column], number, 0,
                             WEIGHT_MOST, error);
}

static enum rm_code load_pairs(struct loading *loading, char const *key, char const *name, char const *what,
                               enum rm_code (*take)(void *, struct feedback_csv const *, char const *, double,
                                                    struct rm_error *)) {
    struct feedback_csv csv = {.text = NULL};
    struct rm_error why = {.text = ""};
    if (name == NULL)
        return RM_OK;
    char *path = feedback_beside(loading->path, name);
    if (path == NULL)
        return no_memory(loading);
    memset(loading->row_seen, 0, loading->configuration->matrix.rows * sizeof *loading->row_seen);
    memset(loading->column_seen, 0, loading->configuration->matrix.columns * sizeof *loading->column_seen);
    enum rm_code code = feedback_csv_open(path, &csv, &why);
    if (code == RM_OK)
        code = feedback_csv_pairs(&csv, what, take, loading, &why);
    code = tell_place(loading, key, code, &why);
    feedback_csv_close(&csv);
    free(path);
    return code;
}

static enum rm_code find_rf(struct loading *loading) {
    struct feedback_matrix const *matrix = &loading->configuration->matrix;
    if (loading->file->rf == NULL)
        return RM_OK;
    uint32_t const column = find_name(matrix->column_name, matrix->columns, loading->file->rf->actuator);
    loading->configuration->rf.column = (int32_t)column;
    if (column < matrix->columns)
        return RM_OK;
    return feedback_refuse(loading->errors, loading->path, "rf.actuator",
                           "found \"%s\", expected a column of the matrix %s: its response to the RF frequency",
                           loading->file->rf->actuator, loading->file->matrix);
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
    enum rm_code code = load_matrix(loading);
    if (code == RM_OK)
        code = make_arrays(loading);
    if (code != RM_OK)
        return code;
    code = load_pairs(loading, "golden", loading->file->golden, "nm", take_golden);
    code = rm_code_first(code, load_pairs(loading, "weights", loading->file->weights, "the weight", take_weight));
    code = rm_code_first(code, find_rf(loading));
    return rm_code_first(code, check_families(loading));
}

static enum rm_code load_all(struct loading *loading) {
    void *file = NULL;
    enum rm_code code = rm_yaml_load_all(loading->path, &feedback_schema, &file, loading->errors);
    if (code != RM_OK)
        return code;
    loading->file = file;
    code = feedback_configuration_resolve(loading->path, loading->file, loading->configuration, loading->errors);
    code = rm_code_first(code, load_matrix_and_more(loading));
    rm_yaml_free(&feedback_schema, file);
    return code;
}

enum rm_code feedback_configuration_load_all(char const *path, struct feedback_configuration *configuration,
                                             struct rm_errors *errors) {
    struct loading loading = {.path = path, .configuration = configuration, .errors = errors};
    *configuration = (struct feedback_configuration){.path = strdup(path), .rf = {.column = -1}};
    enum rm_code const code = configuration->path == NULL ? no_memory(&loading) : load_all(&loading);
    free(loading.row_seen);
    free(loading.column_seen);
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
    for (uint32_t f = 0; f < configuration->family_count; ++f)
        for (uint32_t p = 0; p < configuration->family[f].pattern_count; ++p)
            free(configuration->family[f].patterns[p]);
    for (uint32_t t = 0; t < configuration->table_count; ++t)
        free(configuration->table[t].path);
    for (uint32_t s = 0; s < configuration->shadow_inputs; ++s)
        free(configuration->shadow_input[s]);
    feedback_matrix_free(&configuration->matrix);
    free(configuration->golden_nm);
    free(configuration->row_weight);
    free(configuration->column_weight);
    free(configuration->path);
    *configuration = (struct feedback_configuration){.rf = {.column = -1}};
}
