// SPDX-License-Identifier: Apache-2.0
/** Files that are cut short, random, or ask for too much: each is refused in words that name what is wrong. The files
 * named on the command line are examples that must be read. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reading.h"

enum { MOST_EXAMPLES = 8, EXAMPLE_BYTES = 1 << 16 };

struct example {
    char const *path;
    char *bytes;
    size_t count;
};

struct examples {
    struct example list[MOST_EXAMPLES];
    int count;
};

static enum rm_code parse(char const *name, char const *bytes, size_t count, struct rm_error *error) {
    struct rm_lattice *lattice = NULL;
    char *const copy = malloc(count + 1); /* so that a sanitizer sees a read beyond it */
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    copy[count] = '\0';
    enum rm_code const code = rm_lattice_parse(name, copy, count, NULL, &lattice, error);
    if (code == RM_OK)
        rm_lattice_free(lattice);
    free(copy);
    return code;
}

static void assert_refused(char const *name, char const *text, char const *words) {
    struct rm_error error = {0};
    assert_int_not_equal(parse(name, text, strlen(text), &error), RM_OK);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, error.text);
}

static void reads_the_examples(void **state) {
    struct examples const *const examples = *state;
    for (int i = 0; i < examples->count; ++i) {
        struct rm_error error = {0};
        if (parse(examples->list[i].path, examples->list[i].bytes, examples->list[i].count, &error) != RM_OK)
            fail_msg("%s", error.text);
    }
}

static void survives_a_file_cut_short(void **state) {
    struct examples const *const examples = *state;
    for (int i = 0; i < examples->count; ++i)
        for (size_t count = 0; count < examples->list[i].count; count += 7) {
            struct rm_error error = {0};
            if (parse(examples->list[i].path, examples->list[i].bytes, count, &error) != RM_OK)
                assert_true(error.code != RM_OK && error.text[0] != '\0');
        }
}

static void survives_changed_bytes(void **state) {
    struct examples const *const examples = *state;
    uint32_t random = 1;
    for (int i = 0; i < examples->count; ++i)
        for (int round = 0; round < 300; ++round) {
            struct example const *const example = &examples->list[i];
            char *const copy = malloc(example->count);
            assert_non_null(copy);
            memcpy(copy, example->bytes, example->count);
            for (int change = 0; change < 4; ++change) {
                random = random * 1664525u + 1013904223u;
                copy[random % example->count] = (char)(random >> 24);
            }
            struct rm_error error = {0};
            if (parse(example->path, copy, example->count, &error) != RM_OK)
                assert_true(error.text[0] != '\0');
            free(copy);
        }
}

static void tells_what_is_no_lattice(void **state) {
    (void)state;
    assert_refused("a.txt", "", ".madx");
    assert_refused("a.mat", "no MATLAB file", "no MATLAB file");
    assert_refused("a.m", "", "ends without a lattice");
    assert_refused("a.m", "function r = f()\nfor i = 1:3\nend", "line 2");
    assert_refused("a.madx", "", "no LINE and no SEQUENCE");
    assert_refused("a.madx", "x = 1;", "no LINE and no SEQUENCE");
}

static void names_line_and_element_of_a_bad_one(void **state) {
    (void)state;
    assert_refused("a.m", "r={\natdrift('D', 1, 'ExoticPass', 'Energy', 1e9)\n};", "line 2 (D)");
    assert_refused("a.m", "r={\natdrift('D', 1, 'ExoticPass', 'Energy', 1e9)\n};", "ExoticPass");
    assert_refused("a.m", "r={atquadrupole('Q', 1, 'T1', [1 2 3])};", "T1 is 1 x 3");
    assert_refused("a.m", "r={atquadrupole('Q', 1, 2, 'NumIntSteps', 1.5)};", "NumIntSteps");
    assert_refused("a.m", "r={atquadrupole('Q', 1, 2, 'FieldScaling', 1.5)};", "FieldScaling");
    assert_refused("a.m", "r={atquadrupole('Q', 1, 2, 'dx', 1e-3)};", "dx");
    assert_refused("a.m", "r={atquadrupole('Q', 1, NaN, 'Energy', 1e9)};", "polynom_b[1]");
    assert_refused("a.m", "r={atdrift('D', 1)};", "energy");
    assert_refused("a.m", "r={atunknown('D', 1)};", "atunknown");
    assert_refused("a.m", "r={atdrift('D', x)};", "x is no variable");
    assert_refused("a.m", "x=[1 2]; r={atdrift('D', x(1))};", "parts of a variable");
    assert_refused("a.madx", "x=1;\ncall, file='nowhere.madx';", "line 2: nowhere.madx: No such file");
    assert_refused("a.m", "r={atdrift('D', 1);\n atdrift('E' 1)};", "line 2");
    assert_refused("a.madx", "q: quadrupole, l=1, k1=zz; r: line=(q); use, r;", "zz is not defined");
    assert_refused("a.madx", "\n\nq: quad, l=1; r: line=(q); use, r;", "line 3 (q)");
    assert_refused("a.madx", "r: line=(q); use, r;", "needs q");
    assert_refused("a.madx", "quadrupol, l=1;", "quadrupol is no command");
    assert_refused("a.madx", "q: marker; s: sequence, l=1; q, at=0.5; q, at=0.2; endsequence;", "begins 0.3 m before");
    assert_refused("a.madx", "q: marker; r: line=(q); use, r; beam, energy=0;", "0 GeV");
}

