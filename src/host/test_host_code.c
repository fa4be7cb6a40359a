// SPDX-License-Identifier: Apache-2.0
/** Loading shared objects: the good one, and what is wrong with the others. Arguments: their paths. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_code.h"
#include "host/test_application.h"

static char const *good, *old, *stepless, *allowed, *no_application;

static void test_good(void **state) {
    (void)state;
    struct rm_host_code code;
    struct rm_error error;
    if (rm_host_code_load(good, &code, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(code.it->setting_count, TEST_SETTINGS);
    assert_true(code.limit[TEST_OFFSET].control_low == -10.0 && code.limit[TEST_OFFSET].control_high == 10.0);
    /* Those that were not written down are none. */
    assert_true(isnan(code.limit[TEST_OFFSET].minor_low) && isnan(code.limit[TEST_GAIN].control_high));
    rm_host_code_unload(&code);
}

/** By its name alone it is found in $RINGMASTER_LIBEXEC. */
static void test_by_name(void **state) {
    (void)state;
    char folder[PATH_MAX];
    struct rm_host_code code;
    struct rm_error error;
    snprintf(folder, sizeof folder, "%s", good);
    *strrchr(folder, '/') = '\0';
    setenv("RINGMASTER_LIBEXEC", folder, 1);
    if (rm_host_code_load("test_application", &code, &error) != RM_OK)
        fail_msg("%s", error.text);
    rm_host_code_unload(&code);
    assert_int_equal(rm_host_code_load("test_aplication", &code, &error), RM_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "test_aplication.so"));
    assert_non_null(strstr(error.text, folder));
    unsetenv("RINGMASTER_LIBEXEC");
}

static void assert_refused(char const *path, enum rm_code wanted, char const *words) {
    struct rm_host_code code;
    struct rm_error error;
    assert_int_equal(rm_host_code_load(path, &code, &error), wanted);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    assert_null(code.library);
}

static void test_refused(void **state) {
    (void)state;
    assert_refused("./absent.so", RM_E_NOT_FOUND, "absent.so");
    assert_refused(old, RM_E_VERSION, "build it again");
    assert_refused(stepless, RM_E_CONFIG, "has no step");
    assert_refused(allowed, RM_E_CONFIG, "\"enable\" is a permission");
    assert_refused(no_application, RM_E_CONFIG, "exports no \"ringmaster_application\"");
}

int main(int argc, char **argv) {
    if (argc != 6)
        return 2;
    good = argv[1];
    old = argv[2];
    stepless = argv[3];
    allowed = argv[4];
    no_application = argv[5];
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
