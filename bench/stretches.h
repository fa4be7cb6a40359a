// SPDX-License-Identifier: Apache-2.0
/** Stretches of a measurement in which neither end stood still: a host that takes cores away all the time leaves some.
 *
 * A receiver notes every poll. A gap of BENCH_GAP_S between two polls, or between two arrivals, ends a stretch. Of the
 * next one the first BENCH_BACKLOG_S do not count, for what the ring held comes then. So the rate of a stretch is what
 * the sender sends while both ends run; what is left of the time says how much the host left to them.
 */
#ifndef RM_BENCH_STRETCHES_H
#define RM_BENCH_STRETCHES_H

#include <stdint.h>

enum { BENCH_STRETCHES_MAX = 1 << 14 };

#define BENCH_GAP_S 10e-6
#define BENCH_BACKLOG_S 120e-6
/** Shorter stretches do not count. */
#define BENCH_STRETCH_S 200e-6

struct bench_stretches {
    double tsc_hz;
    /** Of the last poll, and of the last arrival. */
    uint64_t poll_tsc, arrival_tsc;
    /** When the present stretch began, and from when on frames count; 0: not yet. */
    uint64_t begin_tsc, count_tsc;
    uint64_t frames;
    /** Of all stretches. */
    uint64_t ticks;
    uint32_t count;
    double rate_pps[BENCH_STRETCHES_MAX];
};

void bench_stretches_begin(struct bench_stretches *stretches, double tsc_hz, uint64_t tsc);

/** A poll at `tsc` has brought so many frames. */
void bench_stretches_poll(struct bench_stretches *stretches, uint32_t frames, uint64_t tsc);

/** Prints a member of a JSON object, "stretches": {"seconds": of all, "rate_pps": a figure}; without any, the figure's
 * values are 0. Sorts them. */
void bench_stretches_json(struct bench_stretches *stretches, char const *end);

#endif
