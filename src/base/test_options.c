// SPDX-License-Identifier: Apache-2.0
/** Command lines: what is read of them, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/options.h"

enum { WORDS = 16 };

struct read {
    double rate;
    uint64_t core;
    char const *file;
    bool json;
    uint64_t unit;
    char order[64]; /**< what was taken, word by word */
    char const *word;
    uint64_t other;
    enum rm_code code;
    struct rm_error error;
};

static char const *const units[] = {"turns", "seconds", NULL};

static enum rm_code take(void *value, char const *text, struct rm_error *error) {
    (void)error;
    strncat(value, text, 8);
    return RM_OK;
}

/** `line` is cut at its blanks. The program knows the first `words` of WORD and OTHER. */
static struct read read_line(char const *line, int words) {
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
        {.name = "rate",
         .kind = RM_OPTION_NUMBER,
         .value = &read.rate,
         .least = 0.5,
         .most = 100,
         .place = RM_REQUIRED},
        {.name = "core", .kind = RM_OPTION_WHOLE, .value = &read.core, .most = 7},
        {.name = "file", .kind = RM_OPTION_TEXT, .value = &read.file},
        {.name = "link", .kind = RM_OPTION_TAKE, .value = read.order, .take = take},
        {.name = "json", .kind = RM_OPTION_FLAG, .value = &read.json},
        {.name = "unit", .kind = RM_OPTION_CHOICE, .value = &read.unit, .choices = units},
        {.name = "WORD", .kind = RM_OPTION_TEXT, .value = &read.word, .place = RM_WORD},
        {.name = "OTHER", .kind = RM_OPTION_WHOLE, .value = &read.other, .place = RM_OPTIONAL_WORD, .most = 9},
    };
    read.code = rm_options_read(argc, argv, options, 6 + (size_t)words, &read.error);
    return read;
}

static void values_go_where_they_belong(void **state) {
    (void)state;
    struct read read = read_line("--link a --rate 2.5 word --core=0 --link b --json --unit seconds --file x 4", 2);
    assert_int_equal(read.code, RM_OK);
    assert_true(read.rate == 2.5);
    assert_int_equal(read.core, 0);
    assert_string_equal(read.file, "x");
    assert_string_equal(read.order, "ab");
    assert_string_equal(read.word, "word");
    assert_true(read.json && read.unit == 1 && read.other == 4);

    read = read_line("--rate 1 --file= -- --json", 1);
    assert_int_equal(read.code, RM_OK);
    assert_string_equal(read.file, "");
    assert_string_equal(read.word, "--json");
    assert_false(read.json);

    read = read_line("--rate 1e2", 0);
    assert_int_equal(read.code, RM_OK);
    assert_true(read.rate == 100);
    assert_int_equal(read.core, 77);
    assert_null(read.file);
}

static char const *const wrong[][2] = {
    {"--rate 1", "WORD is missing"},
    {"word --rate 1 x", "OTHER: found \"x\", expected a whole number from 0 to 9"},
    {"word --rate 1 -1", "OTHER: found \"-1\", expected a whole number from 0 to 9"},
    {"word --rate 1 1 2", "found \"2\", expected an option, or nothing more"},
    {"word", "--rate is missing"},
    {"word --rate", "--rate: expected a value"},
    {"word --rate 1 --rate 1", "--rate is there twice"},
    {"word --rate 0.4", "from 0.5 to 100"},
    {"word --rate 101", "from 0.5 to 100"},
    {"word --rate nan", "found \"nan\""},
    {"word --rate 1x", "found \"1x\""},
    {"word --rate 1 --core 8", "whole number from 0 to 7"},
    {"word --rate 1 --core -1", "found \"-1\""},
    {"word --rate 1 --core 1.5", "found \"1.5\""},
    {"word --rate 1 --speed 3", "unknown option \"--speed\""},
    {"word --raet 1", "unknown option \"--raet\" (did you mean \"--rate\"?)"},
    {"word --raet=1", "unknown option \"--raet=1\" (did you mean \"--rate\"?)"},
    {"word --rate 1 --WORD x", "unknown option \"--WORD\""},
    {"word --rate 1 --json=yes", "--json: found \"yes\", expected no value"},
    {"word --rate 1 --unit second",
     "--unit: found \"second\", expected one of: turns, seconds (did you mean \"seconds\"?)"},
    {"word --rate 1 --core=", "--core: found \"\""},
    {"word --rate 1 -x", "unknown option \"-x\""},
};

