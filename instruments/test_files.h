// SPDX-License-Identifier: Apache-2.0
/** Writes and loads the two files of a ring, for a test. */
#ifndef RM_INSTRUMENTS_TEST_FILES_H
#define RM_INSTRUMENTS_TEST_FILES_H

#include "ring_config.h"

/** Writes a machine's file. What it needs and the test does not give is added: workspace "test", a memif port "ring"
 * at /tmp/ring.sock with the address 10.20.255.1, and a receive role. */
void test_files_write_machine(char const *path, char const *machine);

/** Writes both files, loads them and removes them. `overlay` may be "": then there is none. */
enum rm_code test_files_load_all(char const *machine, char const *overlay, struct rm_ring_config *config,
                                 struct rm_errors *errors);
enum rm_code test_files_load(char const *machine, char const *overlay, struct rm_ring_config *config,
                             struct rm_error *error);

/** The same; the test fails when the files are wrong. */
void test_files_load_good(char const *machine, char const *overlay, struct rm_ring_config *config);

/** The test fails unless the files are wrong, and the first error contains `expected`. */
void test_files_expect(char const *machine, char const *overlay, char const *expected);

/** They are wrong in so many ways, and the errors have these words in them, in this order. */
void test_files_expect_all(char const *machine, char const *overlay, char const *const *expected, uint32_t count);
#define TEST_FILES_EXPECT_ALL(machine, overlay, expected)                                                              \
    test_files_expect_all(machine, overlay, expected, sizeof(expected) / sizeof(expected)[0])

#endif
