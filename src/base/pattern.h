// SPDX-License-Identifier: Apache-2.0
/** Patterns of names, as all of our files have them: `*` stands for any characters, `?` for one, `[1-5]` for one of
 * these. */
#ifndef RM_BASE_PATTERN_H
#define RM_BASE_PATTERN_H

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

static inline bool rm_is_pattern(char const *text) { return strpbrk(text, "*?[") != NULL; }

/** Whether the pattern fits the whole name. */
static inline bool rm_pattern_matches(char const *pattern, char const *name) {
    return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

#endif
