// SPDX-License-Identifier: Apache-2.0
/** A table in a text file: comma-separated, as spreadsheets write it, with the place of every cell for messages.
 *
 * Cells may stand in double quotes, in which "" is one quote; spaces around a cell are not part of it. Lines end with
 * \n or \r\n. A byte order mark at the start, empty lines, lines of commas alone and lines that begin with # are passed
 * over. Lines and columns (in bytes) count from 1.
 */
#ifndef RM_CALIBRATION_CSV_H
#define RM_CALIBRATION_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum { RM_CSV_CELLS_MAX = 512 };

struct rm_csv_cell {
    /** Zero-terminated, in the reader's memory. */
    char const *text;
    /** Column of its line where it begins. */
    uint32_t column;
};

struct rm_csv {
    /** Path of the file, for messages. */
    char const *path;
    /** The whole file. */
    char *text;
    /** Where the next line begins. */
    char *next;
    /** Line of the row that was read last. */
    uint32_t line;

    uint32_t cell_count;
    /** Cells of the row that was read last. */
    struct rm_csv_cell cell[RM_CSV_CELLS_MAX];
};

/** Reads the file. `path` stays the caller's and must outlive `*csv`. RM_E_SYSTEM, RM_E_CONFIG. */
enum rm_code rm_csv_open(char const *path, struct rm_csv *csv, struct rm_error *error);
void rm_csv_close(struct rm_csv *csv);

/** Reads the next row. `*more` is false at the end. RM_E_CONFIG for a row that is malformed. */
enum rm_code rm_csv_next(struct rm_csv *csv, bool *more, struct rm_error *error);

/** Writes "FILE:LINE:COLUMN: text" for a place in the row that was read last; returns RM_E_CONFIG. */
enum rm_code rm_csv_fail(struct rm_csv const *csv, struct rm_error *error, uint32_t column, char const *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
