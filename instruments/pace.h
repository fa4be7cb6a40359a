// SPDX-License-Identifier: Apache-2.0
/** Which turn is due: turn n at start + n · ticks_per_turn of the TSC, whatever happened in between. */
#ifndef RM_INSTRUMENTS_PACE_H
#define RM_INSTRUMENTS_PACE_H

#include <stdint.h>

#include <ringmaster/record.h>

/** A turn and the TSC at which it is due. Rings that share it agree on all turns. */
struct rm_ring_time {
    /** TSC at which `first_turn` is due. */
    uint64_t start_tsc;

    rm_turn first_turn;
    /** 0: the ring is unpaced, or in lock-step, and shares no time. */
    double ticks_per_turn;
};

struct rm_turn_pace {
    uint64_t start_tsc;
    /** A wait longer than this is slept, a shorter one spun. */
    uint64_t sleep_ticks;

    double tsc_hz;
    /** 0: every turn is due at once. */
    double ticks_per_turn;
};

/** Starts the pace: turn 0 is due at `start_tsc`. A rate of 0 Hz means: as fast as the link takes the turns. */
void rm_turn_pace_start(struct rm_turn_pace *pace, double turn_rate_hz, double tsc_hz, uint64_t start_tsc);

/** How many turns are due at `tsc`: those from 0 to the result - 1. UINT64_MAX without a rate. */
uint64_t rm_turn_pace_due(struct rm_turn_pace const *pace, uint64_t tsc);

/** TSC at which turn n is due. */
uint64_t rm_turn_pace_tsc(struct rm_turn_pace const *pace, uint64_t n);

/** Lets time pass until turn n is due, or some of that time: call it again. For a distant turn it sleeps, so that a
 * slow ring leaves its core to others; for a near one it makes one pause of the core. */
void rm_turn_pace_idle(struct rm_turn_pace const *pace, uint64_t n);

#endif
