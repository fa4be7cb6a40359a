// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>

enum rm_code rm_fail(struct rm_error *error, enum rm_code code, char const *format, ...) {
    if (error == NULL)
        return code;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}
