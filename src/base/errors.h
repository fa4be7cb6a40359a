// SPDX-License-Identifier: Apache-2.0
/** Collects all errors of a file, to be reported at once. Cold path only. */
#ifndef RM_BASE_ERRORS_H
#define RM_BASE_ERRORS_H

#include <stdint.h>
#include <stdio.h>

#include <ringmaster/error.h>

/** Most errors that are kept. Further ones are only counted. */
enum { RM_ERRORS_MAX = 20 };

/** Zeroed, it is empty. */
struct rm_errors {
    /** How many there were, also beyond RM_ERRORS_MAX. */
    uint32_t count;

    struct rm_error first[RM_ERRORS_MAX];
};

/** Adds an error, unless the last one is the same. */
void rm_errors_add(struct rm_errors *errors, struct rm_error const *error);

/** The first failure's code of two steps that were both taken. */
static inline enum rm_code rm_code_first(enum rm_code one, enum rm_code other) { return one != RM_OK ? one : other; }

/** Writes a line for each, "PROGRAM: text", and how many more there are. */
void rm_errors_print(struct rm_errors const *errors, char const *program, FILE *out);

#endif
