// SPDX-License-Identifier: Apache-2.0
/** The beam and the gate, judged in the cycle in which they change: from sums that the records made as they came.
 *
 * The beam is the mean of the sum lanes of those inputs that came. The sums are whole numbers, so that their order does
 * not matter. A beam that lost `drop` of itself from one cycle to the next is lost, even if what is left would do, and
 * is believed in again after `return_cycles` of quiet.
 */
#ifndef FEEDBACK_ENABLE_CONDITIONS_H
#define FEEDBACK_ENABLE_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

/** Sum lanes are added in this part of their unit. */
enum { FEEDBACK_SUM_FRACTION = 256 };

struct feedback_beam {
    double least, drop;
    uint32_t return_cycles;
    /** Of this cycle. */
    int64_t sum;
    /** Lanes in it. */
    uint32_t count;
    /** Of the last cycle that had any. */
    double mean;
    /** Cycles until it is believed in again after a drop. */
    uint32_t distrust;
    /** Whether there are sum lanes at all. */
    bool watched;
};

/** A sum lane of a record. What is no number counts as no beam. */
void feedback_beam_add(struct feedback_beam *beam, double value);

/** Once per cycle: is there beam? Makes ready for the next cycle. */
bool feedback_beam_judge(struct feedback_beam *beam);

/** Rides out what a bit tells of, for so many cycles after each rise. */
struct feedback_gate {
    uint32_t cycles;
    /** The bit, in the last record. */
    bool was;
    /** Cycles to go. */
    uint32_t left;
};

void feedback_gate_see(struct feedback_gate *gate, bool bit);

/** Once per cycle: closed? */
bool feedback_gate_judge(struct feedback_gate *gate);

/** True when `count` is less than `share` of `all`. */
static inline bool feedback_too_few(uint32_t count, uint32_t all, double share) {
    return (double)count < share * (double)all - 1e-9;
}

#endif
