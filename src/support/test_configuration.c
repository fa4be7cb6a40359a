// SPDX-License-Identifier: Apache-2.0
/** An application's own file: every kind of key, what absent ones become, and what people are told when it is wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/configuration.h>

enum plane { PLANE_X, PLANE_Y };

struct line {
    double hz;
    char *name;
};

struct inner {
    double gain;
    char *needed;
};

struct mine {
    double period_s, free;
    uint32_t mask, ignored;
    bool enabled;
    enum plane plane;
    char *title, *nothing;
    struct inner inner;
    double *weights;
    uint32_t weight_count;
    char **inputs;
    uint32_t input_count;
    struct line *lines;
    uint32_t line_count;
};

static char const *const planes[] = {"x", "y", NULL};

static struct rm_key const line_keys[] = {
    RM_KEY_NUMBER(struct line, hz, "hz", "Its frequency.", .required = true, RM_BETWEEN(1, 100)),
    RM_KEY_TEXT(struct line, name, "name", "Its name.", .fallback = "mains"),
    RM_KEYS_END,
};

static struct rm_key const inner_keys[] = {
    RM_KEY_NUMBER(struct inner, gain, "gain", "Of the loop.", .fallback = "0.5", RM_BETWEEN(0, 1)),
    RM_KEY_TEXT(struct inner, needed, "needed", "What it needs.", .required = true),
    RM_KEYS_END,
};

static struct rm_key const keys[] = {
    RM_KEY_NUMBER(struct mine, period_s, "period_ms", "From one look to the next.", .unit = "ms", .fallback = "100",
                  RM_BETWEEN(1, 1e6), .scale = 1e-3),
    RM_KEY_NUMBER(struct mine, free, "free", "Any number.", .otherwise = "none"),
    RM_KEY_WHOLE(struct mine, mask, "mask", "Bits.", .fallback = "0x10", RM_BETWEEN(0, 65535)),
    RM_KEY_TRUTH(struct mine, enabled, "enabled", "Whether it acts.", .fallback = "true"),
    RM_KEY_WORD(struct mine, plane, "plane", "Which way.", .fallback = "y", .words = planes),
    RM_KEY_TEXT(struct mine, title, "title", "For people.", .required = true, RM_BETWEEN(1, 8)),
    RM_KEY_TEXT(struct mine, nothing, "nothing", "May be absent."),
    RM_KEY_MAPPING(struct mine, inner, "inner", "A part of its own.", inner_keys),
    RM_KEY_NUMBERS(struct mine, weights, weight_count, "weights", "One for each.", RM_BETWEEN(0, 3)),
    RM_KEY_TEXTS(struct mine, inputs, input_count, "inputs", "Names."),
    RM_KEY_MAPPINGS(struct mine, lines, line_count, "lines", "What is taken away.", line_keys),
    RM_KEYS_END,
};

static char path[] = "/tmp/ringmaster-configuration-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int const file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static enum rm_code load(char const *text, struct mine *mine, rm_configuration_check *check, struct rm_errors *errors) {
    FILE *const file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    *mine = (struct mine){.ignored = 7};
    *errors = (struct rm_errors){.count = 0};
    return rm_configuration_load(path, keys, mine, check, errors);
}

static void takes_every_kind_of_value(void **state) {
    (void)state;
    struct mine mine;
    struct rm_errors errors;
    assert_int_equal(load("period_ms: 20\nfree: -1e3\nmask: 0x8001\nenabled: false\nplane: x\ntitle: \"tests\"\n"
                          "nothing: some\ninner: {gain: 1, needed: x}\nweights: [1, 2.5]\ninputs: [a/raw, b/raw]\n"
                          "lines:\n  - {hz: 50}\n  - {hz: 100, name: second}\n",
                          &mine, NULL, &errors),
                     RM_OK);
    assert_true(mine.period_s == 0.02 && mine.free == -1000 && mine.mask == 0x8001 && mine.ignored == 7);
    assert_true(!mine.enabled && mine.plane == PLANE_X && mine.inner.gain == 1);
    assert_string_equal(mine.title, "tests");
    assert_string_equal(mine.nothing, "some");
    assert_true(mine.weight_count == 2 && mine.weights[0] == 1 && mine.weights[1] == 2.5);
    assert_int_equal(mine.input_count, 2);
    assert_string_equal(mine.inputs[1], "b/raw");
    assert_true(mine.line_count == 2 && mine.lines[0].hz == 50 && mine.lines[1].hz == 100);
    assert_string_equal(mine.lines[0].name, "mains");
    assert_string_equal(mine.lines[1].name, "second");
    rm_configuration_free(keys, &mine);
    assert_true(mine.title == NULL && mine.lines == NULL && mine.line_count == 0 && mine.inputs == NULL);
    rm_configuration_free(keys, &mine); /* what is free stays so */
}

