// SPDX-License-Identifier: Apache-2.0
/** Waiting for what usually comes at once, on a core that others may need.
 *
 * A thread that spins keeps the core to the end of its time slice, and then waits for the slices of all others: 20 ms
 * beside two busy programs. One that naps is woken within half a millisecond. So where nothing is lost by a late start,
 * a thread spins for a little while, in which a partner with a core of its own has answered, and naps from then on.
 * In real time a core never naps, as its next packet comes before the nap ends; but where the cores are everyone's
 * (polling.naps), it naps at once.
 */
#ifndef RM_BASE_IDLE_H
#define RM_BASE_IDLE_H

#include <stdint.h>
#include <time.h>

#include "base/timebase.h"

enum { RM_IDLE_NAP_NS = 50000 };

static inline void rm_nap(void) { nanosleep(&(struct timespec){.tv_nsec = RM_IDLE_NAP_NS}, NULL); }

/** A thread that has work: all zero. */
struct rm_idle {
    uint64_t since_tsc;
};

/** Call it at `tsc`, between two looks that found nothing; after work, set `idle` to zero. Returns after a pause, or
 * after a nap when nothing has come for `spin_ticks`. */
static inline void rm_idle_wait(struct rm_idle *idle, uint64_t tsc, uint64_t spin_ticks) {
    if (idle->since_tsc == 0)
        idle->since_tsc = tsc;
    if (tsc - idle->since_tsc < spin_ticks)
        rm_pause();
    else
        rm_nap();
}

static inline void rm_idle_end(struct rm_idle *idle) { idle->since_tsc = 0; }

#endif
