// SPDX-License-Identifier: Apache-2.0
/** Lines, item by item. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "madx.h"

/** A line's list while it is read. */
struct line_list {
    struct rm_madx *madx;
    struct rm_madx_sink *sink;
    char const *at;
    char const *line; /**< its name */
};

static bool add_list(struct line_list *list, bool reversed);

static void madx_line_skip_space(struct line_list *list) {
    while (isspace((unsigned char)*list->at))
        ++list->at;
}

static bool madx_line_accept_mark(struct line_list *list, char mark) {
    madx_line_skip_space(list);
    if (*list->at != mark)
        return false;
    ++list->at;
    return true;
}

/** `12*`, or once. */
static bool read_times(struct line_list *list, uint32_t *times) {
    *times = 1;
    madx_line_skip_space(list);
    size_t const digits = strspn(list->at, "0123456789");
    size_t const spaces = strspn(list->at + digits, " \t");
    if (digits == 0 || list->at[digits + spaces] != '*')
        return true;
    if (digits > 7)
        return rm_reading_fail(list->madx->reading, "line %.60s: a repetition of %.20s; that is too often", list->line,
                               list->at);
    *times = (uint32_t)strtoul(list->at, NULL, 10);
    list->at += digits + spaces + 1;
    return true;
}

static bool add_named(struct line_list *list, char const *name, bool reversed) {
    struct rm_madx *const madx = list->madx;
    struct rm_madx_object *const object = rm_madx_find(madx, name);
    if (object != NULL && object->kind == RM_MADX_LINE)
        return rm_madx_expand_line(list->sink, object, reversed);
    if (object != NULL && object->kind == RM_MADX_SEQUENCE && !reversed)
        return rm_madx_expand_sequence(list->sink, object);
    if (object != NULL && object->kind == RM_MADX_ELEMENT)
        return list->sink->element(list->sink, &(struct rm_madx_view){.object = object});
    return rm_reading_fail(madx->reading, "line %.60s needs %.60s, which is no element, line or sequence; define it",
                           list->line, name);
}

static bool read_item_name(struct line_list *list, char name[RM_MADX_NAME_BYTES]) {
    madx_line_skip_space(list);
    bool const quoted = *list->at == '"';
    list->at += quoted ? 1 : 0;
    size_t length = 0;
    while (*list->at != '\0' && length < RM_MADX_NAME_BYTES - 1 &&
           (quoted ? *list->at != '"' : strchr(",()*- \t\r", *list->at) == NULL))
        name[length++] = *list->at++;
    name[length] = '\0';
    list->at += quoted && *list->at == '"' ? 1 : 0;
    if (length != 0)
        return true;
    return rm_reading_fail(list->madx->reading, "line %.60s: expected the name of an element, found \"%.20s\"",
                           list->line, list->at);
}

/** Passes a list in parentheses without using it. */
static char const *behind_list(char const *at) {
    int depth = 0;
    for (; *at != '\0'; ++at) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0)
            return at + 1;
    }
    return at;
}

/** [-] [n*] NAME or ( … ). */
static bool add_item(struct line_list *list, bool reversed) {
    uint32_t times;
    bool const minus = madx_line_accept_mark(list, '-');
    if (!read_times(list, &times))
        return false;
    bool const backwards = reversed != (minus != madx_line_accept_mark(list, '-'));
    char const *const begin = (madx_line_skip_space(list), list->at);
    if (*begin == '(') {
        for (uint32_t i = 0; i < times; ++i) {
            list->at = begin;
            if (!rm_madx_step(list->madx) || !add_list(list, backwards))
                return false;
        }
        list->at = behind_list(begin);
        return true;
    }
    char name[RM_MADX_NAME_BYTES];
    if (!read_item_name(list, name))
        return false;
    for (uint32_t i = 0; i < times; ++i)
        if (!rm_madx_step(list->madx) || !add_named(list, name, backwards))
            return false;
    return true;
}

/** Where the items begin that commas separate at this depth; the count, and their places from scratch. */
static char const **item_places(struct line_list *list, uint32_t *count) {
    uint32_t most = 1;
    for (char const *c = list->at; *c != '\0' && c < behind_list(list->at); c += strcspn(c + 1, ",") + 1)
        ++most;
    char const **const places = rm_reading_take(list->madx->reading, most + 1, sizeof *places);
    *count = 0;
    if (places == NULL)
        return NULL;
    int depth = 0;
    for (char const *c = list->at; *c != '\0'; ++c) {
        depth += (*c == '(') - (*c == ')');
        if (depth == 0)
            break;
        if (depth == 1 && (*c == ',' || c == list->at) && *count < most)
            places[(*count)++] = c + 1;
    }
    return places;
}

/** All items of a list in parentheses, from the last to the first when it is passed from behind. */
static bool add_list(struct line_list *list, bool reversed) {
    struct rm_madx *const madx = list->madx;
    if (madx->depth >= RM_MOST_DEPTH)
        return rm_reading_fail(madx->reading, "lines stand in each other more than %d deep, at %.60s", RM_MOST_DEPTH,
                               list->line);
    uint32_t count;
    char const **const places = item_places(list, &count);
    if (places == NULL)
        return false;
    ++madx->depth;
    bool held = true;
    for (uint32_t i = 0; i < count && held; ++i) {
        list->at = places[reversed ? count - 1 - i : i];
        madx_line_skip_space(list);
        if (count == 1 && *list->at == ')')
            break; /* () */
        held = add_item(list, reversed);
        madx_line_skip_space(list);
        if (held && *list->at != ',' && *list->at != ')')
            held = rm_reading_fail(madx->reading, "line %.60s: expected ',' or ')', found \"%.20s\"", list->line,
                                   list->at);
    }
    --madx->depth;
    return held;
}

bool rm_madx_expand_line(struct rm_madx_sink *sink, struct rm_madx_object *line, bool reversed) {
    struct rm_madx *const madx = sink->madx;
    if (line->busy)
        return rm_reading_fail(madx->reading, "line %.60s stands in itself; take it out of its own list", line->name);
    struct line_list list = {madx, sink, line->value.text, line->name};
    line->busy = true;
    rm_madx_at(madx, &line->where, line->name);
    bool const held = add_list(&list, reversed);
    line->busy = false;
    return held;
}