static void bad_lines_are_refused_in_words(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct read const read = read_line(wrong[i][0], 2);
        if (read.code != RM_E_ARGUMENT || strstr(read.error.text, wrong[i][1]) == NULL)
            fail_msg("\"%s\": expected \"%s\" in: %s", wrong[i][0], wrong[i][1], read.error.text);
    }
    assert_int_equal(read_line("word --rate 1", 0).code, RM_E_ARGUMENT);
}

static void the_last_word_may_take_all_that_follow(void **state) {
    (void)state;
    char program[] = "program", a[] = "a", b[] = "b", c[] = "c";
    char *argv[] = {program, a, b, c, NULL};
    char order[64] = "";
    char const *first = NULL;
    struct rm_error error;
    struct rm_option options[] = {
        {.name = "FIRST", .kind = RM_OPTION_TEXT, .value = &first, .place = RM_WORD},
        {.name = "CPU", .kind = RM_OPTION_TAKE, .value = order, .take = take, .place = RM_WORD},
    };
    assert_int_equal(rm_options_read(4, argv, options, 2, &error), RM_OK);
    assert_string_equal(first, "a");
    assert_string_equal(order, "bc");
    options[0].given = options[1].given = false;
    argv[2] = NULL;
    assert_int_equal(rm_options_read(2, argv, options, 2, &error), RM_E_ARGUMENT);
    assert_string_equal(error.text, "CPU is missing");
}

static void a_command_is_found_or_guessed(void **state) {
    (void)state;
    static char const *const commands[] = {"run", "check", NULL};
    char program[] = "program", check[] = "check", slip[] = "chekc", other[] = "replay";
    uint64_t index = 9;
    struct rm_error error;
    assert_int_equal(rm_options_command(2, (char *[]){program, check, NULL}, commands, &index, &error), RM_OK);
    assert_int_equal(index, 1);
    assert_int_equal(rm_options_command(2, (char *[]){program, slip, NULL}, commands, &index, &error), RM_E_ARGUMENT);
    assert_string_equal(error.text, "found \"chekc\", expected one of: run, check (did you mean \"check\"?)");
    assert_int_equal(rm_options_command(2, (char *[]){program, other, NULL}, commands, &index, &error), RM_E_ARGUMENT);
    assert_string_equal(error.text, "found \"replay\", expected one of: run, check");
    assert_int_equal(rm_options_command(1, (char *[]){program, NULL}, commands, &index, &error), RM_E_ARGUMENT);
    assert_string_equal(error.text, "expected one of: run, check");
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

/** Runs it in a process of its own, whose exit status is returned, and what it has written to the stream `to`. */
static int exit_status_of(char *argv[], int to, char *text, size_t bytes) {
    int end[2];
    assert_int_equal(pipe(end), 0);
    pid_t const child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(end[1], to);
        struct rm_option options[] = {{.name = "json", .kind = RM_OPTION_FLAG, .value = &(bool){false}}};
        rm_options_or_exit(2, argv, "Usage: program [--json]\n", options, 1);
        _exit(7);
    }
    close(end[1]);
    ssize_t const length = read(end[0], text, bytes - 1);
    text[length > 0 ? length : 0] = '\0';
    close(end[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void a_program_ends_where_its_command_line_ends_it(void **state) {
    (void)state;
    char program[] = "program", help[] = "--help", wrong_one[] = "--jsno", right[] = "--json", text[256];
    assert_int_equal(exit_status_of((char *[]){program, help, NULL}, STDOUT_FILENO, text, sizeof text), 0);
    assert_string_equal(text, "Usage: program [--json]\n");
    assert_int_equal(exit_status_of((char *[]){program, wrong_one, NULL}, STDERR_FILENO, text, sizeof text), 2);
    assert_string_equal(text, "test_options: unknown option \"--jsno\" (did you mean \"--json\"?); see test_options "
                              "--help\n");
    assert_int_equal(exit_status_of((char *[]){program, right, NULL}, STDERR_FILENO, text, sizeof text), 7);
    assert_string_equal(text, "");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(values_go_where_they_belong),
        cmocka_unit_test(bad_lines_are_refused_in_words),
        cmocka_unit_test(the_last_word_may_take_all_that_follow),
        cmocka_unit_test(a_command_is_found_or_guessed),
        cmocka_unit_test(help_is_found_anywhere),
        cmocka_unit_test(a_program_ends_where_its_command_line_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
