// SPDX-License-Identifier: Apache-2.0
#include "fail.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum rm_code feedback_fail(struct rm_error *error, enum rm_code code, char const *format, ...) {
    if (error == NULL)
        return code;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

enum rm_code feedback_vfail_at(struct rm_error *error, struct feedback_place const *place, char const *format,
                               va_list arguments) {
    char text[RM_ERROR_TEXT_BYTES];
    vsnprintf(text, sizeof text, format, arguments);
    if (place->line == 0)
        return feedback_fail(error, RM_E_CONFIG, "%s: %s", place->path, text);
    return feedback_fail(error, RM_E_CONFIG, "%s:%u:%u: %s", place->path, place->line, place->column, text);
}

enum rm_code feedback_fail_at(struct rm_error *error, struct feedback_place const *place, char const *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    enum rm_code const code = feedback_vfail_at(error, place, format, arguments);
    va_end(arguments);
    return code;
}

static bool is_plain_character(char c) { return (unsigned char)c >= ' ' && c != 0x7F; }

char const *feedback_quote(char const *text, char quoted[FEEDBACK_QUOTED_BYTES]) {
    static char const end[] = "…\"";
    size_t const most = FEEDBACK_QUOTED_BYTES - sizeof end - 1;
    size_t used = 0;
    quoted[used++] = '"';
    for (; *text != '\0' && used < most; ++text, ++used) {
        quoted[used] = *text;
        if (!is_plain_character(*text))
            quoted[used] = '?';
    }
    while (*text != '\0' && used > 1 && ((unsigned char)*text & 0xC0u) == 0x80u) { /* not inside a UTF-8 character */
        --text;
        --used;
    }
    strcpy(quoted + used, *text == '\0' ? "\"" : end);
    return quoted;
}
