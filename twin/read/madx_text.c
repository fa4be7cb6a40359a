// SPDX-License-Identifier: Apache-2.0
/** From text to its pieces: statements, and blocks in braces. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "madx_text.h"

char rm_madx_quote(char quote, char c) {
    if (c != '"' && c != '\'')
        return quote;
    if (quote == '\0')
        return c;
    return (char)(quote == c ? '\0' : quote);
}

static void blank_character(char *c) { *c = (char)(*c == '\n' ? '\n' : ' '); }

/** Blanks a comment, if one is at `at`; returns what is behind it. */
static char *blank_comment(char *at, char const *end) {
    if (*at == '!' || (at[0] == '/' && at[1] == '/')) {
        for (; at < end && *at != '\n'; ++at)
            *at = ' ';
        return at;
    }
    if (at[0] != '/' || at[1] != '*')
        return at;
    char const *const close = strstr(at + 2, "*/");
    char const *const behind = close != NULL ? close + 2 : end;
    for (; at < behind; ++at)
        blank_character(at);
    return at;
}

char const *rm_madx_clean(struct rm_madx *madx, char const *text, size_t count) {
    char *const clean = rm_reading_text(madx->reading, text, count);
    char quote = '\0';
    for (char *at = clean; clean != NULL && at < clean + count;) {
        char *const behind = quote == '\0' ? blank_comment(at, clean + count) : at;
        if (behind != at) {
            at = behind;
            continue;
        }
        if (*at == '\0')
            *at = ' ';
        quote = rm_madx_quote(quote, *at++);
    }
    return clean;
}

static bool is_space(char c) { return isspace((unsigned char)c) != 0; }

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/** True when `word` begins at `at`, in any case, and nothing that goes on with it is behind it. */
static bool begins_with(char const *at, char const *end, char const *word) {
    size_t const length = strlen(word);
    return (size_t)(end - at) >= length && strncasecmp(at, word, length) == 0 &&
           (at + length == end || !is_word(at[length]));
}

/** Behind `at`, `head` ends in MACRO =. */
static bool ends_in_macro(char const *head, char const *end) {
    while (end > head && is_space(end[-1]))
        --end;
    if (end == head || end[-1] != '=')
        return false;
    for (--end; end > head && is_space(end[-1]);)
        --end;
    return end - head > 5 && strncasecmp(end - 5, "macro", 5) == 0 && !is_word(end[-6]);
}

/** What a piece is that begins with `head` and goes on with a brace. */
static enum rm_madx_block block_of(char const *head, char const *end) {
    static struct {
        char const *word;
        enum rm_madx_block block;
    } const words[] = {
        {"if", RM_MADX_IF}, {"elseif", RM_MADX_ELSEIF}, {"else", RM_MADX_ELSE}, {"while", RM_MADX_WHILE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (begins_with(head, end, words[i].word))
            return words[i].block;
    return ends_in_macro(head, end) ? RM_MADX_MACRO_BLOCK : RM_MADX_STATEMENT;
}

/** Goes on to the next character, and counts lines. */
static void madx_text_step(struct rm_madx_text *text, char *quote) {
    *quote = rm_madx_quote(*quote, *text->at);
    text->line += *text->at == '\n';
    ++text->at;
}

/** The text up to the brace that closes; false when there is none. */
static bool take_body(struct rm_madx_text *text, struct rm_madx_piece *piece) {
    char quote = '\0';
    int depth = 1;
    madx_text_step(text, &quote); /* { */
    piece->body = *text;
    for (; text->at < text->end; madx_text_step(text, &quote)) {
        if (quote == '\0')
            depth += (*text->at == '{') - (*text->at == '}');
        if (depth == 0) {
            piece->body.end = text->at;
            madx_text_step(text, &quote);
            return true;
        }
    }
    return false;
}

bool rm_madx_cut(struct rm_madx *madx, struct rm_madx_text *text, struct rm_madx_piece *piece) {
    char quote = '\0';
    while (text->at < text->end && is_space(*text->at))
        madx_text_step(text, &quote);
    *piece = (struct rm_madx_piece){.head = text->at, .line = text->line};
    if (text->at == text->end)
        return false;
    madx->here.line = text->line;
    for (; text->at < text->end; madx_text_step(text, &quote)) {
        if (quote != '\0' || (*text->at != ';' && *text->at != '{'))
            continue;
        piece->count = (size_t)(text->at - piece->head);
        if (*text->at == ';') {
            madx_text_step(text, &quote);
            return true;
        }
        piece->block = block_of(piece->head, text->at);
        if (piece->block == RM_MADX_STATEMENT)
            continue; /* a list of numbers */
        if (take_body(text, piece))
            return true;
        rm_madx_at(madx, &madx->here, NULL);
        return rm_reading_fail(madx->reading, "the { of this %.20s is not closed; close it with }",
                               rm_madx_block_name(piece->block));
    }
    piece->count = (size_t)(text->at - piece->head);
    return true;
}

char const *rm_madx_block_name(enum rm_madx_block block) {
    static char const *const names[] = {"statement", "IF", "ELSEIF", "ELSE", "WHILE", "MACRO"};
    return names[block];
}
