// SPDX-License-Identifier: Apache-2.0
#include "commands/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "commands/pattern.h"

/* All commands of all tables, one after the other. */
struct said {
    struct rm_command_table const *table;
    uint32_t tables;
    struct rm_words words;
};

static struct rm_command const *command_at(struct said const *said, uint32_t index, void **context) {
    for (uint32_t i = 0; i < said->tables; i++) {
        if (index < said->table[i].count) {
            *context = said->table[i].context;
            return &said->table[i].command[index];
        }
        index -= said->table[i].count;
    }
    return NULL;
}

/* A word that may have been meant, and the memory that it is in. */
struct meant {
    struct rm_nearest nearest;
    char name[RM_COMMAND_LINE_BYTES];
};

static void meant_offer(struct meant *meant, char const *word) {
    rm_nearest_offer(&meant->nearest, word);
    if (meant->nearest.name == word)
        meant->nearest.name = strcpy(meant->name, word);
}

/* Whether word `index` of the pattern is that, or may be it. */
static bool pattern_has(char const *pattern, uint32_t index, char const *wanted) {
    char word[RM_COMMAND_LINE_BYTES], choice[RM_COMMAND_LINE_BYTES];
    if (!rm_pattern_word(pattern, index, word))
        return false;
    for (uint32_t i = 0; rm_pattern_choice(word, i, choice); i++)
        if (strcmp(choice, wanted) == 0)
            return true;
    return strcmp(word, wanted) == 0;
}

/* Offers what word `index` of the pattern may be. */
static void meant_offer_pattern(struct meant *meant, char const *pattern, uint32_t index) {
    char word[RM_COMMAND_LINE_BYTES], choice[RM_COMMAND_LINE_BYTES];
    if (!rm_pattern_word(pattern, index, word))
        return;
    if (!rm_pattern_is_argument(word))
        meant_offer(meant, word);
    for (uint32_t i = 0; rm_pattern_choice(word, i, choice); i++)
        meant_offer(meant, choice);
}

static char const *meant_text(struct meant const *meant, char *text, size_t size) {
    if (meant->nearest.name == NULL)
        return "";
    snprintf(text, size, " (did you mean \"%.32s\"?)", meant->nearest.name);
    return text;
}

static char const MORE[] = ", …";

/* The commands that begin with the most of what was said; of those with a word that may have been meant, these alone. */
static enum rm_code fail_unknown(struct said const *said, struct rm_error *error) {
    char list[RM_ERROR_TEXT_BYTES / 2] = "";
    uint32_t best = 0;
    void *context;
    struct rm_command const *command;
    for (uint32_t i = 0; (command = command_at(said, i, &context)) != NULL; i++) {
        uint32_t const begins = rm_pattern_begins(command->pattern, &said->words);
        best = begins > best ? begins : best;
    }
    struct meant meant = {.nearest = {.wanted = best < said->words.count ? said->words.word[best] : ""}};
    char guess[64];
    for (uint32_t i = 0; (command = command_at(said, i, &context)) != NULL; i++)
        if (rm_pattern_begins(command->pattern, &said->words) == best)
            meant_offer_pattern(&meant, command->pattern, best);
    uint32_t listed = 0;
    for (uint32_t i = 0; (command = command_at(said, i, &context)) != NULL; i++) {
        size_t const used = strlen(list);
        bool const near = meant.nearest.name == NULL || pattern_has(command->pattern, best, meant.nearest.name);
        if (!near || rm_pattern_begins(command->pattern, &said->words) != best)
            continue;
        if (used + strlen(command->pattern) + 16 <= sizeof list)
            snprintf(list + used, sizeof list - used, "%s\"%s\"", listed++ == 0 ? "" : ", ", command->pattern);
        else if (used == 0 || strcmp(list + used - strlen(MORE), MORE) != 0)
            snprintf(list + used, sizeof list - used, "%s", MORE);
    }
    if (best == 0)
        return rm_fail(error, RM_E_ARGUMENT, "\"%.64s\" begins no command, expected one of those that \"help\" lists%s",
                       said->words.word[0], meant_text(&meant, guess, sizeof guess));
    return rm_fail(error, RM_E_ARGUMENT, "after \"%.64s\" something is missing or not known, expected %s%s",
                   said->words.word[best - 1], list, meant_text(&meant, guess, sizeof guess));
}

