// SPDX-License-Identifier: Apache-2.0
#include "commands/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Notes what it was given. */
static enum rm_code note(void *context, struct rm_arguments const *arguments, FILE *answer, struct rm_error *error) {
    (void)error;
    char *const noted = context;
    noted[0] = '\0';
    for (uint32_t i = 0; i < arguments->count; i++)
        strcat(strcat(noted, arguments->word[i]), "|");
    fputs("noted\n", answer);
    return RM_OK;
}

static enum rm_code refuse(void *context, struct rm_arguments const *arguments, FILE *answer, struct rm_error *error) {
    (void)context;
    (void)answer;
    snprintf(error->text, sizeof error->text, "refused %s", arguments->word[0]);
    return RM_E_ARGUMENT;
}

static struct rm_command const SOME[] = {
    {"set PORTS rate PERCENT", "sends so much", note},
    {"set PORTS size BYTES", "frames so long", note},
    {"stop PORTS", "stops", refuse},
};

static struct rm_command const MORE[] = {{"route show …", "lists routes", note},
                                         {"range PORT SRC|DST ip ADDRESS", "goes through addresses", note}};

struct said {
    char noted[RM_COMMAND_LINE_BYTES];
    char *answer;
    struct rm_error error;
    enum rm_code code;
};

static void say(struct said *said, char const *line) {
    struct rm_command_table const tables[] = {{SOME, 3, said->noted}, {MORE, 2, said->noted}};
    size_t length;
    free(said->answer);
    FILE *out = open_memstream(&said->answer, &length);
    assert_non_null(out);
    said->noted[0] = said->error.text[0] = '\0';
    said->code = rm_command_run(tables, 2, line, out, &said->error);
    fclose(out);
}

static void words_in_capitals_are_arguments(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    say(&said, "  set 0,1 rate\t99 # as fast as it goes\n");
    assert_int_equal(said.code, RM_OK);
    assert_string_equal(said.noted, "0,1|99|");
    assert_string_equal(said.answer, "noted\n");
    say(&said, "set \"a port\" size 64");
    assert_string_equal(said.noted, "a port|64|");
    say(&said, "route show");
    assert_string_equal(said.noted, "");
    assert_int_equal(said.code, RM_OK);
    say(&said, "route show 10.0.0.0/8 json");
    assert_string_equal(said.noted, "10.0.0.0/8|json|");
    free(said.answer);
}

static void nothing_and_comments_do_nothing(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    say(&said, "");
    assert_int_equal(said.code, RM_OK);
    say(&said, "   # set 0 rate 1");
    assert_int_equal(said.code, RM_OK);
    assert_string_equal(said.answer, "");
    free(said.answer);
}

static void what_is_not_known_is_told_with_what_is(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    say(&said, "set 0 ratte 5");
    assert_int_equal(said.code, RM_E_ARGUMENT);
    assert_string_equal(said.error.text, "after \"0\" something is missing or not known, expected \"set PORTS rate "
                                         "PERCENT\" (did you mean \"rate\"?)");
    say(&said, "set 0 colour 5");
    assert_string_equal(said.error.text, "after \"0\" something is missing or not known, expected \"set PORTS rate "
                                         "PERCENT\", \"set PORTS size BYTES\"");
    say(&said, "set 0 rate");
    assert_string_equal(said.error.text,
                        "after \"rate\" something is missing or not known, expected \"set PORTS rate PERCENT\"");
    say(&said, "sett");
    assert_string_equal(
        said.error.text,
        "\"sett\" begins no command, expected one of those that \"help\" lists (did you mean \"set\"?)");
    say(&said, "stop 0 1");
    assert_int_equal(said.code, RM_E_ARGUMENT);
    say(&said, "set \"0 rate 5");
    assert_string_equal(said.error.text, "a quote is not closed, expected \" at the end of the word");
    say(&said, "set \x01 rate 5");
    assert_int_equal(said.code, RM_E_ARGUMENT);
    free(said.answer);
}

