// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"

enum { EXIT_USAGE = 2, GUESS_BYTES = 96, CHOICES_BYTES = 256 };

/** The options of a program, while its command line is read. */
struct options_reading {
    struct rm_option *options;
    size_t count;
    struct rm_error *error;
};

bool rm_whole_parse(char const *text, uint64_t least, uint64_t most, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *number >= least && *number <= most;
}

bool rm_number_parse(char const *text, double least, double most, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= least && *number <= most;
}

static bool is_word(struct rm_option const *option) {
    return option->place == RM_WORD || option->place == RM_OPTIONAL_WORD;
}

static char const *dashes_of(struct rm_option const *option) { return is_word(option) ? "" : "--"; }

static enum rm_code take_number_option(struct rm_option const *option, char const *text, struct rm_error *error) {
    double number;
    if (!rm_number_parse(text, option->least, option->most, &number))
        return rm_fail(error, RM_E_ARGUMENT, "%s%s: found \"%s\", expected a number from %g to %g", dashes_of(option),
                       option->name, text, option->least, option->most);
    *(double *)option->value = number;
    return RM_OK;
}

static enum rm_code take_whole_option(struct rm_option const *option, char const *text, struct rm_error *error) {
    uint64_t number;
    if (!rm_whole_parse(text, (uint64_t)option->least, (uint64_t)option->most, &number))
        return rm_fail(error, RM_E_ARGUMENT, "%s%s: found \"%s\", expected a whole number from %.0f to %.0f",
                       dashes_of(option), option->name, text, option->least, option->most);
    *(uint64_t *)option->value = number;
    return RM_OK;
}

/** `what` is what chooses: "--order: ", or nothing. `text` may be NULL: there is none. */
static enum rm_code take_choice(char const *what, char const *const *choices, char const *text, uint64_t *index,
                                struct rm_error *error) {
    char list[CHOICES_BYTES] = "", found[GUESS_BYTES] = "", guess[GUESS_BYTES] = "";
    struct rm_nearest nearest = {.wanted = text};
    for (uint64_t i = 0; choices[i] != NULL; ++i) {
        if (text != NULL && strcmp(text, choices[i]) == 0) {
            *index = i;
            return RM_OK;
        }
        if (text != NULL)
            rm_nearest_offer(&nearest, choices[i]);
        size_t const used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", choices[i]);
    }
    if (text != NULL)
        snprintf(found, sizeof found, "found \"%.60s\", ", text);
    if (nearest.name != NULL)
        snprintf(guess, sizeof guess, " (did you mean \"%s\"?)", nearest.name);
    return rm_fail(error, RM_E_ARGUMENT, "%s%sexpected one of: %s%s", what, found, list, guess);
}

static enum rm_code take_choice_option(struct rm_option const *option, char const *text, struct rm_error *error) {
    char what[GUESS_BYTES];
    snprintf(what, sizeof what, "%s%s: ", dashes_of(option), option->name);
    return take_choice(what, option->choices, text, option->value, error);
}

static enum rm_code take_option_value(struct rm_option *option, char const *text, struct rm_error *error) {
    if (option->given && option->kind != RM_OPTION_TAKE)
        return rm_fail(error, RM_E_ARGUMENT, "%s%s is there twice", dashes_of(option), option->name);
    option->given = true;
    switch (option->kind) {
    case RM_OPTION_FLAG:
        *(bool *)option->value = true;
        return RM_OK;
    case RM_OPTION_NUMBER:
        return take_number_option(option, text, error);
    case RM_OPTION_WHOLE:
        return take_whole_option(option, text, error);
    case RM_OPTION_CHOICE:
        return take_choice_option(option, text, error);
    case RM_OPTION_TEXT:
        *(char const **)option->value = text;
        return RM_OK;
    case RM_OPTION_TAKE:
        return option->take(option->value, text, error);
    }
    return RM_E_ARGUMENT;
}

static struct rm_option *find_option(struct options_reading const *reading, char const *name, size_t bytes) {
    for (size_t i = 0; i < reading->count; ++i) {
        struct rm_option *const option = &reading->options[i];
        if (!is_word(option) && strlen(option->name) == bytes && memcmp(option->name, name, bytes) == 0)
            return option;
    }
    return NULL;
}

static enum rm_code refuse_unknown_option(struct options_reading const *reading, char const *text) {
    char wanted[GUESS_BYTES], guess[GUESS_BYTES] = "";
    char const *const name = text + strspn(text, "-");
    snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(name, "="), name);
    struct rm_nearest nearest = {.wanted = wanted};
    for (size_t i = 0; i < reading->count; ++i)
        if (!is_word(&reading->options[i]))
            rm_nearest_offer(&nearest, reading->options[i].name);
    if (nearest.name != NULL)
        snprintf(guess, sizeof guess, " (did you mean \"--%s\"?)", nearest.name);
    return rm_fail(reading->error, RM_E_ARGUMENT, "unknown option \"%s\"%s", text, guess);
}

