// SPDX-License-Identifier: Apache-2.0
/** SELECT, flag = seqedit: by class, or by a pattern of the name. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "madx.h"

/** One SELECT; an element is selected when one of them selects it. NULL: whatever it is. */
struct rm_madx_selection {
    char const *class, *pattern;
    struct rm_madx_selection *older;
};

bool rm_madx_select(struct rm_madx *madx, struct rm_madx_attribute_list const *attributes) {
    char const *const flag = rm_madx_word(madx, attributes, "flag");
    if (flag == NULL || strcmp(flag, "seqedit") != 0)
        return true;
    if (rm_madx_attribute(attributes, "clear") != NULL) {
        madx->selected = NULL;
        return true;
    }
    if (rm_madx_attribute(attributes, "range") != NULL)
        return rm_reading_fail(madx->reading, "RANGE of SELECT is not read; select by class or pattern");
    struct rm_madx_selection *const selection = rm_reading_take(madx->reading, 1, sizeof *selection);
    if (selection == NULL)
        return false;
    selection->class = rm_madx_word(madx, attributes, "class");
    selection->pattern = rm_madx_word(madx, attributes, "pattern");
    if (selection->pattern != NULL && strlen(selection->pattern) >= RM_MADX_NAME_BYTES)
        return rm_reading_fail(madx->reading, "a PATTERN is longer than %d", RM_MADX_NAME_BYTES - 1);
    selection->older = madx->selected;
    madx->selected = selection;
    return !madx->reading->failed;
}

/** The end of one character of a pattern: c, ., \\c or [abc]. */
static char const *unit_end(char const *pattern) {
    if (*pattern == '\\' && pattern[1] != '\0')
        return pattern + 2;
    char const *const close = *pattern == '[' ? strchr(pattern + 1, ']') : NULL;
    return close != NULL ? close + 1 : pattern + 1;
}

static bool in_set(char const *set, char const *end, char c) {
    bool const inverted = *set == '^';
    bool found = false;
    for (set += inverted; set < end; ++set) {
        bool const range = set + 2 < end && set[1] == '-';
        found = found || (range ? c >= set[0] && c <= set[2] : c == *set);
        set += range ? 2 : 0;
    }
    return found != inverted;
}

static bool unit_matches(char const *pattern, char const *end, char c) {
    if (c == '\0')
        return false;
    if (*pattern == '[' && end > pattern + 1)
        return in_set(pattern + 1, end - 1, c);
    if (*pattern == '\\' && end == pattern + 2)
        return pattern[1] == c;
    return *pattern == '.' || *pattern == c;
}

/** A pattern at the begin of a text, in lower case both. */
static bool matches_here(struct rm_madx *madx, char const *pattern, char const *text) {
    if (!rm_madx_step(madx))
        return false;
    while (*pattern != '\0') {
        char const *const end = unit_end(pattern);
        if (*pattern == '$' && pattern[1] == '\0')
            return *text == '\0';
        if (*end != '*') {
            if (!unit_matches(pattern, end, *text++))
                return false;
            pattern = end;
            continue;
        }
        do {
            if (matches_here(madx, end + 1, text))
                return true;
        } while (!madx->reading->failed && unit_matches(pattern, end, *text++));
        return false;
    }
    return true;
}

static bool pattern_matches(struct rm_madx *madx, char const *pattern, char const *name) {
    char text[RM_MADX_NAME_BYTES] = {0};
    size_t length = 0;
    for (; name[length] != '\0' && length < sizeof text - 1; ++length)
        text[length] = (char)tolower((unsigned char)name[length]);
    text[length] = '\0';
    if (*pattern == '^')
        return matches_here(madx, pattern + 1, text);
    for (char const *at = text;; ++at) {
        if (matches_here(madx, pattern, at))
            return true;
        if (*at == '\0' || madx->reading->failed)
            return false;
    }
}

/** It is that element, or made from it, or of that class. */
static bool is_of(struct rm_madx const *madx, char const *name, char const *class) {
    for (int depth = 0; depth < RM_MOST_DEPTH; ++depth) {
        struct rm_madx_object const *const object = rm_madx_find(madx, name);
        if (strcasecmp(name, class) == 0)
            return true;
        if (object == NULL || object->kind != RM_MADX_ELEMENT)
            return false;
        name = object->base;
    }
    return false;
}

bool rm_madx_is_selected(struct rm_madx *madx, char const *name, bool *selected) {
    *selected = false;
    for (struct rm_madx_selection const *each = madx->selected; each != NULL && !*selected; each = each->older)
        *selected = rm_madx_step(madx) && (each->class == NULL || is_of(madx, name, each->class)) &&
                    (each->pattern == NULL || pattern_matches(madx, each->pattern, name));
    return !madx->reading->failed;
}
