// SPDX-License-Identifier: Apache-2.0
#include "polling.h"

#include <time.h>

static double const POLL_BEFORE_S = 40e-6;

uint64_t rm_poll_times_may_sleep_ns(uint64_t until, uint64_t now, double tsc_hz) {
    double const left_s = until > now ? (double)(until - now) / tsc_hz - POLL_BEFORE_S : 0;
    return left_s > 0 ? (uint64_t)(left_s * 1e9) : 0;
}

double rm_thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