static void tells_what_goes_around_in_a_circle(void **state) {
    (void)state;
    assert_refused("a.madx", "a: line=(b); b: line=(c, a); c: marker; use, a;", "stands in itself");
    assert_refused("a.madx", "a := b+1; b := a; d: drift, l := a; r: line=(d); use, r;", "defined by itself");
    assert_refused("a.madx", "a: b; b: a; r: line=(a); use, r;", "made from itself");
    assert_refused("a.madx", "d: drift, l := d->l; r: line=(d); use, r;", "defined by itself");
    assert_refused("a.madx", "s: sequence, l=1; s, at=0; endsequence; use, s;", "stands in itself");
}

static void bounds_what_is_repeated(void **state) {
    (void)state;
    assert_refused("a.madx", "m: marker; r: line=(9999999*m); use, r;", "262144");
    assert_refused("a.madx", "e: line=(); r: line=(9999999*(9999999*(9999999*e))); use, r;", "steps");
    assert_refused("a.madx", "m: marker; a: line=(999*m); b: line=(999*a); c: line=(999*b); use, c;", "262144");
    assert_refused("a.madx", "m: marker; r: line=(99999999999*m); use, r;", "too often");
    assert_refused("a.m", "x = zeros(99999999, 99999999); r={atdrift('D', 1)};", "too large");
    assert_refused("a.m", "x=zeros(256); x=[x x];", "65536");
}

/** Programs that do not end, or grow at each round. */
static void bounds_what_a_program_does(void **state) {
    (void)state;
    assert_refused("a.madx", "x = 1;\nwhile (x > 0) { x = x + 1; }", "line 2: loops");
    assert_refused("a.madx", "x = 1; while (x > 0) { while (x > 0) { x = x + 1; } }", "WHILE");
    assert_refused("a.madx", "f: macro = { exec, f; exec, f; }; exec, f;", "64 deep");
    assert_refused("a.madx", "f(aa): macro = { exec, f(aa aa); }; exec, f(xxxxxxxxxxxxxxxxxxxxxxxx);", "a.madx");
    assert_refused("a.madx", "f(aa): macro = { exec, f(1, 2); }; exec, f(1);", "2 arguments");
    assert_refused("a.madx", "x = 1; while (x > 0) { f: macro = { x = 2; }; exec, f; }", "WHILE");
    assert_refused("a.madx", "if (1 < 2) { x = {1, 2; }", "is not closed");
    assert_refused("a.madx", "x = 1; while (x > 0", "while");
    assert_refused("a.madx", "if (1 < 2", "if");
    assert_refused("a.madx",
                   "if ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1 < "
                   "2)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) { x = 1; }",
                   "64 deep");
    assert_refused("a.madx", "if 1 < 2 { x = 1; }", "parentheses");
    assert_refused("a.madx", "f(: macro = { x = 1; };", "not closed");
    assert_refused("a.madx", "f(aa,): macro = { x = 1; };", "has no name");
    assert_refused("a.madx", "x = 1e300; f(aa): macro = { y = aa; }; exec, f($x);", "whole number");
    assert_refused("a.madx", "exec", "name of a macro");
    assert_refused("a.madx", "if (1 < 2) { return; } d: drift, l = 1; r: line = (d);", "no LINE");
    assert_refused("a.madx", "if (1 < 2) { stop; } d: drift, l = 1; r: line = (d);", "no LINE");
}

