// SPDX-License-Identifier: Apache-2.0
/** The time stamp counter and TAI. */
#ifndef RM_BASE_TIMEBASE_H
#define RM_BASE_TIMEBASE_H

#include <stdint.h>

/* By the compiler's own names: <x86intrin.h> has them too, among 60 000 lines that would be most of what there is to
 * compile in half of all files. */

/** TSC now; some 7 ns. Not ordered against surrounding loads: bursts do not need it. */
static inline uint64_t rm_tsc(void) { return __builtin_ia32_rdtsc(); }

/** Tells the core that it is spinning. */
static inline void rm_pause(void) { __builtin_ia32_pause(); }

/** TSC ticks per second, measured against CLOCK_MONOTONIC_RAW over some 20 ms. */
double rm_tsc_hz_measure(void);

/** TAI now, nanoseconds since 1970. Where the kernel was never told the leap seconds, it is UTC. */
uint64_t rm_tai_ns(void);

/** CLOCK_MONOTONIC now, nanoseconds. */
uint64_t rm_monotonic_ns(void);

#endif
