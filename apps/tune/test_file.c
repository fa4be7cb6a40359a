// SPDX-License-Identifier: Apache-2.0
/** The file: its defaults, and what is refused in which words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "file.h"

static enum rm_code load_text(char const *text, struct tune_file *file, struct rm_errors *errors) {
    char path[32];
    int const memory = memfd_create("tune", MFD_CLOEXEC);
    assert_int_equal(write(memory, text, strlen(text)), strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    *file = (struct tune_file){0};
    *errors = (struct rm_errors){.count = 0};
    enum rm_code const code = rm_configuration_load(path, tune_keys, file, tune_file_check, errors);
    close(memory);
    return code;
}

static void expect_error(char const *text, char const *words) {
    struct tune_file file;
    struct rm_errors errors;
    assert_int_equal(load_text(text, &file, &errors), RM_E_CONFIG);
    for (uint32_t e = 0; e < errors.count; ++e)
        if (strstr(errors.first[e].text, words) != NULL)
            return;
    fail_msg("%s: \"%s\" is not said: %s", text, words, errors.first[0].text);
}

#define ONE "bpms: [{x: b/x, y: b/y}]\n"

static void test_file_has_defaults(void **state) {
    (void)state;
    struct tune_file file;
    struct rm_errors errors;
    assert_int_equal(load_text(ONE, &file, &errors), RM_OK);
    assert_int_equal(file.window_turns, TUNE_TURNS_DEFAULT);
    assert_int_equal(file.window, TUNE_HANN);
    assert_true(file.low[0] == 0.05 && file.high[1] == 0.45 && file.signal_to_noise == 5.0);
    assert_true(isnan(file.full_scale) && file.beam == NULL && file.known_lines == 0);
    assert_int_equal(file.bpms, 1);
    assert_true(strcmp(file.unit, "nm") == 0 && file.spectrum_rows_hz == 25.0 && isnan(file.sliding.low[0]));
    assert_string_equal(file.bpm[0].lane[1], "b/y");
    assert_true(file.bpm[0].beta_m[0] == 1.0 && file.bpm[0].phase_rad[1] == 0.0 && file.bpm[0].noise == 1.0);
    rm_configuration_free(tune_keys, &file);
}

static void test_several_bpms_have_optics(void **state) {
    (void)state;
    struct tune_file file;
    struct rm_errors errors;
    static char const optics[] = "bpms:\n"
                                 "  - {x: b/x, y: b/y, beta_x_m: 8, beta_y_m: 3, phase_x_rad: 0, phase_y_rad: 0}\n"
                                 "  - {x: c/x, y: c/y, beta_x_m: 2, beta_y_m: 9, phase_x_rad: 1, phase_y_rad: 4}\n"
                                 "window: rectangular\nknown_lines_hz: [50, 100]\n";
    assert_int_equal(load_text(optics, &file, &errors), RM_OK);
    assert_true(file.bpm[1].beta_m[1] == 9.0 && file.bpm[1].phase_rad[1] == 4.0);
    assert_int_equal(file.window, TUNE_RECTANGULAR);
    assert_true(file.known_lines == 2 && file.known_line_hz[1] == 100.0);
    rm_configuration_free(tune_keys, &file);
}

/** A file with optics of this text. */
static enum rm_code load_table(char const *more, char const *table, struct tune_file *file, struct rm_errors *errors) {
    char text[256];
    int const memory = memfd_create("optics", MFD_CLOEXEC);
    assert_int_equal(write(memory, table, strlen(table)), strlen(table));
    snprintf(text, sizeof text, "optics: /proc/self/fd/%d\n%s", memory, more);
    enum rm_code const code = load_text(text, file, errors);
    close(memory);
    return code;
}

#define HEAD ",phase_x_rad,phase_y_rad,beta_x_m,beta_y_m\n"

static void test_bpms_may_stand_in_a_table(void **state) {
    (void)state;
    struct tune_file file;
    struct rm_errors errors;
    static char const table[] = "# m and rad\n" HEAD "bpm01,0,0.1,8,3\nbpm07,1.5,0.2,2,9\n";
    assert_int_equal(load_table("", table, &file, &errors), RM_OK);
    assert_int_equal(file.bpms, 2);
    assert_string_equal(file.bpm[1].lane[0], "bpm07/x1");
    assert_true(file.bpm[1].beta_m[0] == 2.0 && file.bpm[1].beta_m[1] == 9.0 && file.bpm[1].noise == 1.0);
    assert_true(file.bpm[1].phase_rad[0] == 1.5 && file.bpm[0].phase_rad[1] == 0.1);
    rm_configuration_free(tune_keys, &file);
    static char const noisy[] = ",phase_x_rad,phase_y_rad,beta_x_m,beta_y_m,noise\nbpm01,0,0.1,8,3,2\n";
    assert_int_equal(load_table("lane_x: h\nlane_y: v\n", noisy, &file, &errors), RM_OK);
    assert_string_equal(file.bpm[0].lane[0], "bpm01/h");
    assert_string_equal(file.bpm[0].lane[1], "bpm01/v");
    assert_true(file.bpm[0].noise == 2.0);
    rm_configuration_free(tune_keys, &file);
}

