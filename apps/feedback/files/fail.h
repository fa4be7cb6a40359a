// SPDX-License-Identifier: Apache-2.0
/** Fills errors in, for this room: applications do not know the server's own helpers. */
#ifndef FEEDBACK_FAIL_H
#define FEEDBACK_FAIL_H

#include <stdarg.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum { FEEDBACK_QUOTED_BYTES = 48 };

/** A place in a file of text; line and column count from 1, bytes. Line 0: the file as a whole. */
struct feedback_place {
    char const *path;
    uint32_t line, column;
};

/** Returns `code`. `error` may be NULL. */
enum rm_code feedback_fail(struct rm_error *error, enum rm_code code, char const *format, ...)
    __attribute__((format(printf, 3, 4)));

/** RM_E_CONFIG with "FILE:LINE:COLUMN: text". */
enum rm_code feedback_fail_at(struct rm_error *error, struct feedback_place const *place, char const *format, ...)
    __attribute__((format(printf, 3, 4)));
enum rm_code feedback_vfail_at(struct rm_error *error, struct feedback_place const *place, char const *format,
                               va_list arguments) __attribute__((format(printf, 3, 0)));

/** What a file has, in quotes, cut where it is long, and without what a terminal would obey. */
char const *feedback_quote(char const *text, char quoted[FEEDBACK_QUOTED_BYTES]);

#endif
