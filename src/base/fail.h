// SPDX-License-Identifier: Apache-2.0
/** Filling in a struct rm_error (ringmaster/error.h). */
#ifndef RM_BASE_FAIL_H
#define RM_BASE_FAIL_H

#include <ringmaster/error.h>

/** Writes code and text into `*error` (which may be NULL) and returns the code: `return rm_fail(error, …);`. Every
 * control character but a new line becomes '?'. */
enum rm_code rm_fail(struct rm_error *error, enum rm_code code, char const *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
