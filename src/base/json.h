// SPDX-License-Identifier: Apache-2.0
/** Text as JSON has it. */
#ifndef RM_BASE_JSON_H
#define RM_BASE_JSON_H

#include <stdio.h>

/** Writes a string with its quotes; NULL as an empty one. Bytes beyond ASCII stay as they are: text is UTF-8. */
void rm_json_text(FILE *out, char const *text);

#endif
