// SPDX-License-Identifier: Apache-2.0
#include "reading.h"
bool rm_read_madx(struct rm_reading *reading, char const *text, size_t count, char const *s) {
    (void)text;
    (void)count;
    (void)s;
    return rm_reading_fail(reading, "MAD-X files are not read yet");
}
