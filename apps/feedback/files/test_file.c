// SPDX-License-Identifier: Apache-2.0
#include "test_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <unistd.h>

static char folder[64];

int test_folder_make(void **state) {
    (void)state;
    strcpy(folder, "/tmp/feedback-test-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

char const *test_path(char const *name, char path[TEST_PATH_BYTES]) {
    snprintf(path, TEST_PATH_BYTES, "%s/%s", folder, name);
    return path;
}

int test_folder_remove(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    DIR *files = opendir(folder);
    for (struct dirent *file = files == NULL ? NULL : readdir(files); file != NULL; file = readdir(files))
        if (strlen(file->d_name) < 60)
            unlink(test_path(file->d_name, path));
    if (files != NULL)
        closedir(files);
    return rmdir(folder);
}

void test_write(char const *name, char const *text) {
    char path[TEST_PATH_BYTES];
    FILE *file = fopen(test_path(name, path), "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
