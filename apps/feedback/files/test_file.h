// SPDX-License-Identifier: Apache-2.0
/** Files in a folder of a test's own. */
#ifndef FEEDBACK_TEST_FILE_H
#define FEEDBACK_TEST_FILE_H

enum { TEST_PATH_BYTES = 128 };

/** Makes the folder, removes it with all that is in it. */
int test_folder_make(void **state);
int test_folder_remove(void **state);

/** Path of a file in it; the text stays until the next call with the same `path`. */
char const *test_path(char const *name, char path[TEST_PATH_BYTES]);

/** Writes the file whole. */
void test_write(char const *name, char const *text);

#endif
