// SPDX-License-Identifier: Apache-2.0
/** Comma-separated text as people and spreadsheets write it, row by row, with the place of every cell for messages.
 *
 * Cells may stand in double quotes, in which "" is one quote; blanks around a cell are not part of it. Lines end with
 * \n or \r\n. A byte order mark at the start, empty lines, lines of commas alone and lines that begin with # are passed
 * over. Lines and columns (in bytes) count from 1.
 *
 *     struct rm_csv csv;
 *     bool more = false;
 *     enum rm_code code = rm_csv_open(path, &csv, error);
 *     while (code == RM_OK && (code = rm_csv_next(&csv, &more, error)) == RM_OK && more)
 *         take(csv.cell[0].text);
 *     rm_csv_close(&csv);
 *
 * A table of numbers with names on both sides is read at once by table.h. Cold path only. In the library
 * `ringmaster-support`.
 */
#ifndef RINGMASTER_CSV_H
#define RINGMASTER_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

struct rm_csv_cell {
    /** Zero-terminated, in the reader's memory: valid until rm_csv_close. */
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
    /** Cells of the row that was read last: valid until the next row is read. */
    struct rm_csv_cell *cell;
    /** Cells that there is memory for. */
    uint32_t cell_room;
};

/** Reads the file. `path` stays the caller's and must outlive `*csv`. RM_E_SYSTEM when that is impossible, RM_E_CONFIG
 * when it is no text. Close it in any case. */
enum rm_code rm_csv_open(char const *path, struct rm_csv *csv, struct rm_error *error);

/** The same with a text that is there; `path` is for messages. */
enum rm_code rm_csv_parse(char const *path, char const *text, size_t bytes, struct rm_csv *csv, struct rm_error *error);
void rm_csv_close(struct rm_csv *csv);

/** Reads the next row. `*more` is false at the end. RM_E_CONFIG for a row that is malformed. */
enum rm_code rm_csv_next(struct rm_csv *csv, bool *more, struct rm_error *error);

/** Takes a cell as a finite decimal number. RM_E_CONFIG with its place, and `what` it is: "the gain". */
enum rm_code rm_csv_number(struct rm_csv const *csv, struct rm_csv_cell const *cell, char const *what, double *number,
                           struct rm_error *error);

/** Writes "FILE:LINE:COLUMN: text" for a place in the row that was read last; returns RM_E_CONFIG. */
enum rm_code rm_csv_fail(struct rm_csv const *csv, struct rm_error *error, uint32_t column, char const *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
