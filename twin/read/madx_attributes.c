// SPDX-License-Identifier: Apache-2.0
/** From a statement to its attributes. */
#include <ctype.h>
#include <string.h>

#include "madx_text.h"

/** The end of a piece that a comma outside brackets and quotes ends. */
static char const *piece_end(char const *at) {
    int depth = 0;
    char quote = '\0';
    for (; *at != '\0'; ++at) {
        if (quote != '\0')
            quote = rm_madx_quote(quote, *at);
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (strchr("({[", *at) != NULL)
            ++depth;
        else if (strchr(")}]", *at) != NULL)
            --depth;
        else if (*at == ',' && depth <= 0)
            break;
    }
    return at;
}

static bool is_space(char c) { return isspace((unsigned char)c) != 0; }

/** The text from `at` to `end` without spaces around it. */
static char *trim_attribute(struct rm_madx *madx, char const *at, char const *end) {
    while (at < end && is_space(*at))
        ++at;
    while (end > at && is_space(end[-1]))
        --end;
    return rm_reading_text(madx->reading, at, (size_t)(end - at));
}

/** Splits `name = text`, `name := text`, `flag` and `-flag`. */
static bool take_piece(struct rm_madx *madx, char const *at, char const *end,
                       struct rm_madx_attribute_value *attribute) {
    char const *const equals = memchr(at, '=', (size_t)(end - at));
    bool const deferred = equals != NULL && equals > at && equals[-1] == ':';
    char *name = trim_attribute(madx, at, equals == NULL ? end : equals - (deferred ? 1 : 0));
    if (name == NULL)
        return false;
    bool const off = equals == NULL && name[0] == '-';
    name += off ? 1 : 0;
    for (char *c = name; *c != '\0'; ++c)
        *c = (char)tolower((unsigned char)*c);
    attribute->name = name;
    attribute->text = equals == NULL ? (off ? "false" : "true") : trim_attribute(madx, equals + 1, end);
    if (attribute->text == NULL)
        return false;
    return equals == NULL || deferred ? true : rm_madx_fix(madx, attribute);
}

bool rm_madx_attributes(struct rm_madx *madx, char const *text, struct rm_madx_attribute_list *attributes) {
    uint32_t most = 1;
    for (char const *c = text; *c != '\0'; ++c)
        most += *c == ',';
    *attributes = (struct rm_madx_attribute_list){rm_reading_take(madx->reading, most, sizeof *attributes->list), 0};
    if (attributes->list == NULL)
        return false;
    for (char const *at = text; *at != '\0';) {
        char const *const end = piece_end(at);
        char const *first = at;
        while (first < end && is_space(*first))
            ++first;
        if (first < end) {
            struct rm_madx_attribute_value *const attribute = &attributes->list[attributes->count++];
            if (!take_piece(madx, first, end, attribute))
                return false;
        }
        at = end + (*end == ',' ? 1 : 0);
    }
    return true;
}

bool rm_madx_join(struct rm_madx *madx, struct rm_madx_attribute_list *to, struct rm_madx_attribute_list const *more) {
    struct rm_madx_attribute_value *const list =
        rm_reading_take(madx->reading, (size_t)to->count + more->count + 1, sizeof *list);
    if (list == NULL)
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < to->count; ++i) /* what is said anew goes */
        if (rm_madx_attribute(more, to->list[i].name) == NULL)
            list[count++] = to->list[i];
    for (uint32_t i = 0; i < more->count; ++i)
        list[count++] = more->list[i];
    *to = (struct rm_madx_attribute_list){list, count};
    return true;
}
