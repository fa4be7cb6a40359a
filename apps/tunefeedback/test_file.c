// SPDX-License-Identifier: Apache-2.0
/** The file and its matrix: defaults, and what is refused in which words. */
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

#include "file.h"

#define FAMILIES "families: [{name: qf, supplies: [a], excursion_a: 2}, {name: qd, supplies: [b], excursion_a: 1}]\n"
#define LEAST "matrix: m.csv\n" FAMILIES

static char const MATRIX[] = ",qd,other,qf\ny,0.001,9,-0.002\nx,-0.0005,9,0.004\n";

static void write_text(char const *folder, char const *name, char const *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static enum rm_code load(char const *text, char const *matrix, struct tunefeedback_file *file,
                         struct rm_errors *errors) {
    char folder[] = "/dev/shm/ringmaster-tunefeedback-XXXXXX", path[64], table[64];
    assert_non_null(mkdtemp(folder));
    write_text(folder, "f.yaml", text);
    write_text(folder, "m.csv", matrix);
    snprintf(path, sizeof path, "%s/f.yaml", folder);
    snprintf(table, sizeof table, "%s/m.csv", folder);
    *file = (struct tunefeedback_file){0};
    *errors = (struct rm_errors){.count = 0};
    enum rm_code const code = rm_configuration_load(path, tunefeedback_keys, file, tunefeedback_file_check, errors);
    unlink(path);
    unlink(table);
    rmdir(folder);
    return code;
}

static void expect_error(char const *text, char const *matrix, char const *words) {
    struct tunefeedback_file file;
    struct rm_errors errors;
    assert_int_equal(load(text, matrix, &file, &errors), RM_E_CONFIG);
    for (uint32_t e = 0; e < errors.count; ++e)
        if (strstr(errors.first[e].text, words) != NULL)
            return;
    fail_msg("%s: \"%s\" is not said: %s", text, words, errors.first[0].text);
}

static void test_file_has_defaults(void **state) {
    (void)state;
    struct tunefeedback_file file;
    struct rm_errors errors;
    assert_int_equal(load(LEAST, MATRIX, &file, &errors), RM_OK);
    assert_string_equal(file.tune, "tune/tune");
    assert_true(file.window_turns == 8192 && file.window == TUNE_HANN && file.targets == 0);
    assert_true(file.integral_hz == 1.0 && file.deadband == 0.0 && file.target_speed_per_s == 0.001);
    assert_true(file.plant.bandwidth_hz == 0.0 && file.plant.delay_s == 0.0);
    assert_true(file.enable.trusted == 32 && file.enable.last == 64 && file.enable.hold_s == 5.0);
    assert_true(file.resonances.half == 0.02 && file.resonances.coupling == 0.01);
    assert_true(isnan(file.family[0].step_a) && file.family[1].excursion_a == 1.0);
    rm_configuration_free(tunefeedback_keys, &file);
}

/** By names, in whatever order they stand. */
static void test_matrix_is_inverted(void **state) {
    (void)state;
    static double const matrix[2][2] = {{0.004, -0.0005}, {-0.002, 0.001}};
    struct tunefeedback_file file;
    struct rm_errors errors;
    assert_int_equal(load(LEAST "plant: {delay_us: 20}\n", MATRIX, &file, &errors), RM_OK);
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) {
            double const product = matrix[i][0] * file.inverse[0][k] + matrix[i][1] * file.inverse[1][k];
            assert_true(fabs(product - (i == k ? 1.0 : 0.0)) < 1e-12);
        }
    assert_true(fabs(file.plant.delay_s - 20e-6) < 1e-18);
    rm_configuration_free(tunefeedback_keys, &file);
}

static void test_what_is_refused(void **state) {
    (void)state;
    expect_error(FAMILIES, MATRIX, "\"matrix\" is missing");
    expect_error("matrix: n.csv\n" FAMILIES, MATRIX, "n.csv");
    expect_error("matrix: m.csv\nfamilies: [{name: qf, supplies: [a], excursion_a: 2}]\n", MATRIX,
                 "families: found 1, expected 2");
    expect_error(LEAST, ",qd,qx\nx,1,2\ny,3,4\n", "no column \"qf\"");
    expect_error(LEAST, ",qd,qf\nx,1,2\nz,3,4\n", "no row \"y\"");
    expect_error(LEAST, ",qd,qf\nx,1,2\ny,2,4.01\n", "in the same proportion");
    expect_error(LEAST "target: [0.3]\n", MATRIX, "target: found 1 tunes");
    expect_error(LEAST "target: [0.3, 0.299]\n", MATRIX, "coupling resonance");
    expect_error(LEAST "target: [0.3, 0.1]\nresonances: {integer: 0.15}\n", MATRIX, "target: y: 0.1 is 0.1 from");
    expect_error(LEAST "enable_conditions: {trusted: 9, last: 8}\n", MATRIX,
                 "enable_conditions.trusted: found 9, expected at most the 8 of `last`");
    expect_error(LEAST "enable_conditions: {last: 65}\n", MATRIX, "last: found 65");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_file_has_defaults),
        cmocka_unit_test(test_matrix_is_inverted),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
