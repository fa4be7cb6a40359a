// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/pattern.h>

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

bool rm_is_pattern(char const *text) { return strpbrk(text, "*?[") != NULL; }

bool rm_pattern_matches(char const *pattern, char const *name) { return fnmatch(pattern, name, FNM_NOESCAPE) == 0; }
