// SPDX-License-Identifier: Apache-2.0
#include "base/timebase.h"

#include <time.h>

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t rm_tai_ns(void) { return clock_ns(CLOCK_TAI); }

uint64_t rm_monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

/** One (TSC, ns) pair: the tightest of several, so that an interruption between the two readings does not count. */
static void read_pair(uint64_t *tsc, uint64_t *ns) {
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
        uint64_t const before = rm_tsc();
        uint64_t const now = clock_ns(CLOCK_MONOTONIC_RAW);
        uint64_t const width = rm_tsc() - before;
        if (width < narrowest) {
            narrowest = width;
            *tsc = before + width / 2;
            *ns = now;
        }
    }
}

double rm_tsc_hz_measure(void) {
    uint64_t tsc0 = 0, ns0 = 0, tsc1 = 0, ns1 = 0;
    read_pair(&tsc0, &ns0);
    struct timespec const pause = {.tv_nsec = 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
    read_pair(&tsc1, &ns1);
    return (double)(tsc1 - tsc0) * 1e9 / (double)(ns1 - ns0);
}
