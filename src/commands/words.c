// SPDX-License-Identifier: Apache-2.0
#include "commands/words.h"

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

static bool is_space(char letter) { return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n'; }

static bool is_control(char letter) { return (unsigned char)letter < ' ' && !is_space(letter); }

/* Takes one word from `*from` on, and ends it with zero in `*to`. */
static enum rm_code take_word(char const **from, char **to, struct rm_error *error) {
    char const *at = *from;
    char *out = *to;
    bool quoted = false;
    for (; *at != '\0' && (quoted || (!is_space(*at) && *at != '#')); at++) {
        if (is_control(*at))
            return rm_fail(error, RM_E_ARGUMENT, "the line has the byte 0x%02x, expected text", (unsigned char)*at);
        if (*at == '"')
            quoted = !quoted;
        else
            *out++ = *at;
    }
    if (quoted)
        return rm_fail(error, RM_E_ARGUMENT, "a quote is not closed, expected \" at the end of the word");
    *out++ = '\0';
    *from = at;
    *to = out;
    return RM_OK;
}

enum rm_code rm_words_split(char const *line, struct rm_words *words, struct rm_error *error) {
    words->count = 0;
    if (strnlen(line, RM_COMMAND_LINE_BYTES) == RM_COMMAND_LINE_BYTES)
        return rm_fail(error, RM_E_ARGUMENT, "the line is too long, expected at most %d bytes",
                       RM_COMMAND_LINE_BYTES - 1);
    char *out = words->text; /* a word and its zero take no more room than it and what separates it from the next */
    for (;;) {
        while (is_space(*line))
            line++;
        if (*line == '\0' || *line == '#')
            return RM_OK;
        if (words->count == RM_COMMAND_WORDS_MAX)
            return rm_fail(error, RM_E_ARGUMENT, "the line has too many words, expected at most %d",
                           RM_COMMAND_WORDS_MAX);
        words->word[words->count++] = out;
        enum rm_code const code = take_word(&line, &out, error);
        if (code != RM_OK)
            return code;
    }
}