static void what_is_absent_has_its_default(void **state) {
    (void)state;
    struct mine mine;
    struct rm_errors errors;
    assert_int_equal(load("title: a\n", &mine, NULL, &errors), RM_OK);
    assert_true(mine.period_s == 0.1 && isnan(mine.free) && mine.mask == 0x10 && mine.enabled);
    assert_true(mine.plane == PLANE_Y && mine.nothing == NULL);
    assert_true(mine.inner.gain == 0.5 && mine.inner.needed == NULL); /* required only where the mapping is there */
    assert_true(mine.weights == NULL && mine.weight_count == 0 && mine.line_count == 0);
    rm_configuration_free(keys, &mine);
}

/** A file, and what must be said of it, in this order. */
struct wrong {
    char const *text;
    char const *says[4];
};

static void says_all_that_is_wrong_with_its_place(void **state) {
    (void)state;
    static struct wrong const wrongs[] = {
        {"titel: a\nmask: -1\n",
         {":1:1: unknown key \"titel\", expected one of: period_ms, free, mask, enabled, plane, title, nothing, inner, "
          "weights, inputs, lines (did you mean \"title\"?)",
          ":2:7: mask: found \"-1\", expected a whole number", ":1:1: the key \"title\" is missing"}},
        {"title: a\nperiod_ms: 0\nmask: 65536\nlines: [{hz: 0}, {hz: 101}]\n",
         {":2:12: period_ms: found 0, expected 1 to 1000000", ":3:7: mask: found 65536, expected 0 to 65535",
          ":4:14: lines[0].hz: found 0, expected 1 to 100", ":4:23: lines[1].hz: found 101, expected 1 to 100"}},
        {"title: much too long\n", {":1:8: title: found \"much too long\", expected text of 1 to 8 bytes"}},
        {"title: a\nplane: Y\n", {":2:8: plane: found \"Y\", expected one of: x, y (did you mean \"x\"?)"}},
        {"title: a\nenabled: perhaps\n", {":2:10: enabled: found \"perhaps\", expected one of: false, true"}},
        {"title: a\ninner: {gain: 2}\n", {":2:8: inner: the key \"needed\" is missing"}},
        {"title: a\nweights: [1, 2, 3, 4]\n", {":2:10: weights: found a list of 4, expected a list of 0 to 3"}},
        {"title: a\nweights: [1, two]\n", {":2:14: weights[1]: found \"two\", expected a number"}},
        {"title: \"a\n", {"not YAML"}},
        {"", {"is empty"}},
    };
    for (size_t w = 0; w < sizeof wrongs / sizeof wrongs[0]; ++w) {
        struct mine mine;
        struct rm_errors errors;
        assert_int_equal(load(wrongs[w].text, &mine, NULL, &errors), RM_E_CONFIG);
        uint32_t count = 0;
        for (; count < 4 && wrongs[w].says[count] != NULL; ++count) {
            char const *const text = errors.first[count].text;
            if (strncmp(text, path, strlen(path)) != 0 || strstr(text, wrongs[w].says[count]) == NULL)
                fail_msg("\"%s\" does not say %s", text, wrongs[w].says[count]);
        }
        assert_int_equal(errors.count, count);
        assert_true(mine.title == NULL && mine.lines == NULL); /* nothing to be freed */
    }
}

static void an_absent_file_says_so(void **state) {
    (void)state;
    struct mine mine = {0};
    struct rm_errors errors = {.count = 0};
    assert_int_equal(rm_configuration_load("/nowhere/mine.yaml", keys, &mine, NULL, &errors), RM_E_SYSTEM);
    assert_non_null(strstr(errors.first[0].text, "/nowhere/mine.yaml: cannot be opened: No such file"));
}

static struct rm_key const optional_keys[] = {
    RM_KEY_NUMBER(struct mine, period_s, "period_ms", "From one look to the next.", .fallback = "100", .scale = 1e-3),
    RM_KEY_TEXT(struct mine, title, "title", "What it is called.", .fallback = "mine"),
    RM_KEYS_END,
};

