// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/table.h>

#include <stdlib.h>
#include <string.h>

#include <ringmaster/abi.h>
#include <ringmaster/csv.h>
#include <ringmaster/errors.h>

/** The table while it grows. */
struct table_reading {
    struct rm_csv csv;
    struct rm_table *table;
    /** Rows that there is memory for. */
    uint32_t room;
    struct rm_error *error;
};

static enum rm_code fail_table_memory(struct table_reading const *reading) {
    return rm_fail(reading->error, RM_E_NO_SPACE, "%s: no memory for the table", reading->csv.path);
}

static uint32_t find_table_name(char *const *names, uint32_t count, char const *name) {
    uint32_t n = 0;
    while (n < count && strcmp(names[n], name) != 0)
        ++n;
    return n;
}

uint32_t rm_table_row(struct rm_table const *table, char const *name) {
    return find_table_name(table->row_name, table->rows, name);
}

uint32_t rm_table_column(struct rm_table const *table, char const *name) {
    return find_table_name(table->column_name, table->columns, name);
}

/** Puts a copy of a cell's text at the end of a list of names, which has room, if it is a name and not there yet. */
static enum rm_code add_table_name(struct table_reading *reading, char const *what, struct rm_csv_cell const *cell,
                                   char **names, uint32_t *count) {
    size_t const bytes = strlen(cell->text);
    char quoted[RM_QUOTED_BYTES];
    if (bytes == 0)
        return rm_csv_fail(&reading->csv, reading->error, cell->column, "a %s without a name", what);
    if (bytes >= RM_NAME_BYTES)
        return rm_csv_fail(&reading->csv, reading->error, cell->column, "the %s's name %s is longer than %d bytes",
                           what, rm_quote(cell->text, bytes, quoted), RM_NAME_BYTES - 1);
    if (find_table_name(names, *count, cell->text) < *count)
        return rm_csv_fail(&reading->csv, reading->error, cell->column, "the %s %s is there twice", what,
                           rm_quote(cell->text, bytes, quoted));
    names[*count] = strdup(cell->text);
    if (names[*count] == NULL)
        return fail_table_memory(reading);
    ++*count;
    return RM_OK;
}

static enum rm_code read_table_columns(struct table_reading *reading) {
    struct rm_csv *csv = &reading->csv;
    struct rm_table *table = reading->table;
    bool more = false;
    enum rm_code code = rm_csv_next(csv, &more, reading->error);
    if (code != RM_OK)
        return code;
    if (!more)
        return rm_fail(reading->error, RM_E_CONFIG, "%s: is empty, expected a first line \",COLUMN,COLUMN,…\"",
                       csv->path);
    char quoted[RM_QUOTED_BYTES];
    if (csv->cell[0].text[0] != '\0')
        return rm_csv_fail(csv, reading->error, csv->cell[0].column,
                           "found %s, expected an empty field: the first line is \",COLUMN,COLUMN,…\"",
                           rm_quote(csv->cell[0].text, strlen(csv->cell[0].text), quoted));
    if (csv->cell_count - 1 > RM_TABLE_MOST)
        return rm_csv_fail(csv, reading->error, csv->cell[RM_TABLE_MOST + 1].column, "more than %d columns",
                           RM_TABLE_MOST);
    table->column_name = reallocarray(NULL, csv->cell_count, sizeof *table->column_name);
    if (table->column_name == NULL)
        return fail_table_memory(reading);
    for (uint32_t c = 1; c < csv->cell_count && code == RM_OK; ++c)
        code = add_table_name(reading, "column", &csv->cell[c], table->column_name, &table->columns);
    return code;
}

static enum rm_code make_table_room(struct table_reading *reading) {
    struct rm_table *table = reading->table;
    if (table->rows < reading->room)
        return RM_OK;
    if (table->rows == RM_TABLE_MOST)
        return rm_csv_fail(&reading->csv, reading->error, 1, "more than %d rows", RM_TABLE_MOST);
    uint32_t const room = reading->room == 0 ? 16 : 2 * reading->room;
    char **names = reallocarray(table->row_name, room, sizeof *names);
    if (names == NULL)
        return fail_table_memory(reading);
    table->row_name = names;
    double *values = reallocarray(table->value, (size_t)room * table->columns, sizeof *values);
    if (values == NULL)
        return fail_table_memory(reading);
    table->value = values;
    reading->room = room;
    return RM_OK;
}

static enum rm_code read_table_numbers(struct table_reading *reading, double *value) {
    struct rm_csv const *csv = &reading->csv;
    struct rm_table const *table = reading->table;
    char const *const row = csv->cell[0].text;
    uint32_t const count = csv->cell_count - 1;
    char quoted[RM_QUOTED_BYTES];
    for (uint32_t c = 0; c < count && c < table->columns; ++c) {
        enum rm_code const code =
            rm_csv_number(csv, &csv->cell[c + 1], table->column_name[c], &value[c], reading->error);
        if (code != RM_OK)
            return code;
    }
    if (count == table->columns)
        return RM_OK;
    struct rm_csv_cell const *at = &csv->cell[count > table->columns ? table->columns + 1 : count];
    return rm_csv_fail(csv, reading->error, at->column, "row %s has %u numbers, expected %u, one per column",
                       rm_quote(row, strlen(row), quoted), count, table->columns);
}

static enum rm_code read_table_rows(struct table_reading *reading) {
    struct rm_table *table = reading->table;
    for (;;) {
        bool more = false;
        enum rm_code code = rm_csv_next(&reading->csv, &more, reading->error);
        if (code != RM_OK || !more)
            return code;
        code = make_table_room(reading);
        if (code == RM_OK)
            code = add_table_name(reading, "row", &reading->csv.cell[0], table->row_name, &table->rows);
        if (code == RM_OK)
            code = read_table_numbers(reading, table->value + (size_t)(table->rows - 1) * table->columns);
        if (code != RM_OK)
            return code;
    }
}

/** Goes on behind rm_csv_open or rm_csv_parse, which gave `code`. */
static enum rm_code read_table(struct table_reading *reading, enum rm_code code) {
    *reading->table = (struct rm_table){.rows = 0};
    if (code == RM_OK)
        code = read_table_columns(reading);
    if (code == RM_OK)
        code = read_table_rows(reading);
    if (code == RM_OK && reading->table->rows == 0)
        code = rm_fail(reading->error, RM_E_CONFIG, "%s: has no rows, expected lines \"ROW,number,number,…\"",
                       reading->csv.path);
    rm_csv_close(&reading->csv);
    if (code != RM_OK)
        rm_table_free(reading->table);
    return code;
}

enum rm_code rm_table_load(char const *path, struct rm_table *table, struct rm_error *error) {
    struct table_reading reading = {.table = table, .error = error};
    return read_table(&reading, rm_csv_open(path, &reading.csv, error));
}

enum rm_code rm_table_parse(char const *path, char const *text, size_t bytes, struct rm_table *table,
                            struct rm_error *error) {
    struct table_reading reading = {.table = table, .error = error};
    return read_table(&reading, rm_csv_parse(path, text, bytes, &reading.csv, error));
}

void rm_table_free(struct rm_table *table) {
    for (uint32_t r = 0; r < table->rows; ++r)
        free(table->row_name[r]);
    for (uint32_t c = 0; c < table->columns; ++c)
        free(table->column_name[c]);
    free(table->row_name);
    free(table->column_name);
    free(table->value);
    *table = (struct rm_table){.rows = 0};
}
