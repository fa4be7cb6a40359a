// SPDX-License-Identifier: Apache-2.0
#include "calibration/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "calibration/row.h"

/** The cell of the first column of this kind, or "". */
static char const *text_of(struct rm_calibration_table const *table, enum rm_calibration_column_kind kind,
                           uint32_t *cell) {
    for (uint32_t i = 0; i < table->column_count && i < table->csv.cell_count; ++i)
        if (table->column[i].kind == kind) {
            *cell = i;
            return table->csv.cell[i].text;
        }
    return "";
}

static enum rm_code read_table_head(struct rm_calibration_table *table) {
    bool more;
    enum rm_code code = rm_csv_next(&table->csv, &more, table->error);
    if (code != RM_OK)
        return code;
    if (!more)
        return rm_csv_fail(&table->csv, table->error, 1, "the file is empty, expected a line with the columns' names");
    if (table->csv.cell_count > RM_CALIBRATION_COLUMNS_MAX)
        return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, RM_CALIBRATION_COLUMNS_MAX),
                           "expected at most %d columns", RM_CALIBRATION_COLUMNS_MAX);
    table->column_count = table->csv.cell_count;
    uint32_t instruments = 0, bpms = 0;
    for (uint32_t i = 0; i < table->column_count; ++i) {
        code = rm_calibration_read_column(&table->csv, i, &table->column[i], table->error);
        if (code != RM_OK)
            return code;
        instruments += table->column[i].kind == RM_COLUMN_INSTRUMENT;
        bpms += table->column[i].kind == RM_COLUMN_BPM;
    }
    if (instruments == 1 && bpms <= 1)
        return RM_OK;
    return rm_csv_fail(&table->csv, table->error, 1, "expected one column \"instrument\" and at most one \"bpm\"");
}

static enum rm_code find_calibrated_instrument(struct rm_calibration_table const *table,
                                               struct rm_calibration_row *row) {
    uint32_t cell = 0;
    char const *const name = text_of(table, RM_COLUMN_INSTRUMENT, &cell);
    struct rm_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < table->count; ++i) {
        if (strcmp(table->instruments[i].name, name) == 0) {
            row->instrument = &table->instruments[i];
            row->suffix = text_of(table, RM_COLUMN_BPM, &cell);
            return RM_OK;
        }
        rm_nearest_offer(&nearest, table->instruments[i].name);
    }
    char text[64];
    return rm_csv_fail(&table->csv, table->error, rm_calibration_cell_place(table, cell),
                       "found \"%.40s\", expected the name of an instrument%s", name,
                       rm_calibration_guess(&nearest, text));
}

static enum rm_code read_rows(struct rm_calibration_table *table) {
    for (;;) {
        bool more;
        enum rm_code code = rm_csv_next(&table->csv, &more, table->error);
        if (code != RM_OK || !more)
            return code;
        struct rm_calibration_row row = {.suffix = ""};
        code = find_calibrated_instrument(table, &row);
        if (row.instrument != NULL)
            code = rm_calibration_read_row(table, &row);
        if (code != RM_OK)
            return code;
    }
}

void rm_calibration_clear(struct rm_calibration_instrument *instrument) {
    rm_calibration_identity(&instrument->calibration, instrument->lane, instrument->lane_count);
    memset(instrument->unit, 0, sizeof instrument->unit);
    memset(instrument->line, 0, sizeof instrument->line);
    for (uint32_t i = 0; i < instrument->lane_count; ++i)
        memcpy(instrument->unit[i], instrument->lane[i].unit, RM_UNIT_BYTES);
}

enum rm_code rm_calibration_load_csv(char const *path, struct rm_calibration_instrument *instruments, size_t count,
                                     struct rm_error *error) {
    for (size_t i = 0; i < count; ++i)
        rm_calibration_clear(&instruments[i]);
    struct rm_calibration_table *const table = calloc(1, sizeof *table);
    if (table == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to read it", path);
    table->instruments = instruments;
    table->count = count;
    table->error = error;
    enum rm_code code = rm_csv_open(path, &table->csv, error);
    if (code == RM_OK)
        code = read_table_head(table);
    if (code == RM_OK)
        code = read_rows(table);
    rm_csv_close(&table->csv);
    free(table);
    return code;
}
