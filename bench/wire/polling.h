// SPDX-License-Identifier: Apache-2.0
/** A polling loop on its own core, and what became of its time: how long it worked, and how long it was kept from its
 * core between two looks at the clock. */
#ifndef RM_BENCH_WIRE_POLLING_H
#define RM_BENCH_WIRE_POLLING_H

#include <stdbool.h>
#include <stdint.h>

/** Seconds of the calling thread on its core so far. */
double rm_thread_seconds(void);

/** Times of one thread, in TSC ticks. */
struct rm_poll_times {
    uint64_t begin, last;
    /** Rounds of the loop, and those that found something to do. */
    uint64_t loops, busy_loops;
    /** Time of the busy rounds. */
    uint64_t busy;

    uint64_t longest_gap;
    /** TSC ticks of 10 µs. */
    uint64_t gap_10us;

    uint64_t gaps_over_10us;
};

static inline void rm_poll_times_begin(struct rm_poll_times *polling, uint64_t now, double tsc_hz) {
    *polling = (struct rm_poll_times){.begin = now, .last = now, .gap_10us = (uint64_t)(10e-6 * tsc_hz)};
}

/** How long a loop may sleep in the kernel before `until`, nanoseconds: until 40 µs before, and it polls for the rest.
 * A sleep ends 17 µs late here, and sometimes 26. */
uint64_t rm_poll_times_may_sleep_ns(uint64_t until, uint64_t now, double tsc_hz);

/** Called once each round, with the time then. `busy` says whether the time since the last call was work. */
static inline void rm_poll_times_loop(struct rm_poll_times *polling, uint64_t now, bool busy) {
    uint64_t const gap = now - polling->last;
    polling->last = now;
    ++polling->loops;
    polling->busy_loops += busy;
    polling->busy += busy ? gap : 0;
    polling->gaps_over_10us += gap > polling->gap_10us;
    if (gap > polling->longest_gap)
        polling->longest_gap = gap;
}

/** Called instead of rm_poll_times_loop after a time in which the loop may have slept: that time is neither a gap nor
 * work. */
static inline void rm_poll_times_slept(struct rm_poll_times *polling, uint64_t now) {
    polling->last = now;
    ++polling->loops;
}

/** Share of the time since the beginning, 0–1, that was work. For a loop that did nothing but poll, it is the share in
 * which polling found something. */
static inline double rm_poll_times_busy_share(struct rm_poll_times const *polling) {
    uint64_t const all = polling->last - polling->begin;
    return all == 0 ? 0 : (double)polling->busy / (double)all;
}

#endif