/* help [WORDS…]: the commands that begin so. */
static enum rm_code say_help(struct said *said, FILE *answer) {
    memmove(&said->words.word[0], &said->words.word[1], (said->words.count - 1) * sizeof said->words.word[0]);
    said->words.count--;
    void *context;
    struct rm_command const *command;
    for (uint32_t i = 0; (command = command_at(said, i, &context)) != NULL; i++)
        if (rm_pattern_begins(command->pattern, &said->words) == said->words.count)
            fprintf(answer, "%-44s %s\n", command->pattern, command->help);
    return RM_OK;
}

static void say_completion(char const *word, char const *begun, FILE *answer) {
    if (rm_pattern_is_argument(word) || strncmp(word, begun, strlen(begun)) == 0)
        fprintf(answer, "%s\n", word);
}

/* complete TEXT: what may come after its words; its last word is not whole where TEXT does not end with a space. */
static enum rm_code say_completions(struct said *said, char const *text, FILE *answer) {
    enum rm_code const code = rm_words_split(text, &said->words, NULL);
    if (code != RM_OK)
        return RM_OK; /* nothing completes it */
    size_t const length = strlen(text);
    bool const whole = length == 0 || text[length - 1] == ' ';
    char const *begun = whole || said->words.count == 0 ? "" : said->words.word[--said->words.count];
    char last[RM_COMMAND_LINE_BYTES] = "";
    void *context;
    struct rm_command const *command;
    for (uint32_t i = 0; (command = command_at(said, i, &context)) != NULL; i++) {
        char next[RM_COMMAND_LINE_BYTES], choice[RM_COMMAND_LINE_BYTES];
        if (rm_pattern_begins(command->pattern, &said->words) != said->words.count ||
            !rm_pattern_word(command->pattern, said->words.count, next) || strcmp(next, last) == 0)
            continue;
        strcpy(last, next);
        if (!rm_pattern_choice(next, 0, choice))
            say_completion(next, begun, answer);
        for (uint32_t one = 0; rm_pattern_choice(next, one, choice); one++)
            say_completion(choice, begun, answer);
    }
    return RM_OK;
}

enum rm_code rm_command_run(struct rm_command_table const *table, uint32_t count, char const *line, FILE *answer,
                            struct rm_error *error) {
    struct said said = {table, count, {.count = 0}};
    if (strncmp(line, "complete ", strlen("complete ")) == 0)
        return say_completions(&said, line + strlen("complete "), answer);
    enum rm_code const code = rm_words_split(line, &said.words, error);
    if (code != RM_OK || said.words.count == 0)
        return code;
    if (strcmp(said.words.word[0], "help") == 0)
        return say_help(&said, answer);
    struct rm_arguments arguments;
    void *context;
    struct rm_command const *command;
    for (uint32_t i = 0; (command = command_at(&said, i, &context)) != NULL; i++)
        if (rm_pattern_fits(command->pattern, &said.words, &arguments))
            return command->run(context, &arguments, answer, error);
    return fail_unknown(&said, error);
}

enum rm_code rm_command_run_file(struct rm_command_table const *table, uint32_t count, char const *path, FILE *answer,
                                 struct rm_error *error) {
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    enum rm_code code = RM_OK;
    for (unsigned number = 1; code == RM_OK && getline(&line, &room, file) >= 0; number++) {
        struct rm_error reason;
        code = rm_command_run(table, count, line, answer, &reason);
        if (code != RM_OK)
            rm_fail(error, code, "%s:%u: %s", path, number, reason.text);
    }
    free(line);
    fclose(file);
    return code;
}
