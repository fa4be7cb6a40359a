// SPDX-License-Identifier: Apache-2.0
/** When each cycle of a sender is due, by the time stamp counter, and what became late.
 *
 * Cycle k is due at start + k / rate + d(k), whatever became of the others. d is 0, or a displacement that is known
 * beforehand, uniform within ±jitter: a receiver has to find it again.
 *
 *     u(k) = rm_noise_uniform(rm_noise_u64(seed) + k)       instruments/noise.h: splitmix64, the upper 53 bits
 *     d(k) = (2 u(k) - 1) · jitter
 *
 * A cycle that is late is sent late, all of them one after the other, so that the mean rate holds and a stall of the
 * sender is seen for as long as it was. Only when the oldest is later than RM_SCHEDULE_MAX_LAG_S have the cycles up to
 * the newest become `behind`: they are left out, and their numbers with them.
 */
#ifndef RM_BENCH_WIRE_SCHEDULE_H
#define RM_BENCH_WIRE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/** Largest lag in seconds. A stall of a virtual machine is shorter: some 50 ms. */
#define RM_SCHEDULE_MAX_LAG_S 0.1

struct rm_schedule {
    uint64_t start_tsc;
    /** 0: every cycle is due at once. */
    double ticks_per_cycle;
    /** Largest displacement, below half a cycle, so that cycles keep their order. */
    double jitter_ticks;
    /** Key of the displacements. */
    uint64_t key;

    uint64_t max_lag_ticks;
    /** The cycle whose turn it is. */
    uint64_t next;
    /** How many there are to be; the last is cycles - 1. */
    uint64_t cycles;
    /** Cycles that were left out. */
    uint64_t behind;

    uint64_t longest_behind_ticks;
};

/** What a schedule shall be. */
struct rm_schedule_plan {
    /** 0: as fast as possible. */
    double rate_hz;

    double tsc_hz;
    /** Largest displacement: 0 … below half a period. */
    double jitter_s;

    uint64_t seed;
    /** UINT64_MAX: no end. */
    uint64_t cycles;
};

/** Starts the schedule: cycle 0 is due at `start_tsc` plus its displacement. */
void rm_schedule_start(struct rm_schedule *schedule, struct rm_schedule_plan const *plan, uint64_t start_tsc);

/** Ticks by which a cycle is displaced. */
double rm_schedule_displacement(struct rm_schedule const *schedule, uint64_t cycle);

/** TSC at which a cycle would be due without displacement (nominal), and at which it is due. */
uint64_t rm_schedule_nominal(struct rm_schedule const *schedule, uint64_t cycle);
uint64_t rm_schedule_due(struct rm_schedule const *schedule, uint64_t cycle);

/** True when all cycles have been taken. */
bool rm_schedule_over(struct rm_schedule const *schedule);

/** True when a cycle is due at `tsc`: `*cycle`, which counts as taken then. */
bool rm_schedule_take(struct rm_schedule *schedule, uint64_t tsc, uint64_t *cycle);

#endif
