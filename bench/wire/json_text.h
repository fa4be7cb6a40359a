// SPDX-License-Identifier: Apache-2.0
/** Texts that a user gave, inside a JSON object. */
#ifndef RM_BENCH_WIRE_JSON_TEXT_H
#define RM_BENCH_WIRE_JSON_TEXT_H

/** Prints the text to standard output with its quotation marks, and escapes what JSON wants escaped. */
void rm_json_text(char const *text);

#endif