static void a_command_may_refuse(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    say(&said, "stop all");
    assert_int_equal(said.code, RM_E_ARGUMENT);
    assert_string_equal(said.error.text, "refused all");
    free(said.answer);
}

static void an_argument_may_be_one_of_several_words(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    say(&said, "range 0 dst ip 10.0.0.1");
    assert_string_equal(said.noted, "0|dst|10.0.0.1|");
    say(&said, "range 0 dts ip 10.0.0.1");
    assert_string_equal(said.error.text,
                        "after \"0\" something is missing or not known, expected \"range PORT SRC|DST ip "
                        "ADDRESS\" (did you mean \"dst\"?)");
    say(&said, "complete range 0 ");
    assert_string_equal(said.answer, "src\ndst\n");
    say(&said, "complete range 0 d");
    assert_string_equal(said.answer, "dst\n");
    free(said.answer);
}

static void help_lists_what_begins_so(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    say(&said, "help");
    assert_non_null(strstr(said.answer, "set PORTS rate PERCENT"));
    assert_non_null(strstr(said.answer, "route show"));
    say(&said, "help route");
    assert_null(strstr(said.answer, "set"));
    free(said.answer);
}

static void completion_lists_the_next_words(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    say(&said, "complete set 0 ");
    assert_string_equal(said.answer, "rate\nsize\n");
    say(&said, "complete set 0 r");
    assert_string_equal(said.answer, "rate\n");
    say(&said, "complete s");
    assert_string_equal(said.answer, "set\nstop\n");
    say(&said, "complete set ");
    assert_string_equal(said.answer, "PORTS\n");
    say(&said, "complete nothing ");
    assert_string_equal(said.answer, "");
    free(said.answer);
}

static void a_line_that_is_too_long_is_refused(void **state) {
    (void)state;
    struct said said = {.answer = NULL};
    char line[2 * RM_COMMAND_LINE_BYTES];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    say(&said, line);
    assert_int_equal(said.code, RM_E_ARGUMENT);
    for (size_t i = 1; i < RM_COMMAND_LINE_BYTES - 1; i += 2)
        line[i] = ' ';
    line[RM_COMMAND_LINE_BYTES - 1] = '\0';
    say(&said, line);
    assert_string_equal(said.error.text, "the line has too many words, expected at most 64");
    free(said.answer);
}

static void a_file_stops_at_the_first_error_and_says_where(void **state) {
    (void)state;
    char path[] = "/tmp/ringmaster-commands-XXXXXX";
    char const text[] = "# two good ones\nset 0 rate 5\nset 0 size 64\nstop 7\nset 0 rate 9\n";
    int const file = mkstemp(path);
    FILE *const out = fdopen(file, "w");
    fputs(text, out);
    fclose(out);
    char noted[RM_COMMAND_LINE_BYTES];
    struct rm_command_table const table = {SOME, 3, noted};
    struct rm_error error;
    char expected[128];
    assert_int_equal(rm_command_run_file(&table, 1, path, stderr, &error), RM_E_ARGUMENT);
    snprintf(expected, sizeof expected, "%s:4: refused 7", path);
    assert_string_equal(error.text, expected);
    assert_string_equal(noted, "0|64|");
    remove(path);
    assert_int_equal(rm_command_run_file(&table, 1, path, stderr, &error), RM_E_SYSTEM);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(words_in_capitals_are_arguments),
        cmocka_unit_test(nothing_and_comments_do_nothing),
        cmocka_unit_test(what_is_not_known_is_told_with_what_is),
        cmocka_unit_test(a_command_may_refuse),
        cmocka_unit_test(an_argument_may_be_one_of_several_words),
        cmocka_unit_test(help_lists_what_begins_so),
        cmocka_unit_test(completion_lists_the_next_words),
        cmocka_unit_test(a_line_that_is_too_long_is_refused),
        cmocka_unit_test(a_file_stops_at_the_first_error_and_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