/** Edits that are too many, or of what is not there. */
static void bounds_what_an_edit_does(void **state) {
    (void)state;
    static char const ring[] = "m: marker; s: sequence, l = 1; m, at = 0; endsequence; seqedit, sequence = s; ";
    static char const *const edits[][2] = {
        {"move, element = m[99999999999999999999], by = 0; endedit;", "does not stand"},
        {"install, element = s, at = 0; endedit; use, sequence = s;", "stands in itself"},
        {"install, element = z, class = z, at = 0; endedit;", "made from itself"},
        {"cycle, start = z; endedit;", "does not stand"},
        {"replace, element = m; endedit;", "by = NAME"},
        {"seqedit, sequence = s;", "within SEQEDIT"},
        {"move, element = m, by = 1/0; endedit; beam;", "a.madx"},
        {"select, flag = seqedit, range = m/m; endedit;", "RANGE"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; ++i) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", ring, edits[i][0]);
        assert_refused("a.madx", text, edits[i][1]);
    }
    assert_refused("a.madx", "m: marker; r: line = (999999 * m); seqedit, sequence = r;", "262144");
    assert_refused("a.madx", "r: line = (r, r); seqedit, sequence = r;", "stands in itself");
    assert_refused("a.madx",
                   "a: sequence, l = 1; b, at = 0; endsequence; b: sequence, l = 1; a, at = 0; endsequence;"
                   "seqedit, sequence = a; flatten;",
                   "stands in itself");
}

/** `open` many times, and then as often `close`. */
static void assert_deep_refused(char const *name, char const *before, char open, char const *after) {
    enum { DEEP = 100000 };
    char *const text = malloc(DEEP + strlen(before) + strlen(after) + 1);
    assert_non_null(text);
    char *at = stpcpy(text, before);
    memset(at, open, DEEP);
    strcpy(at + DEEP, after);
    assert_refused(name, text, "deep");
    free(text);
}

static void bounds_what_stands_in_itself(void **state) {
    (void)state;
    assert_deep_refused("a.m", "r = ", '(', "1;");
    assert_deep_refused("a.m", "r = ", '[', "1;");
    assert_deep_refused("a.m", "r = ", '{', "1;");
    assert_deep_refused("a.madx", "m: marker; r: line=", '(', "m); use, r;");
    assert_deep_refused("a.madx", "x = ", '(', "1;");
}

static void reads_numbers_with_any_locale(void **state) {
    (void)state;
    struct rm_lattice *lattice = NULL;
    static char const text[] = "x = 2^-1 * 3 - -.5; r = {atdrift('D', x, 'Energy', 1e9)};";
    assert_int_equal(rm_lattice_parse("a.m", text, sizeof text - 1, NULL, &lattice, NULL), RM_OK);
    assert_true(rm_lattice_element(lattice, 0)->length_m == 2);
    rm_lattice_free(lattice);
}

static void names_a_file_that_is_not_there(void **state) {
    (void)state;
    struct rm_lattice *lattice = NULL;
    struct rm_error error = {0};
    assert_int_equal(rm_lattice_read("/nowhere/ring.mat", NULL, &lattice, &error), RM_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "/nowhere/ring.mat"));
    assert_int_equal(rm_lattice_read("/dev/zero", NULL, &lattice, &error), RM_E_CONFIG);
}

static bool load(struct example *example, char const *path) {
    FILE *const file = fopen(path, "rbe");
    example->path = path;
    example->bytes = malloc(EXAMPLE_BYTES);
    if (file != NULL && example->bytes != NULL)
        example->count = fread(example->bytes, 1, EXAMPLE_BYTES, file);
    if (file != NULL)
        (void)fclose(file);
    return example->count != 0;
}

int main(int argc, char **argv) {
    struct examples examples = {.count = argc - 1};
    if (argc < 2 || argc - 1 > MOST_EXAMPLES)
        return 1;
    bool loaded = true;
    for (int i = 0; i < examples.count; ++i)
        loaded = load(&examples.list[i], argv[i + 1]) && loaded;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_prestate(reads_the_examples, &examples),
        cmocka_unit_test_prestate(survives_a_file_cut_short, &examples),
        cmocka_unit_test_prestate(survives_changed_bytes, &examples),
        cmocka_unit_test(tells_what_is_no_lattice),
        cmocka_unit_test(names_line_and_element_of_a_bad_one),
        cmocka_unit_test(tells_what_goes_around_in_a_circle),
        cmocka_unit_test(bounds_what_is_repeated),
        cmocka_unit_test(bounds_what_a_program_does),
        cmocka_unit_test(bounds_what_an_edit_does),
        cmocka_unit_test(bounds_what_stands_in_itself),
        cmocka_unit_test(reads_numbers_with_any_locale),
        cmocka_unit_test(names_a_file_that_is_not_there),
    };
    int const failed = loaded ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    for (int i = 0; i < examples.count; ++i)
        free(examples.list[i].bytes);
    return failed;
}