/** The option at `*at`, and its value, where `*at` is behind. */
static enum rm_code take_option(struct options_reading const *reading, char ***at) {
    char *const text = **at;
    size_t const bytes = text[1] == '-' ? strcspn(text + 2, "=") : 0;
    char const *const equals = text[1] == '-' && text[2 + bytes] == '=' ? text + 3 + bytes : NULL;
    struct rm_option *const option = find_option(reading, text + 2, bytes);
    if (option == NULL)
        return refuse_unknown_option(reading, text);
    bool const has_value = option->kind != RM_OPTION_FLAG;
    if (!has_value && equals != NULL)
        return rm_fail(reading->error, RM_E_ARGUMENT, "--%s: found \"%s\", expected no value", option->name, equals);
    if (has_value && equals == NULL && (*at)[1] == NULL)
        return rm_fail(reading->error, RM_E_ARGUMENT, "--%s: expected a value", option->name);
    *at += has_value && equals == NULL;
    return take_option_value(option, equals != NULL ? equals : **at, reading->error);
}

/** The first word that was not given yet, or the last one, where that takes all that follow. */
static struct rm_option *next_word(struct options_reading const *reading) {
    struct rm_option *last = NULL;
    for (size_t i = 0; i < reading->count; ++i) {
        if (!is_word(&reading->options[i]))
            continue;
        last = &reading->options[i];
        if (!last->given)
            return last;
    }
    return last != NULL && last->kind == RM_OPTION_TAKE ? last : NULL;
}

static enum rm_code take_word(struct options_reading const *reading, char const *text) {
    struct rm_option *const word = next_word(reading);
    if (word == NULL)
        return rm_fail(reading->error, RM_E_ARGUMENT, "found \"%s\", expected an option, or nothing more", text);
    return take_option_value(word, text, reading->error);
}

static enum rm_code check_missing_options(struct options_reading const *reading) {
    for (size_t i = 0; i < reading->count; ++i) {
        struct rm_option const *const option = &reading->options[i];
        if ((option->place == RM_REQUIRED || option->place == RM_WORD) && !option->given)
            return rm_fail(reading->error, RM_E_ARGUMENT, "%s%s is missing", dashes_of(option), option->name);
    }
    return RM_OK;
}

/** "-1" is a word, so that it is told what was expected instead. */
static bool begins_as_option(char const *text) {
    return text[0] == '-' && text[1] != '\0' && strchr(".0123456789", text[1]) == NULL;
}

enum rm_code rm_options_read(int argc, char **argv, struct rm_option *options, size_t count, struct rm_error *error) {
    struct options_reading const reading = {options, count, error};
    bool only_words = false;
    enum rm_code code = RM_OK;
    char **at = argv + (argc > 0);
    for (; *at != NULL && code == RM_OK; ++at) {
        if (!only_words && strcmp(*at, "--") == 0)
            only_words = true;
        else if (!only_words && begins_as_option(*at))
            code = take_option(&reading, &at);
        else
            code = take_word(&reading, *at);
    }
    return code == RM_OK ? check_missing_options(&reading) : code;
}

enum rm_code rm_options_command(int argc, char **argv, char const *const *commands, uint64_t *index,
                                struct rm_error *error) {
    return take_choice("", commands, argc > 1 ? argv[1] : NULL, index, error);
}

bool rm_options_help(int argc, char **argv) {
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

bool rm_options_version(int argc, char **argv) { return argc == 2 && strcmp(argv[1], "--version") == 0; }

int rm_options_refuse(struct rm_error const *error) {
    char const *const program = program_invocation_short_name;
    fprintf(stderr, "%s: %s; see %s --help\n", program, error->text, program);
    return EXIT_USAGE;
}

static void exit_with_help(int argc, char **argv, char const *usage) {
    if (!rm_options_help(argc, argv))
        return;
    fputs(usage, stdout);
    exit(EXIT_SUCCESS);
}

void rm_options_or_exit(int argc, char **argv, char const *usage, struct rm_option *options, size_t count) {
    struct rm_error error;
    exit_with_help(argc, argv, usage);
    if (rm_options_read(argc, argv, options, count, &error) != RM_OK)
        exit(rm_options_refuse(&error));
}

uint64_t rm_options_command_or_exit(int argc, char **argv, char const *usage, char const *const *commands) {
    uint64_t index = 0;
    struct rm_error error;
    exit_with_help(argc, argv, usage);
    if (rm_options_command(argc, argv, commands, &index, &error) != RM_OK)
        exit(rm_options_refuse(&error));
    return index;
}