static void expect_table_error(char const *more, char const *table, char const *words) {
    struct tune_file file;
    struct rm_errors errors;
    assert_int_equal(load_table(more, table, &file, &errors), RM_E_CONFIG);
    if (strstr(errors.first[0].text, words) == NULL)
        fail_msg("\"%s\" is not said: %s", words, errors.first[0].text);
}

static void test_tables_that_are_refused(void **state) {
    (void)state;
    expect_table_error(ONE, HEAD "bpm01,0,0,1,1\n", "there is bpms too");
    expect_table_error("", ",beta_x_m,beta_y_m,phase_x_rad\nbpm01,1,1,0\n", "it has no column phase_y_rad");
    expect_table_error("", ",beta_x_m,beta_y_m,phase_x_rad,phase_y_rad,gain\nbpm01,1,1,0,0,1\n", "are not known");
    expect_table_error("", HEAD "bpm01,0,0,1,-1\n", "bpm01: beta_y_m: found -1, expected 0.001 to 10000");
    expect_table_error("", HEAD "bpm01,0,0,1,one\n", ":2:13: ");
    expect_table_error("", HEAD "bpm01,0,0,1,1\nbpm01,0,0,1,1\n", "bpm01");
    expect_table_error("", HEAD, "has no rows");
    struct tune_file file;
    struct rm_errors errors;
    assert_int_equal(load_text("optics: no.csv\n", &file, &errors), RM_E_CONFIG);
    assert_non_null(strstr(errors.first[0].text, "no.csv"));
}

static void test_what_is_refused(void **state) {
    (void)state;
    expect_error("window_turns: 8192\n", "bpms: it is missing, and so is optics");
    expect_error(ONE "window_turns: 8193\n", "window_turns: found 8193, expected an even number");
    expect_error("estimator: naff\nbpms:\n"
                 "  - {x: b/x, y: b/y, beta_x_m: 8, beta_y_m: 3, phase_x_rad: 0, phase_y_rad: 0}\n"
                 "  - {x: c/x, y: c/y, beta_x_m: 2, beta_y_m: 9, phase_x_rad: 1, phase_y_rad: 4}\n",
                 "estimator: naff is of one BPM, and there are 2");
    expect_error(ONE "window_turns: 32\n", "window_turns: found 32");
    expect_error(ONE "window_turns: 0\n", "window_turns: found 0");
    expect_error(ONE "low_x: 0.3\nhigh_x: 0.2\n", "high_x: from 0.3 to 0.2 are 0 bins");
    expect_error(ONE "window_turns: 128\nlow_y: 0.1\nhigh_y: 0.2\n", "widen the band");
    expect_error(ONE "window_turns: 1048576\n", "expected 18 to 4096");
    expect_error(ONE "sliding: {low_x: 0.2}\n", "sliding.high_x: it is missing");
    expect_error(ONE "sliding: {low_y: 0.1, high_y: 0.3}\n", "sliding.high_y: from 0.1 to 0.3 are 1638 bins");
    expect_error(ONE "window_turns: 131072\nhigh_x: 0.06\nhigh_y: 0.06\nsliding: {low_x: 0.05, high_x: 0.051}\n",
                 "a window of 131072 turns is too long");
    expect_error(ONE "beam: sum\n", "beam: found \"sum\", expected INSTRUMENT/LANE");
    expect_error("bpms: [{x: b/x, y: bpm}]\n", "bpms[0].y: found \"bpm\"");
    expect_error("bpms: [{x: b/x, y: b/y}, {x: c/x, y: c/y}]\n", "bpms[1].beta_y_m: it is missing");
    expect_error("bpms: [{x: b/x, y: b/y, beta_x_m: 1, beta_y_m: 1, phase_x_rad: 0, phase_y_rad: 0},\n"
                 "       {x: c/x, y: c/y, beta_x_m: 1, beta_y_m: 1}]\n",
                 "bpms[1].phase_x_rad: it is missing");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_file_has_defaults),         cmocka_unit_test(test_several_bpms_have_optics),
        cmocka_unit_test(test_bpms_may_stand_in_a_table), cmocka_unit_test(test_tables_that_are_refused),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
