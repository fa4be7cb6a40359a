// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/** Names and words of foreign files come into messages, and messages come to terminals: an escape sequence must not. C1
 * controls are C2 80 to C2 9F in UTF-8. A lone byte from 80 to 9F is no UTF-8, and some terminals take it for a C1. */
static void mask_controls(char *text) {
    unsigned char *byte = (unsigned char *)text;
    unsigned more = 0; /* bytes of this character that are to come */
    for (; *byte != '\0'; ++byte) {
        bool const follows = (*byte & 0xc0) == 0x80;
        if ((*byte < 0x20 && *byte != '\n') || *byte == 0x7f || (follows && more == 0 && *byte < 0xa0))
            *byte = '?';
        if (*byte == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
            byte[0] = byte[1] = '?';
        more = follows ? more - (more > 0) : *byte >= 0xf0 ? 3 : *byte >= 0xe0 ? 2 : *byte >= 0xc0 ? 1 : 0;
    }
}

enum rm_code rm_fail(struct rm_error *error, enum rm_code code, char const *format, ...) {
    if (error == NULL)
        return code;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    mask_controls(error->text);
    return code;
}

char const *rm_quote(char const *text, size_t bytes, char quoted[RM_QUOTED_BYTES]) {
    static char const dots[] = "…";
    size_t const room = RM_QUOTED_BYTES - sizeof dots - 2;
    bool const cut = bytes > room;
    if (cut) {
        bytes = room;
        while (bytes > 0 && ((unsigned char)text[bytes] & 0xC0u) == 0x80u) /* not inside a UTF-8 character */
            bytes--;
    }
    char *at = quoted;
    *at++ = '"';
    for (size_t i = 0; i < bytes; ++i, ++at) {
        *at = text[i];
        if (*at == '\0')
            *at = '?';
    }
    strcpy(at, cut ? "…\"" : "\"");
    return quoted;
}
