// SPDX-License-Identifier: Apache-2.0
/** Lines of fields, as people and spreadsheets write them, read a field at a time.
 *
 * Fields are separated by commas, blanks around them do not count, and a field may stand in double quotes, in which ""
 * is one quote. Lines that are empty or begin with # are left out. Lines may end with CR LF, the file may begin with
 * the byte order mark that spreadsheets write. A byte of 0 is an error: that is no text.
 */
#ifndef FEEDBACK_CSV_H
#define FEEDBACK_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

#include "fail.h"

enum { FEEDBACK_CSV_BYTES_MOST = 1 << 28 };

struct feedback_csv {
    /** The whole file. Fields are cut out of it in place. */
    char *text;
    /** The line after the current one; NULL: the current one is the last. */
    char *next_line;
    /** The current line. */
    char *line;
    /** Where the next field of that line begins; NULL: there is none. */
    char *at;
    /** Place of the field that was read last. */
    struct feedback_place place;
};

/** Reads the whole file: RM_E_SYSTEM when that is impossible, RM_E_CONFIG when it is no text. */
enum rm_code feedback_csv_open(char const *path, struct feedback_csv *csv, struct rm_error *error);

/** The same with a text that is there: a copy of it is taken. */
enum rm_code feedback_csv_parse(char const *path, char const *text, size_t bytes, struct feedback_csv *csv,
                                struct rm_error *error);
void feedback_csv_close(struct feedback_csv *csv);

/** Goes to the next line that says something; false behind the last. */
bool feedback_csv_line(struct feedback_csv *csv);

/** The next field of the line, which stays where it is until the file is closed; NULL in `field` behind the last. */
enum rm_code feedback_csv_field(struct feedback_csv *csv, char **field, struct rm_error *error);

/** The field as a finite decimal number. `what` says of what, for the error. */
enum rm_code feedback_csv_number(struct feedback_csv const *csv, char const *field, char const *what, double *number,
                                 struct rm_error *error);

/** Calls `take` with each NAME,number of a file of two fields per line. */
enum rm_code feedback_csv_pairs(struct feedback_csv *csv, char const *what,
                                enum rm_code (*take)(void *context, struct feedback_csv const *csv, char const *name,
                                                     double number, struct rm_error *error),
                                void *context, struct rm_error *error);

#endif
