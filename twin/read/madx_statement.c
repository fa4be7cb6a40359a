// SPDX-License-Identifier: Apache-2.0
/** From text to statements, and from a statement to attributes. */
#include <ctype.h>
#include <string.h>

#include "madx.h"

/** A file's text that is being cut into statements. */
struct cutter {
    char const *at, *end;
    uint32_t line;
};

static void skip_to_line_end(struct cutter *cutter) {
    while (cutter->at < cutter->end && *cutter->at != '\n')
        ++cutter->at;
}

static void skip_block(struct cutter *cutter) {
    cutter->at += 2;
    while (cutter->at < cutter->end && !(cutter->at[0] == '*' && cutter->at[1] == '/')) {
        cutter->line += *cutter->at == '\n';
        ++cutter->at;
    }
    cutter->at += cutter->at < cutter->end ? 2 : 0;
}

/** Skips a comment, if one is next. */
static bool skip_comment(struct cutter *cutter) {
    bool const line = *cutter->at == '!' || (cutter->at[0] == '/' && cutter->at[1] == '/');
    if (line)
        skip_to_line_end(cutter);
    else if (cutter->at[0] == '/' && cutter->at[1] == '*')
        skip_block(cutter);
    else
        return false;
    return true;
}

/** The quote within which the next character stands; 0: none. */
static char quote_behind(char quote, char c) {
    if (c != '"' && c != '\'')
        return quote;
    if (quote == '\0')
        return c;
    return (char)(quote == c ? '\0' : quote);
}

static char printed(char c) { return (char)(c == '\n' || c == '\0' ? ' ' : c); }

/** The next statement into `to`, which has room for the whole text: without comments, each end of line a space. Returns
 * false at the end; `line` is where it begins. */
static bool cut(struct cutter *cutter, char *to, uint32_t *line) {
    size_t length = 0;
    char quote = '\0';
    while (cutter->at < cutter->end) {
        if (quote == '\0' && skip_comment(cutter))
            continue;
        char const c = *cutter->at++;
        cutter->line += c == '\n';
        if (quote == '\0' && c == ';')
            break;
        quote = quote_behind(quote, c);
        if (length == 0 && isspace((unsigned char)c))
            continue;
        *line = length == 0 ? cutter->line : *line;
        to[length++] = printed(c);
    }
    to[length] = '\0';
    return length != 0 || cutter->at < cutter->end;
}

bool rm_madx_run(struct rm_madx *madx, char const *path, char const *text, size_t count) {
    struct cutter cutter = {text, text + count, 1};
    char *const statement = rm_reading_take(madx->reading, count + 1, 1);
    uint32_t line = 1;
    if (statement == NULL)
        return false;
    madx->ended = false;
    while (!madx->ended && cut(&cutter, statement, &line)) {
        rm_madx_at(madx, line, NULL);
        if (statement[0] != '\0' && !rm_madx_statement(madx, path, statement, line))
            return false;
    }
    madx->ended = madx->stopped;
    return true;
}

/** The end of a piece that a comma outside brackets and quotes ends. */
static char const *piece_end(char const *at) {
    int depth = 0;
    char quote = '\0';
    for (; *at != '\0'; ++at) {
        if (quote != '\0')
            quote = quote_behind(quote, *at);
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
static char *trimmed(struct rm_madx *madx, char const *at, char const *end) {
    while (at < end && is_space(*at))
        ++at;
    while (end > at && is_space(end[-1]))
        --end;
    return rm_reading_text(madx->reading, at, (size_t)(end - at));
}

/** Splits `name = text`, `name := text`, `flag` and `-flag`. */
static bool take_piece(struct rm_madx *madx, char const *at, char const *end, struct rm_madx_attribute *attribute) {
    char const *const equals = memchr(at, '=', (size_t)(end - at));
    bool const deferred = equals != NULL && equals > at && equals[-1] == ':';
    char *name = trimmed(madx, at, equals == NULL ? end : equals - (deferred ? 1 : 0));
    if (name == NULL)
        return false;
    bool const off = equals == NULL && name[0] == '-';
    name += off ? 1 : 0;
    for (char *c = name; *c != '\0'; ++c)
        *c = (char)tolower((unsigned char)*c);
    attribute->name = name;
    attribute->text = equals == NULL ? (off ? "false" : "true") : trimmed(madx, equals + 1, end);
    if (attribute->text == NULL)
        return false;
    return equals == NULL || deferred ? true : rm_madx_fix(madx, attribute);
}

bool rm_madx_attributes(struct rm_madx *madx, char const *text, uint32_t line, struct rm_madx_attributes *attributes) {
    uint32_t most = 1;
    for (char const *c = text; *c != '\0'; ++c)
        most += *c == ',';
    *attributes = (struct rm_madx_attributes){rm_reading_take(madx->reading, most, sizeof *attributes->list), 0};
    if (attributes->list == NULL)
        return false;
    for (char const *at = text; *at != '\0';) {
        char const *const end = piece_end(at);
        char const *first = at;
        while (first < end && is_space(*first))
            ++first;
        if (first < end) {
            struct rm_madx_attribute *const attribute = &attributes->list[attributes->count++];
            attribute->line = line;
            if (!take_piece(madx, first, end, attribute))
                return false;
        }
        at = end + (*end == ',' ? 1 : 0);
    }
    return true;
}
