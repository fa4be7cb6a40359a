// SPDX-License-Identifier: Apache-2.0
/** For tests: a configuration file of each test's own, removed after it. */
#ifndef RM_CONFIG_TEST_FILE_H
#define RM_CONFIG_TEST_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"

struct config_file {
    char directory[32];
    char path[48];
    /** A core that this process may run on. */
    unsigned core;
};

int make_config_file(void **state);
int remove_config_file(void **state);

/** Writes `yaml` with every @ replaced by `file->core`. */
void write_config(struct config_file const *file, char const *yaml);

/** A wrong file, and the error of loading it, behind the path and a colon. */
struct wrong_yaml {
    char const *yaml;
    char const *error;
};

/** Compares what loading gives with FILE:`expected`. */
void expect_error(struct config_file const *file, char const *expected);
void expect_errors(struct config_file const *file, struct wrong_yaml const *wrong, size_t count);
#define EXPECT_ERRORS(file, wrong) expect_errors(file, wrong, sizeof(wrong) / sizeof(wrong)[0])

/** Loads a right file; when loading fails, the error stands in the test's output. */
struct rm_config *load_config(struct config_file const *file, char const *yaml);

#endif
