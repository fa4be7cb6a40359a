// SPDX-License-Identifier: Apache-2.0
/** Patterns of names, as all of our files have them: `*` stands for any characters, `?` for one, `[1-5]` for one of
 * these. In the library `ringmaster-support`. */
#ifndef RINGMASTER_PATTERN_H
#define RINGMASTER_PATTERN_H

#include <stdbool.h>

/** Whether the text is more than a name: whether it has one of these characters. */
bool rm_is_pattern(char const *text);

/** Whether the pattern fits the whole name. */
bool rm_pattern_matches(char const *pattern, char const *name);

#endif
