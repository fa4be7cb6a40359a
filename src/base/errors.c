// SPDX-License-Identifier: Apache-2.0
#include "base/errors.h"

#include <string.h>

void rm_errors_add(struct rm_errors *errors, struct rm_error const *error) {
    uint32_t const kept = errors->count < RM_ERRORS_MAX ? errors->count : RM_ERRORS_MAX;
    if (kept > 0 && strcmp(errors->first[kept - 1].text, error->text) == 0)
        return;
    if (errors->count < RM_ERRORS_MAX)
        errors->first[errors->count] = *error;
    errors->count++;
}

void rm_errors_print(struct rm_errors const *errors, char const *program, FILE *out) {
    for (uint32_t i = 0; i < errors->count && i < RM_ERRORS_MAX; i++)
        fprintf(out, "%s: %s\n", program, errors->first[i].text);
    if (errors->count > RM_ERRORS_MAX)
        fprintf(out, "%s: and %u more\n", program, errors->count - RM_ERRORS_MAX);
}

enum rm_code rm_errors_report(struct rm_errors const *errors, char const *program, char const *path,
                              struct rm_error *error) {
    if (errors->count == 0)
        return RM_OK;
    enum rm_code const code = errors->first[0].code;
    if (errors->count == 1)
        return rm_fail(error, code, "%s", errors->first[0].text);
    rm_errors_print(errors, program, stderr);
    return rm_fail(error, code, "%s: %u errors, which are listed above", path != NULL ? path : program, errors->count);
}
