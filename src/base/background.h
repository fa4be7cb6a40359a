// SPDX-License-Identifier: Apache-2.0
/** Threads beside those that poll. Where there are not enough cores they share one with a polling thread, which never
 * rests of its own accord: they take little of it, and seldom. */
#ifndef RM_BASE_BACKGROUND_H
#define RM_BASE_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/timebase.h"

enum {
    /** A tenth of what a thread of no such manners gets on the same core. */
    RM_BACKGROUND_NICE = 10,
    /** Work is at most one part in so many of a background's time. */
    RM_BACKGROUND_SHARE = 4,
    /** How often one that rests looks whether it is to end. */
    RM_BACKGROUND_LOOK_NS = 20 * 1000 * 1000,
};

/** Makes the calling thread one of them. A refusal is no harm. */
static inline void rm_background_enter(void) { setpriority(PRIO_PROCESS, (id_t)gettid(), RM_BACKGROUND_NICE); }

/** Rests at least so long, and long enough after work that began then (rm_monotonic_ns); less where it is to end. */
static inline void rm_background_rest(uint64_t begun_ns, uint64_t least_ns, atomic_bool const *ending) {
    uint64_t now = rm_monotonic_ns();
    uint64_t const due_ns = (RM_BACKGROUND_SHARE - 1) * (now - begun_ns);
    uint64_t const end = now + (due_ns > least_ns ? due_ns : least_ns);
    for (; now < end && !atomic_load_explicit(ending, memory_order_relaxed); now = rm_monotonic_ns()) {
        uint64_t const left = end - now;
        nanosleep(&(struct timespec){.tv_nsec = (long)(left < RM_BACKGROUND_LOOK_NS ? left : RM_BACKGROUND_LOOK_NS)},
                  NULL);
    }
}

#endif
