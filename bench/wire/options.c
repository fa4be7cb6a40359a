// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

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

static enum rm_code take_bench_number(struct rm_option const *option, char const *text, struct rm_error *error) {
    double number;
    if (!rm_number_parse(text, option->least, option->most, &number))
        return rm_fail(error, RM_E_ARGUMENT, "--%s: found \"%s\", expected a number from %g to %g", option->name, text,
                       option->least, option->most);
    *(double *)option->value = number;
    return RM_OK;
}

static enum rm_code take_whole(struct rm_option const *option, char const *text, struct rm_error *error) {
    uint64_t number;
    if (!rm_whole_parse(text, (uint64_t)option->least, (uint64_t)option->most, &number))
        return rm_fail(error, RM_E_ARGUMENT, "--%s: found \"%s\", expected a whole number from %.0f to %.0f",
                       option->name, text, option->least, option->most);
    *(uint64_t *)option->value = number;
    return RM_OK;
}

static enum rm_code take_value(struct rm_option *option, char const *text, struct rm_error *error) {
    if (option->given && option->kind != RM_OPTION_TAKE)
        return rm_fail(error, RM_E_ARGUMENT, "--%s is there twice", option->name);
    option->given = true;
    switch (option->kind) {
    case RM_OPTION_NUMBER:
        return take_bench_number(option, text, error);
    case RM_OPTION_WHOLE:
        return take_whole(option, text, error);
    case RM_OPTION_TEXT:
        *(char const **)option->value = text;
        return RM_OK;
    case RM_OPTION_TAKE:
        return option->take(option->value, text, error);
    }
    return RM_E_ARGUMENT;
}

static struct rm_option *find_option(struct rm_option *options, size_t count, char const *name) {
    for (size_t i = 0; i < count; ++i)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static enum rm_code check_missing(struct rm_option const *options, size_t count, struct rm_error *error) {
    for (size_t i = 0; i < count; ++i)
        if (options[i].required && !options[i].given)
            return rm_fail(error, RM_E_ARGUMENT, "--%s is missing", options[i].name);
    return RM_OK;
}

static enum rm_code take_word(char const *text, char const **word, struct rm_error *error) {
    if (word == NULL || *word != NULL)
        return rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected an option, --NAME VALUE", text);
    *word = text;
    return RM_OK;
}

static enum rm_code take_option(char **at, struct rm_option *options, size_t count, struct rm_error *error) {
    struct rm_option *const option = find_option(options, count, at[0] + 2);
    if (option == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "unknown option \"%s\"; --help lists those there are", at[0]);
    if (at[1] == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "%s: expected a value", at[0]);
    return take_value(option, at[1], error);
}

enum rm_code rm_options_read(int argc, char **argv, struct rm_option *options, size_t count, char const **word,
                             struct rm_error *error) {
    if (word != NULL)
        *word = NULL;
    enum rm_code code = RM_OK;
    for (int i = 1; i < argc && code == RM_OK; ++i) {
        bool const is_option = strncmp(argv[i], "--", 2) == 0;
        code = is_option ? take_option(&argv[i], options, count, error) : take_word(argv[i], word, error);
        i += is_option;
    }
    if (code == RM_OK && word != NULL && *word == NULL)
        return rm_fail(error, RM_E_ARGUMENT, "expected a link, KIND:WHERE[,KEY=VALUE]…; --help shows some");
    return code == RM_OK ? check_missing(options, count, error) : code;
}

bool rm_options_help(int argc, char **argv) {
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}
