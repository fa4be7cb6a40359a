// SPDX-License-Identifier: Apache-2.0
#include "json.h"

void rm_json_text(FILE *out, char const *text) {
    fputc('"', out);
    for (; text != NULL && *text != '\0'; ++text) {
        unsigned char const byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < 0x20)
            fprintf(out, "\\u%04x", byte);
        else
            fputc(byte, out);
    }
    fputc('"', out);
}
