// SPDX-License-Identifier: Apache-2.0
#include "config/test_file.h"
#include "base/cores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int make_config_file(void **state) {
    struct config_file *const file = calloc(1, sizeof *file);
    strcpy(file->directory, "/tmp/test_config.XXXXXX");
    assert_non_null(mkdtemp(file->directory));
    snprintf(file->path, sizeof file->path, "%s/f.yaml", file->directory);
    cpu_set_t cores;
    assert_int_equal(rm_cores_available(&cores, NULL), RM_OK);
    while (!CPU_ISSET(file->core, &cores))
        file->core++;
    *state = file;
    return 0;
}

int remove_config_file(void **state) {
    struct config_file *const file = *state;
    unlink(file->path);
    rmdir(file->directory);
    free(file);
    return 0;
}

void write_config(struct config_file const *file, char const *yaml) {
    FILE *const out = fopen(file->path, "w");
    assert_non_null(out);
    for (; *yaml != '\0'; yaml++) {
        if (*yaml == '@')
            fprintf(out, "%u", file->core);
        else
            fputc(*yaml, out);
    }
    assert_int_equal(fclose(out), 0);
}

void expect_error(struct config_file const *file, char const *expected) {
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_config_load(file->path, &config, &error);
    char text[RM_ERROR_TEXT_BYTES];
    snprintf(text, sizeof text, "%s:%s", file->path, expected);
    assert_string_equal(error.text, text);
    assert_int_equal(code, RM_E_CONFIG);
    assert_null(config);
}

void expect_errors(struct config_file const *file, struct wrong_yaml const *wrong, size_t count) {
    for (size_t i = 0; i < count; i++) {
        write_config(file, wrong[i].yaml);
        expect_error(file, wrong[i].error);
    }
}

struct rm_config *load_config(struct config_file const *file, char const *yaml) {
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    write_config(file, yaml);
    enum rm_code const code = rm_config_load(file->path, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    return config;
}
