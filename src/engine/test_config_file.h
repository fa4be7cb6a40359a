// SPDX-License-Identifier: Apache-2.0
/** For tests: a configuration file of their own, gone after each test. */
#ifndef RM_ENGINE_TEST_CONFIG_FILE_H
#define RM_ENGINE_TEST_CONFIG_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct config_file {
    char directory[32];
    char path[48];
    unsigned core; /**< one that this process may run on */
};

int make_config_file(void **state);
int remove_config_file(void **state);

/** Writes `yaml` with every @ replaced by `file->core`. */
void write_config(struct config_file const *file, char const *yaml);

#endif
