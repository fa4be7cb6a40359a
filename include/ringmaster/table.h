// SPDX-License-Identifier: Apache-2.0
/** A table of numbers with names on both sides, such as a response matrix, from a file of comma-separated text:
 *
 *     # nm per A; lines that begin with # are comments
 *     ,sr/ps/ch_s01_01,sr/ps/ch_s01_02,…
 *     bpm01/x,12345.6,-789.1,…
 *
 * The first line names the columns, each further one a row and its numbers. Fields may stand in quotes, as spreadsheets
 * like it: csv.h. The unit of the numbers is what writer and reader agree on. Cold path only. In the library
 * `ringmaster-support`.
 */
#ifndef RINGMASTER_TABLE_H
#define RINGMASTER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum {
    /** Most rows, and most columns. */
    RM_TABLE_MOST = 8192,
};

struct rm_table {
    uint32_t rows, columns;
    /** Names, each of 1 to RM_NAME_BYTES − 1 bytes; no two rows have the same, and no two columns. */
    char **row_name, **column_name;
    /** [row · columns + column], all finite. */
    double *value;
};

/** Reads the file. RM_E_SYSTEM when that is impossible; RM_E_CONFIG with file, line and column for what is not a finite
 * number, a name that is there twice, too few or too many numbers. Free it after RM_OK; otherwise it is empty. */
enum rm_code rm_table_load(char const *path, struct rm_table *table, struct rm_error *error);

/** The same with a text that is there; `path` is for messages. */
enum rm_code rm_table_parse(char const *path, char const *text, size_t bytes, struct rm_table *table,
                            struct rm_error *error);
void rm_table_free(struct rm_table *table);

/** Index of the row, or of the column, of this name; their number when there is none. */
uint32_t rm_table_row(struct rm_table const *table, char const *name);
uint32_t rm_table_column(struct rm_table const *table, char const *name);

#endif
