// SPDX-License-Identifier: Apache-2.0
/** What tests and the application in a hurry (test_hurry.c) know of each other. */
#ifndef RM_HOST_TEST_HURRY_H
#define RM_HOST_TEST_HURRY_H

#include <stdatomic.h>
#include <stdint.h>

enum { HURRY_SCALE, HURRY_WEIGHT, HURRY_OFFSET, HURRY_SETTINGS };
enum { HURRY_SUM, HURRY_ECHO, HURRY_ARRIVED, HURRY_TWICE, HURRY_READINGS };
enum { HURRY_LANE_SUM, HURRY_LANE_MISSING, HURRY_LANE_ORDER, HURRY_LANES };

/** Its `memory`. */
struct hurry_memory {
    /** Of its arrays, as its own file says. */
    uint32_t length;

    _Atomic uint64_t worked;
    /** A file that `close` makes. */
    char closed[4096];
};

#endif
