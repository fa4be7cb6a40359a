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
    /** Nice value: such a thread gets a tenth of what another thread gets on the same core. */
    RM_BACKGROUND_NICE = 10,
    /** It works for at most one part in so many of its time. */
    RM_BACKGROUND_SHARE = 4,
    /** How often a resting thread looks whether it is to end, in ns. */
    RM_BACKGROUND_LOOK_NS = 20 * 1000 * 1000,
};

/** Makes the calling thread a background thread. That the system refuses does no harm. */
static inline void rm_background_enter(void) { setpriority(PRIO_PROCESS, (id_t)gettid(), RM_BACKGROUND_NICE); }

/** Rests at least `least_ns`, and long enough after work that began at `begun_ns` (rm_monotonic_ns). Rests less when
 * `ending` is set. */
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
