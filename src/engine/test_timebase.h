// SPDX-License-Identifier: Apache-2.0
/** Takes the place of base/timebase.h, under its include guard, in engine sources that are built for tests. It has the
 * same names, but the time stamp counter is the test's own, so that turns and time go together on any machine. */
#ifndef RM_BASE_TIMEBASE_H
#define RM_BASE_TIMEBASE_H

#include <stdint.h>

/** The time that the test has set (test_receive_rig.h). */
uint64_t rm_tsc(void);

static inline void rm_pause(void) {}

double rm_tsc_hz_measure(void);
uint64_t rm_tai_ns(void);
uint64_t rm_monotonic_ns(void);

#endif
