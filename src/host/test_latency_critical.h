// SPDX-License-Identifier: Apache-2.0
/** What tests and the latency-critical application (test_latency_critical.c) know of each other. */
#ifndef RM_HOST_TEST_LATENCY_CRITICAL_H
#define RM_HOST_TEST_LATENCY_CRITICAL_H

#include <stdatomic.h>
#include <stdint.h>

enum { CRITICAL_SCALE, CRITICAL_WEIGHT, CRITICAL_OFFSET, CRITICAL_SETTINGS };
enum { CRITICAL_SUM, CRITICAL_ECHO, CRITICAL_ARRIVED, CRITICAL_TWICE, CRITICAL_READINGS };
enum { CRITICAL_LANE_SUM, CRITICAL_LANE_MISSING, CRITICAL_LANE_ORDER, CRITICAL_LANES };

enum { CRITICAL_ROW_WIDTH = 7, CRITICAL_ROW_STEPS = 2 };

/** The application's `memory`. */
struct critical_memory {
    /** Length of its arrays, as its own file says. */
    uint32_t length;

    _Atomic uint64_t worked;
    /** A file that `close` makes. */
    char closed[4096];
};

#endif
