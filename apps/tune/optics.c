// SPDX-License-Identifier: Apache-2.0
#include "optics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/abi.h>
#include <ringmaster/table.h>

enum { BETA_X, BETA_Y, PHASE_X, PHASE_Y, NOISE, COLUMNS };

static struct {
    char const *name;
    double low, high;
} const columns[COLUMNS] = {
    [BETA_X] = {"beta_x_m", 1e-3, 1e4},     [BETA_Y] = {"beta_y_m", 1e-3, 1e4}, [PHASE_X] = {"phase_x_rad", -1e4, 1e4},
    [PHASE_Y] = {"phase_y_rad", -1e4, 1e4}, [NOISE] = {"noise", 1e-12, 1e12},
};

static enum rm_code refuse(char const *path, struct tune_file const *file, struct rm_errors *errors, char const *text) {
    return rm_configuration_refuse(errors, path, "optics", "%s: %s", file->optics, text);
}

/** Where each column is; that of `noise` is the table's number of columns where there is none. */
static enum rm_code find_columns(char const *path, struct tune_file const *file, struct rm_table const *table,
                                 uint32_t at[COLUMNS], struct rm_errors *errors) {
    uint32_t found = 0;
    char text[128];
    for (int c = 0; c < COLUMNS; ++c) {
        at[c] = rm_table_column(table, columns[c].name);
        found += at[c] < table->columns;
        snprintf(text, sizeof text, "it has no column %s", columns[c].name);
        if (at[c] == table->columns && c != NOISE)
            return refuse(path, file, errors, text);
    }
    if (found < table->columns)
        return refuse(
            path, file, errors,
            "it has columns that are not known, expected beta_x_m, beta_y_m, phase_x_rad, phase_y_rad, noise");
    return RM_OK;
}

static enum rm_code take_row(char const *path, struct tune_file *file, struct rm_table const *table,
                             uint32_t const at[COLUMNS], uint32_t row, struct rm_errors *errors) {
    struct tune_file_bpm *const bpm = &file->bpm[row];
    double value[COLUMNS] = {[NOISE] = 1.0};
    char text[RM_NAME_BYTES + 128];
    for (int c = 0; c < COLUMNS; ++c) {
        if (at[c] == table->columns)
            continue;
        value[c] = table->value[(size_t)row * table->columns + at[c]];
        if (value[c] >= columns[c].low && value[c] <= columns[c].high)
            continue;
        snprintf(text, sizeof text, "%s: %s: found %g, expected %g to %g", table->row_name[row], columns[c].name,
                 value[c], columns[c].low, columns[c].high);
        return refuse(path, file, errors, text);
    }
    *bpm = (struct tune_file_bpm){
        .beta_m = {value[BETA_X], value[BETA_Y]}, .phase_rad = {value[PHASE_X], value[PHASE_Y]}, .noise = value[NOISE]};
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        if (asprintf(&bpm->lane[plane], "%s/%s", table->row_name[row], file->lane[plane]) < 0) {
            bpm->lane[plane] = NULL;
            return refuse(path, file, errors, "no memory");
        }
    return RM_OK;
}

static enum rm_code take_table(char const *path, struct tune_file *file, struct rm_table const *table,
                               struct rm_errors *errors) {
    uint32_t at[COLUMNS] = {0};
    enum rm_code code = find_columns(path, file, table, at, errors);
    if (code != RM_OK)
        return code;
    if (table->rows > TUNE_BPMS_MAX)
        return rm_configuration_refuse(errors, path, "optics", "%s: %u rows, expected at most %d", file->optics,
                                       table->rows, TUNE_BPMS_MAX);
    file->bpm = calloc(table->rows, sizeof *file->bpm);
    if (file->bpm == NULL)
        return refuse(path, file, errors, "no memory");
    file->bpms = table->rows;
    for (uint32_t row = 0; row < table->rows; ++row)
        code = rm_code_first(code, take_row(path, file, table, at, row, errors));
    return code;
}

enum rm_code tune_optics_load(char const *path, struct tune_file *file, struct rm_errors *errors) {
    struct rm_table table;
    struct rm_error error = {.text = ""};
    char *const beside = rm_configuration_beside(path, file->optics);
    if (beside == NULL)
        return refuse(path, file, errors, "no memory");
    enum rm_code code = rm_table_load(beside, &table, &error);
    free(beside);
    if (code != RM_OK)
        return rm_configuration_refuse(errors, path, "optics", "%s", error.text);
    code = take_table(path, file, &table, errors);
    rm_table_free(&table);
    return code;
}
