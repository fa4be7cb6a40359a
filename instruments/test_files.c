// SPDX-License-Identifier: Apache-2.0
#include "test_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/** Whether a key stands at the begin of a line. */
static bool has_key(char const *text, char const *key) {
    size_t const length = strlen(key);
    for (char const *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, length) == 0)
            return true;
    }
    return false;
}

static void write_machine(FILE *file, char const *machine) {
    fputs(machine, file);
    if (!has_key(machine, "workspace:"))
        fputs("workspace: test\n", file);
    if (!has_key(machine, "ports:"))
        fputs("ports: [{name: ring, kind: memif, socket: /tmp/ring.sock, answer: 10.20.255.1}]\n", file);
    if (!has_key(machine, "roles:"))
        fputs("roles: [{role: receive, core: 0, ports: [ring]}]\n", file);
    assert_int_equal(fclose(file), 0);
}

void test_files_write_machine(char const *path, char const *machine) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    write_machine(file, machine);
}

enum rm_code test_files_load_all(char const *machine, char const *overlay, struct rm_ring_config *config,
                                 struct rm_errors *errors) {
    char machine_path[] = "/tmp/test_machine.XXXXXX", overlay_path[] = "/tmp/test_overlay.XXXXXX";
    FILE *file = fdopen(mkstemp(machine_path), "w");
    assert_non_null(file);
    write_machine(file, machine);
    file = fdopen(mkstemp(overlay_path), "w");
    assert_non_null(file);
    fputs(overlay, file);
    assert_int_equal(fclose(file), 0);
    struct rm_ring_files const files = {.config = machine_path, .overlay = overlay[0] == '\0' ? NULL : overlay_path};
    enum rm_code const code = rm_ring_config_load_all(&files, config, errors);
    unlink(machine_path);
    unlink(overlay_path);
    return code;
}

enum rm_code test_files_load(char const *machine, char const *overlay, struct rm_ring_config *config,
                             struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = test_files_load_all(machine, overlay, config, &errors);
    *error = errors.first[0];
    return code;
}

void test_files_load_good(char const *machine, char const *overlay, struct rm_ring_config *config) {
    struct rm_error error = {0};
    if (test_files_load(machine, overlay, config, &error) != RM_OK)
        fail_msg("%s", error.text);
}

void test_files_expect(char const *machine, char const *overlay, char const *expected) {
    struct rm_ring_config config;
    struct rm_error error = {0};
    if (test_files_load(machine, overlay, &config, &error) == RM_OK)
        fail_msg("expected an error about \"%s\"", expected);
    if (strstr(error.text, expected) == NULL)
        fail_msg("expected \"%s\" in \"%s\"", expected, error.text);
}

void test_files_expect_all(char const *machine, char const *overlay, char const *const *expected, uint32_t count) {
    struct rm_ring_config config;
    struct rm_errors errors = {.count = 0};
    assert_int_equal(test_files_load_all(machine, overlay, &config, &errors), RM_E_CONFIG);
    for (uint32_t i = 0; i < errors.count && i < count; ++i)
        if (strstr(errors.first[i].text, expected[i]) == NULL)
            fail_msg("expected \"%s\" in \"%s\"", expected[i], errors.first[i].text);
    if (errors.count > count)
        fail_msg("expected no \"%s\"", errors.first[count].text);
    assert_int_equal(errors.count, count);
}
