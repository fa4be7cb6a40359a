// SPDX-License-Identifier: Apache-2.0
/** Command lines: what is read of them, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"

enum { WORDS = 16 };

struct read {
    double rate;
    uint64_t core;
    char const *file;
    char order[64]; /**< what was taken, word by word */
    char const *word;
    enum rm_code code;
    struct rm_error error;
};

static enum rm_code take(void *value, char const *text, struct rm_error *error) {
    (void)error;
    strncat(value, text, 8);
    return RM_OK;
}

/** `line` is cut at its blanks. */
static struct read read_line(char const *line, bool with_word) {
    static char text[256];
    static struct read read;
    snprintf(text, sizeof text, "program %s", line);
    char *argv[WORDS] = {0};
    int argc = 0;
    for (char *rest = text, *word; (word = strsep(&rest, " ")) != NULL && argc < WORDS - 1;)
        if (*word != '\0')
            argv[argc++] = word;
    read = (struct read){.rate = -1, .core = 77};
    struct rm_option options[] = {
        {.name = "rate", .kind = RM_OPTION_NUMBER, .value = &read.rate, .least = 0.5, .most = 100, .required = true},
        {.name = "core", .kind = RM_OPTION_WHOLE, .value = &read.core, .most = 7},
        {.name = "file", .kind = RM_OPTION_TEXT, .value = &read.file},
        {.name = "link", .kind = RM_OPTION_TAKE, .value = read.order, .take = take},
    };
    read.code = rm_options_read(argc, argv, options, 4, with_word ? &read.word : NULL, &read.error);
    return read;
}

static void values_go_where_they_belong(void **state) {
    (void)state;
    struct read read = read_line("--link a --rate 2.5 word --core 0 --link b --file x", true);
    assert_int_equal(read.code, RM_OK);
    assert_true(read.rate == 2.5);
    assert_int_equal(read.core, 0);
    assert_string_equal(read.file, "x");
    assert_string_equal(read.order, "ab");
    assert_string_equal(read.word, "word");

    read = read_line("--rate 1e2", false);
    assert_int_equal(read.code, RM_OK);
    assert_true(read.rate == 100);
    assert_int_equal(read.core, 77);
    assert_null(read.file);
}

static char const *const wrong[][2] = {
    {"--rate 1", "expected a link"},
    {"word", "--rate is missing"},
    {"word --rate", "--rate: expected a value"},
    {"word other --rate 1", "found \"other\""},
    {"word --rate 1 --rate 1", "--rate is there twice"},
    {"word --rate 0.4", "from 0.5 to 100"},
    {"word --rate 101", "from 0.5 to 100"},
    {"word --rate nan", "found \"nan\""},
    {"word --rate 1x", "found \"1x\""},
    {"word --rate 1 --core 8", "whole number from 0 to 7"},
    {"word --rate 1 --core -1", "found \"-1\""},
    {"word --rate 1 --core 1.5", "found \"1.5\""},
    {"word --rate 1 --speed 3", "unknown option \"--speed\""},
    {"word --rate 1 -x", "found \"-x\""},
};

static void bad_lines_are_refused_in_words(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct read const read = read_line(wrong[i][0], true);
        if (read.code != RM_E_ARGUMENT || strstr(read.error.text, wrong[i][1]) == NULL)
            fail_msg("\"%s\": expected \"%s\" in: %s", wrong[i][0], wrong[i][1], read.error.text);
    }
    assert_int_equal(read_line("word --rate 1", false).code, RM_E_ARGUMENT);
}

static void help_is_found_anywhere(void **state) {
    (void)state;
    char program[] = "program", word[] = "help", option[] = "--help", letter[] = "-h";
    char *with[] = {program, word, option, NULL};
    char *short_one[] = {program, letter, NULL};
    char *without[] = {program, word, word, NULL};
    assert_true(rm_options_help(3, with));
    assert_true(rm_options_help(2, short_one));
    assert_false(rm_options_help(3, without));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(values_go_where_they_belong),
        cmocka_unit_test(bad_lines_are_refused_in_words),
        cmocka_unit_test(help_is_found_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
