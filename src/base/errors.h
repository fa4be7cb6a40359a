// SPDX-License-Identifier: Apache-2.0
/** What programs do with the errors of a file (ringmaster/errors.h). Cold path only. */
#ifndef RM_BASE_ERRORS_H
#define RM_BASE_ERRORS_H

#include <stdio.h>

#include <ringmaster/errors.h>

/** Writes a line for each, "PROGRAM: text", and how many more there are. */
void rm_errors_print(struct rm_errors const *errors, char const *program, FILE *out);

#endif
