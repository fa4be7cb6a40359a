// SPDX-License-Identifier: Apache-2.0
/** What tests and their application (test_application.c) know of each other. */
#ifndef RM_HOST_TEST_APPLICATION_H
#define RM_HOST_TEST_APPLICATION_H

#include <ringmaster/abi.h>

/** Modes: the modules that must not load are made from the same file with others of these. */
#ifndef TEST_ABI_VERSION
#define TEST_ABI_VERSION RM_ABI_VERSION
#endif
#ifndef TEST_ENABLE_FIRST
#define TEST_ENABLE_FIRST 0.0
#endif
#ifndef TEST_STEP
#define TEST_STEP step
#endif

enum { TEST_OFFSET, TEST_GAIN, TEST_MODE, TEST_ENABLE, TEST_SETTINGS };
enum { TEST_TURN, TEST_STEPS, TEST_MISSING, TEST_READINGS };

enum test_mode {
    TEST_BEHAVES,
    TEST_CRASHES,
    TEST_FREEZES,
    TEST_SAYS_NAN,
    TEST_IS_QUIET,
    TEST_REFUSES_INIT,
};

#endif
