// SPDX-License-Identifier: Apache-2.0
/* The key `calibration`: which file, and where it is applied. */
#include "config/config.h"
#include "config/test_file.h"

#include <stdio.h>
#include <string.h>

static struct rm_config *load(struct config_file const *file, char const *calibration) {
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "workspace: demo\n"
             "ports: [{name: test, kind: udp, address: \"127.0.0.1:65535\"}]\n"
             "instruments: [{name: bpm01, kind: bpm, id: 1, port: test, source: 10.20.0.1}]\n"
             "roles: [{role: receive, ports: [test], core: @}]\n"
             "%s",
             calibration);
    write_config(file, yaml);
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_config_load(file->path, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    return config;
}

static void there_is_none_without_the_key(void **state) {
    struct rm_config *config = load(*state, "");
    assert_int_equal(config->calibration.apply, RM_CALIBRATED_NOT);
    assert_string_equal(config->calibration.path, "");
    rm_config_free(config);
}

static void a_relative_path_begins_at_the_configuration(void **state) {
    struct config_file const *file = *state;
    struct rm_config *config = load(file, "calibration: {file: sub/table.csv}\n");
    char expected[128];
    snprintf(expected, sizeof expected, "%s/sub/table.csv", file->directory);
    assert_string_equal(config->calibration.path, expected);
    assert_int_equal(config->calibration.apply, RM_CALIBRATED_IN_READING);
    rm_config_free(config);
}

static void an_absolute_path_stays(void **state) {
    struct rm_config *config = load(*state, "calibration: {file: /etc/table.csv, apply: stream}\n");
    assert_string_equal(config->calibration.path, "/etc/table.csv");
    assert_int_equal(config->calibration.apply, RM_CALIBRATED_IN_STREAM);
    rm_config_free(config);
}

static void a_path_that_becomes_too_long_is_refused(void **state) {
    struct config_file const *file = *state;
    char yaml[RM_CONFIG_PATH_BYTES + 512], name[RM_CONFIG_PATH_BYTES];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    snprintf(yaml, sizeof yaml,
             "workspace: demo\n"
             "ports: [{name: test, kind: udp, address: \"127.0.0.1:65535\"}]\n"
             "instruments: [{name: bpm01, kind: bpm, id: 1, port: test, source: 10.20.0.1}]\n"
             "roles: [{role: receive, ports: [test], core: @}]\n"
             "calibration: {file: %s}\n",
             name);
    write_config(file, yaml);
    struct rm_config *config = NULL;
    struct rm_error error;
    assert_int_equal(rm_config_load(file->path, &config, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, ":5:21: calibration.file: "));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(there_is_none_without_the_key, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_relative_path_begins_at_the_configuration, make_config_file,
                                        remove_config_file),
        cmocka_unit_test_setup_teardown(an_absolute_path_stays, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_path_that_becomes_too_long_is_refused, make_config_file, remove_config_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
