// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <stdio.h>

void rm_json_text(char const *text) {
    putchar('"');
    for (unsigned char const *c = (unsigned char const *)text; *c != '\0'; ++c) {
        if (*c < ' ')
            printf("\\u%04x", *c);
        else
            printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    putchar('"');
}
