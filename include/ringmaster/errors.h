// SPDX-License-Identifier: Apache-2.0
/** Writing errors, for applications: one, or all those of a file at once.
 *
 * An error says what happened, where, what was expected and what to do (error.h). A function that finds one says
 *
 *     return rm_fail(error, RM_E_CONFIG, "has room for %u supplies, and is given %u", most, count);
 *
 * A file may have many. They are collected, so that people need not mend them one by one:
 *
 *     struct rm_errors errors = {.count = 0};
 *     rm_configuration_load(path, keys, &mine, check, &errors);            // configuration.h: adds all that is wrong
 *     if (errors.count > 0)
 *         return rm_errors_report(&errors, setup->name, path, error);
 *
 * Cold path only. In the library `ringmaster-support`, which `pkg-config --libs ringmaster` names.
 */
#ifndef RINGMASTER_ERRORS_H
#define RINGMASTER_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum {
    /** Most errors that are kept. Further ones are only counted. */
    RM_ERRORS_MAX = 20,
    /** Bytes of a quoted text, with the terminating zero. */
    RM_QUOTED_BYTES = 64,
};

/** Zeroed, it is empty. */
struct rm_errors {
    /** How many there were, also beyond RM_ERRORS_MAX. */
    uint32_t count;

    struct rm_error first[RM_ERRORS_MAX];
};

/** Writes code and text into `*error` (which may be NULL) and returns the code. Every control character but a new line
 * becomes '?': names out of foreign files come into messages, and messages come to terminals. */
enum rm_code rm_fail(struct rm_error *error, enum rm_code code, char const *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Adds an error, unless the last one is the same. */
void rm_errors_add(struct rm_errors *errors, struct rm_error const *error);

/** Hands over what was collected about the file at `path`, which may be NULL: one error as it is; of several, for which `*error` has no
 * room, each as a line "PROGRAM: text" on standard error, and their number in `*error`. Returns the first one's code,
 * or RM_OK when there are none. */
enum rm_code rm_errors_report(struct rm_errors const *errors, char const *program, char const *path,
                              struct rm_error *error);

/** The first failure's code of two steps that were both taken. */
static inline enum rm_code rm_code_first(enum rm_code one, enum rm_code other) { return one != RM_OK ? one : other; }

/** Writes `text` in double quotes for a message, cut where it is long, never inside a character; returns `quoted`. */
char const *rm_quote(char const *text, size_t bytes, char quoted[RM_QUOTED_BYTES]);

#endif
