// SPDX-License-Identifier: Apache-2.0
/** Threads beside those that poll. Where there are not enough cores they share one with a polling thread, which never
 * rests of its own accord: they take little of it, and seldom. */
#ifndef RM_BASE_BACKGROUND_H
#define RM_BASE_BACKGROUND_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/timebase.h"

enum {
    RM_BACKGROUND_NICE = 10, /**< a tenth of what a thread of no such manners gets on the same core */
    RM_BACKGROUND_SHARE = 4, /**< work is at most one part in so many of a background's time */
};

/** Makes the calling thread one of them. A refusal is no harm. */
static inline void rm_background_enter(void) { setpriority(PRIO_PROCESS, (id_t)gettid(), RM_BACKGROUND_NICE); }

/** Rests at least so long, and long enough after work that began then (rm_monotonic_ns). */
static inline void rm_background_rest(uint64_t begun_ns, uint64_t least_ns) {
    uint64_t const owed = (RM_BACKGROUND_SHARE - 1) * (rm_monotonic_ns() - begun_ns);
    uint64_t const rest = owed > least_ns ? owed : least_ns;
    nanosleep(&(struct timespec){(time_t)(rest / 1000000000), (long)(rest % 1000000000)}, NULL);
}

#endif
