// SPDX-License-Identifier: Apache-2.0
/** What test_replayed.c and the tests that replay it share. */
#ifndef RM_HOST_TEST_REPLAYED_H
#define RM_HOST_TEST_REPLAYED_H

enum test_replayed_setting { REPLAYED_ENABLE, REPLAYED_GAIN, REPLAYED_WEIGHT, REPLAYED_SETTINGS };

enum test_replayed_reading { REPLAYED_RESULT, REPLAYED_SEEN, REPLAYED_CALLS, REPLAYED_READINGS };

/** Elements of each array. */
enum { REPLAYED_LENGTH = 10 };

#endif
