// SPDX-License-Identifier: Apache-2.0
/** Macros: a text in which the names of arguments are replaced, wherever they stand, even within words, as in MAD-X. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "madx_text.h"

enum { MOST_ARGUMENTS = 32 };

/** What is given to a macro, in the order of its arguments. */
struct given {
    char const *texts[MOST_ARGUMENTS];
    uint32_t count;
};

static char const *madx_macro_skip_space(char const *at) {
    while (isspace((unsigned char)*at))
        ++at;
    return at;
}

/** The end of one thing in a list in parentheses. */
static char const *thing_end(char const *at) {
    int depth = 0;
    for (; *at != '\0' && !(depth == 0 && (*at == ',' || *at == ')')); ++at)
        depth += (*at == '(') - (*at == ')');
    return at;
}

/** ( A, B, … ), or nothing. */
static bool read_list(struct rm_madx *madx, char const *at, struct given *given) {
    given->count = 0;
    at = madx_macro_skip_space(at);
    if (*at != '(')
        return true;
    while (*at == '(' || *at == ',') {
        char const *const begin = madx_macro_skip_space(at + 1);
        char const *end = at = thing_end(begin);
        while (end > begin && isspace((unsigned char)end[-1]))
            --end;
        if (given->count == MOST_ARGUMENTS)
            return rm_reading_fail(madx->reading, "a macro has more than %d arguments", MOST_ARGUMENTS);
        if (end != begin || *at == ',' || given->count != 0) {
            given->texts[given->count] = rm_reading_text(madx->reading, begin, (size_t)(end - begin));
            if (given->texts[given->count++] == NULL)
                return false;
        }
    }
    return *at == ')' ? true : rm_reading_fail(madx->reading, "the parenthesis of a macro's arguments is not closed");
}

static bool read_name(struct rm_madx *madx, char const **at, char name[RM_MADX_NAME_BYTES]) {
    size_t length = 0;
    *at = madx_macro_skip_space(*at);
    while (length < RM_MADX_NAME_BYTES - 1 &&
           (isalnum((unsigned char)(*at)[length]) || strchr("_.$", (*at)[length]) != NULL) && (*at)[length] != '\0')
        ++length;
    snprintf(name, RM_MADX_NAME_BYTES, "%.*s", (int)length, *at);
    *at += length;
    return length != 0 ? true : rm_reading_fail(madx->reading, "expected the name of a macro, found \"%.20s\"", *at);
}

bool rm_madx_define_macro(struct rm_madx *madx, struct rm_madx_piece const *piece) {
    char const *const head = rm_reading_text(madx->reading, piece->head, piece->count);
    char const *at = head;
    char name[RM_MADX_NAME_BYTES];
    struct given names;
    if (head == NULL || !read_name(madx, &at, name) || !read_list(madx, at, &names))
        return false;
    for (uint32_t i = 0; i < names.count; ++i)
        if (names.texts[i][0] == '\0')
            return rm_reading_fail(madx->reading, "argument %u of macro %.60s has no name", i + 1, name);
    struct rm_madx_macro *const macro = rm_reading_take(madx->reading, 1, sizeof *macro);
    char const **const list = rm_reading_take(madx->reading, names.count + 1, sizeof *list);
    struct rm_madx_object *const object =
        macro != NULL && list != NULL ? rm_madx_define(madx, name, RM_MADX_MACRO) : NULL;
    if (object == NULL)
        return false;
    memcpy(list, names.texts, names.count * sizeof *list);
    *macro = (struct rm_madx_macro){list, names.count, piece->body};
    object->macro = macro;
    return true;
}

/** `$x` becomes the whole number in x, as in MAD-X. */
static bool macro_argument_of(struct rm_madx *madx, char const **text) {
    double number;
    if ((*text)[0] != '$')
        return true;
    if (!rm_madx_compute(madx, *text + 1, &number, NULL))
        return false;
    if (!(fabs(number) < 1e15))
        return rm_reading_fail(madx->reading, "%.60s is %g; expected a whole number", *text, number);
    char digits[32];
    int const length = snprintf(digits, sizeof digits, "%lld", (long long)number);
    *text = rm_reading_text(madx->reading, digits, (size_t)length);
    return *text != NULL;
}

/** Which argument's name is at `at`; the count: none. */
static uint32_t argument_at(struct rm_madx_macro const *macro, char const *at, char const *end) {
    uint32_t i = 0;
    while (i < macro->count && (strlen(macro->names[i]) > (size_t)(end - at) ||
                                strncasecmp(at, macro->names[i], strlen(macro->names[i])) != 0))
        ++i;
    return i;
}

/** The macro's text with what is given put in, into `to`, or only counted when that is NULL. */
static size_t put_in(struct rm_madx_macro const *macro, struct given const *given, char *to) {
    size_t length = 0;
    for (char const *at = macro->body.at; at < macro->body.end;) {
        uint32_t const which = argument_at(macro, at, macro->body.end);
        bool const named = which < macro->count;
        char const *const from = named ? given->texts[which] : at;
        size_t const count = named ? strlen(from) : 1;
        if (to != NULL)
            memcpy(to + length, from, count);
        length += count;
        at += named ? strlen(macro->names[which]) : 1;
    }
    return length;
}

static bool run_macro(struct rm_madx *madx, struct rm_madx_object const *object, struct given const *given) {
    struct rm_madx_macro const *const macro = object->macro;
    struct rm_madx_where const outer = madx->here;
    size_t const length = put_in(macro, given, NULL);
    char *const text = rm_madx_round(madx, length) ? rm_reading_take(madx->reading, length + 1, 1) : NULL;
    if (text == NULL)
        return false;
    put_in(macro, given, text);
    madx->here.path = object->where.path;
    bool const held = rm_madx_run_text(madx, (struct rm_madx_text){text, text + length, macro->body.line});
    madx->here = outer;
    return held;
}

bool rm_madx_exec(struct rm_madx *madx, char const *text) {
    char name[RM_MADX_NAME_BYTES];
    struct given given;
    text = madx_macro_skip_space(text);
    text += *text == ',';
    if (!read_name(madx, &text, name) || !read_list(madx, text, &given))
        return false;
    struct rm_madx_object const *const object = rm_madx_find(madx, name);
    if (object == NULL || object->kind != RM_MADX_MACRO)
        return rm_reading_fail(madx->reading, "EXEC of %.60s, which is no macro; define it before", name);
    if (object->macro->count != given.count)
        return rm_reading_fail(madx->reading, "macro %.60s is given %u arguments; expected %u", name, given.count,
                               object->macro->count);
    for (uint32_t i = 0; i < given.count; ++i)
        if (!macro_argument_of(madx, &given.texts[i]))
            return false;
    return run_macro(madx, object, &given);
}
