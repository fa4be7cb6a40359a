// SPDX-License-Identifier: Apache-2.0
/** Lines and sequences, item by item. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "madx.h"

/** Shorter gaps between elements of a sequence are rounding, as in pyAT. */
static double const shortest_drift_m = 1e-5;

/** A line's list while it is read. */
struct list {
    struct rm_madx *madx;
    char const *at;
    char const *line; /**< its name */
};

static bool add_list(struct list *list, bool reversed);

bool rm_madx_step(struct rm_madx *madx) {
    if (++madx->steps <= RM_MADX_MOST_STEPS)
        return true;
    return rm_reading_fail(madx->reading, "more than %d steps; look for a repetition that was not meant",
                           RM_MADX_MOST_STEPS);
}

static void skip(struct list *list) {
    while (isspace((unsigned char)*list->at))
        ++list->at;
}

static bool accept(struct list *list, char mark) {
    skip(list);
    if (*list->at != mark)
        return false;
    ++list->at;
    return true;
}

/** `12*`, or once. */
static bool read_times(struct list *list, uint32_t *times) {
    *times = 1;
    skip(list);
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

static bool expand_line(struct rm_madx *madx, struct rm_madx_object *line, bool reversed);

static bool add_named(struct list *list, char const *name, bool reversed) {
    struct rm_madx *const madx = list->madx;
    struct rm_madx_object *const object = rm_madx_find(madx, name);
    if (object != NULL && object->kind == RM_MADX_LINE)
        return expand_line(madx, object, reversed);
    if (object != NULL && object->kind == RM_MADX_SEQUENCE && !reversed)
        return rm_madx_expand_sequence(madx, object);
    if (object != NULL && object->kind == RM_MADX_ELEMENT)
        return rm_madx_add(madx, &(struct rm_madx_view){.object = object}, reversed);
    return rm_reading_fail(madx->reading, "line %.60s needs %.60s, which is no element, line or sequence; define it",
                           list->line, name);
}

static bool read_item_name(struct list *list, char name[RM_MADX_NAME_BYTES]) {
    skip(list);
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
static bool add_item(struct list *list, bool reversed) {
    uint32_t times;
    bool const minus = accept(list, '-');
    if (!read_times(list, &times))
        return false;
    bool const backwards = reversed != (minus != accept(list, '-'));
    char const *const begin = (skip(list), list->at);
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
static char const **item_places(struct list *list, uint32_t *count) {
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
static bool add_list(struct list *list, bool reversed) {
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
        skip(list);
        if (count == 1 && *list->at == ')')
            break; /* () */
        held = add_item(list, reversed);
        skip(list);
        if (held && *list->at != ',' && *list->at != ')')
            held = rm_reading_fail(madx->reading, "line %.60s: expected ',' or ')', found \"%.20s\"", list->line,
                                   list->at);
    }
    --madx->depth;
    return held;
}

static bool expand_line(struct rm_madx *madx, struct rm_madx_object *line, bool reversed) {
    if (line->busy)
        return rm_reading_fail(madx->reading, "line %.60s stands in itself; take it out of its own list", line->name);
    struct list list = {madx, line->value.text, line->name};
    line->busy = true;
    rm_madx_at(madx, line->line, line->name);
    bool const held = add_list(&list, reversed);
    line->busy = false;
    return held;
}

/** What a sequence's reference is to half of an element's length: where `at` points to. */
static bool reference(struct rm_madx *madx, struct rm_madx_object const *sequence, double *sign) {
    char const *const refer = rm_madx_word(madx, &sequence->attributes, "refer");
    *sign = 0;
    if (refer == NULL || strcmp(refer, "centre") == 0 || strcmp(refer, "center") == 0)
        return true;
    *sign = strcmp(refer, "entry") == 0 ? 1 : -1;
    return *sign == 1 || strcmp(refer, "exit") == 0
               ? true
               : rm_reading_fail(madx->reading, "refer = %.20s; expected entry, centre or exit", refer);
}

/** A sequence within which entries are placed. */
struct frame {
    struct rm_madx_object *sequence;
    double sign;    /**< reference */
    double begin_m; /**< of it, on the outermost one */
};

/** `at` of an entry, and of what it counts from, relative to the sequence's begin. */
static bool position(struct rm_madx *madx, struct rm_madx_object const *sequence, struct rm_madx_entry const *entry,
                     double *at_m, int depth) {
    struct rm_madx_view const view = {&entry->attributes, rm_madx_find(madx, entry->name)};
    *at_m = 0;
    if (!rm_madx_take(madx, &view, "at", at_m))
        return false;
    char const *const from = rm_madx_word(madx, &entry->attributes, "from");
    if (from == NULL)
        return true;
    for (struct rm_madx_entry const *other = sequence->entries; other != NULL; other = other->next) {
        double base_m;
        if (strcasecmp(other->name, from) != 0 || depth == RM_MOST_DEPTH)
            continue;
        if (!rm_madx_step(madx) || !position(madx, sequence, other, &base_m, depth + 1))
            return false;
        *at_m += base_m;
        return true;
    }
    return rm_reading_fail(madx->reading, "from = %.60s, which does not stand in sequence %.60s", from, sequence->name);
}

/** The drift up to an element, when there is room for one. */
static bool fill(struct rm_madx *madx, double gap_m, char const *before) {
    if (fabs(gap_m) <= shortest_drift_m)
        return true;
    if (gap_m < 0)
        return rm_reading_fail(madx->reading,
                               "%.60s begins %g m before the one in front of it ends; move it, or order "
                               "the sequence by place",
                               before, -gap_m);
    return rm_madx_add_drift(madx, gap_m);
}

static bool add_entries(struct rm_madx *madx, struct frame const *frame, double *end_m);

/** A sequence in a sequence: its reference is refpos, or follows the outer sequence's. */
static bool add_inner(struct rm_madx *madx, struct rm_madx_object *inner, struct frame const *outer, double at_m,
                      double *end_m) {
    struct frame frame = {.sequence = inner};
    double length_m = 0;
    struct rm_madx_view const view = {.object = inner};
    if (!rm_madx_take(madx, &view, "l", &length_m) || !reference(madx, inner, &frame.sign))
        return false;
    frame.begin_m = outer->begin_m + at_m + (outer->sign - 1) / 2 * length_m;
    char const *const refpos = rm_madx_word(madx, &inner->attributes, "refpos");
    for (struct rm_madx_entry const *entry = inner->entries; refpos != NULL && entry != NULL; entry = entry->next) {
        double place_m;
        if (strcasecmp(entry->name, refpos) != 0)
            continue;
        if (!position(madx, inner, entry, &place_m, 0))
            return false;
        frame.begin_m = outer->begin_m + at_m - place_m;
        break;
    }
    return add_entries(madx, &frame, end_m);
}

static bool add_entry(struct rm_madx *madx, struct frame const *frame, struct rm_madx_entry const *entry,
                      double *end_m) {
    struct rm_madx_object *const object = rm_madx_find(madx, entry->name);
    struct rm_madx_view const view = {&entry->attributes, object};
    double at_m;
    double length_m;
    rm_madx_at(madx, entry->line, entry->name);
    if (object == NULL || (object->kind != RM_MADX_ELEMENT && object->kind != RM_MADX_SEQUENCE))
        return rm_reading_fail(madx->reading, "it stands in sequence %.60s and is no element or sequence; define it",
                               frame->sequence->name);
    if (!rm_madx_step(madx) || !position(madx, frame->sequence, entry, &at_m, 0))
        return false;
    if (object->kind == RM_MADX_SEQUENCE)
        return add_inner(madx, object, frame, at_m, end_m);
    if (!rm_madx_length(madx, &view, &length_m))
        return false;
    double const centre_m = frame->begin_m + at_m + frame->sign * length_m / 2;
    if (!fill(madx, centre_m - length_m / 2 - *end_m, entry->name))
        return false;
    *end_m = centre_m + length_m / 2;
    return rm_madx_add(madx, &view, false);
}

static bool add_entries(struct rm_madx *madx, struct frame const *frame, double *end_m) {
    if (frame->sequence->busy || madx->depth >= RM_MOST_DEPTH)
        return rm_reading_fail(madx->reading, "sequence %.60s stands in itself; take it out", frame->sequence->name);
    frame->sequence->busy = true;
    ++madx->depth;
    bool held = true;
    for (struct rm_madx_entry const *entry = frame->sequence->entries; entry != NULL && held; entry = entry->next)
        held = add_entry(madx, frame, entry, end_m);
    --madx->depth;
    frame->sequence->busy = false;
    return held;
}

bool rm_madx_expand_sequence(struct rm_madx *madx, struct rm_madx_object *sequence) {
    struct frame frame = {.sequence = sequence};
    struct rm_madx_view const view = {.object = sequence};
    double length_m = 0;
    double end_m = 0;
    rm_madx_at(madx, sequence->line, sequence->name);
    return reference(madx, sequence, &frame.sign) && rm_madx_take(madx, &view, "l", &length_m) &&
           add_entries(madx, &frame, &end_m) && fill(madx, length_m - end_m, "the end of the sequence");
}

bool rm_madx_expand(struct rm_madx *madx, struct rm_madx_object *object) {
    bool const held =
        object->kind == RM_MADX_LINE ? expand_line(madx, object, false) : rm_madx_expand_sequence(madx, object);
    return held && rm_madx_install(madx, object);
}