static enum rm_code check_period(char const *of, void *values, struct rm_errors *errors) {
    struct mine const *const mine = values;
    return mine->period_s == 0.1 ? rm_configuration_refuse(errors, of, "period_ms", "found 100") : RM_OK;
}

static void without_a_file_each_key_has_its_default(void **state) {
    (void)state;
    struct mine mine = {.ignored = 7};
    struct rm_errors errors = {.count = 0};
    struct rm_error error;
    assert_int_equal(rm_configuration_load(NULL, optional_keys, &mine, NULL, &errors), RM_OK);
    assert_true(mine.period_s == 0.1 && mine.ignored == 7);
    assert_string_equal(mine.title, "mine");
    rm_configuration_free(optional_keys, &mine);
    assert_int_equal(rm_configuration_load(NULL, optional_keys, &mine, check_period, &errors), RM_E_CONFIG);
    assert_int_equal(rm_configuration_load(NULL, keys, &mine, NULL, &errors), RM_E_CONFIG);
    assert_string_equal(errors.first[0].text, "no file: period_ms: found 100");
    assert_string_equal(errors.first[1].text,
                        "no file is given, expected one with the key \"title\": `configuration: FILE`");
    assert_int_equal(rm_errors_report(&errors, "mine", NULL, &error), RM_E_CONFIG);
    assert_string_equal(error.text, "mine: 2 errors, which are listed above");
}

static enum rm_code check_title(char const *of, void *values, struct rm_errors *errors) {
    struct mine *const mine = values;
    if (strcmp(mine->title, "good") == 0)
        return RM_OK;
    return rm_configuration_refuse(errors, of, "title", "found \"%s\", expected good", mine->title);
}

/** Also beside a number that is out of its range. */
static void a_check_adds_what_keys_cannot_know(void **state) {
    (void)state;
    struct mine mine;
    struct rm_errors errors;
    assert_int_equal(load("title: bad\nperiod_ms: 0\n", &mine, check_title, &errors), RM_E_CONFIG);
    assert_int_equal(errors.count, 2);
    assert_non_null(strstr(errors.first[0].text, ":2:12: period_ms: found 0"));
    assert_non_null(strstr(errors.first[1].text, ":1:8: title: found \"bad\", expected good"));
    assert_int_equal(load("title: good\n", &mine, check_title, &errors), RM_OK);
    rm_configuration_free(keys, &mine);
}

static void one_error_is_reported_and_several_are_listed(void **state) {
    (void)state;
    struct mine mine;
    struct rm_errors errors;
    struct rm_error error = {.text = ""};
    assert_int_equal(rm_errors_report(&(struct rm_errors){.count = 0}, "mine", path, &error), RM_OK);
    load("title: bad\n", &mine, check_title, &errors);
    assert_int_equal(rm_errors_report(&errors, "mine", path, &error), RM_E_CONFIG);
    assert_string_equal(error.text, errors.first[0].text);
    load("titel: bad\n", &mine, NULL, &errors);
    assert_int_equal(rm_errors_report(&errors, "mine", path, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, ": 2 errors, which are listed above"));
    assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
}

static void files_stand_beside_the_one_that_names_them(void **state) {
    (void)state;
    static char const *const cases[][3] = {{"/etc/mine.yaml", "m.csv", "/etc/m.csv"},
                                           {"/etc/mine.yaml", "/m.csv", "/m.csv"},
                                           {"mine.yaml", "sub/m.csv", "sub/m.csv"},
                                           {"a/mine.yaml", "../m.csv", "a/../m.csv"}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        char *const beside = rm_configuration_beside(cases[c][0], cases[c][1]);
        assert_string_equal(beside, cases[c][2]);
        free(beside);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(takes_every_kind_of_value),
        cmocka_unit_test(what_is_absent_has_its_default),
        cmocka_unit_test(without_a_file_each_key_has_its_default),
        cmocka_unit_test(says_all_that_is_wrong_with_its_place),
        cmocka_unit_test(an_absent_file_says_so),
        cmocka_unit_test(a_check_adds_what_keys_cannot_know),
        cmocka_unit_test(one_error_is_reported_and_several_are_listed),
        cmocka_unit_test(files_stand_beside_the_one_that_names_them),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
