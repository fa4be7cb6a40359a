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

/** Sums of lanes are kept in this fraction of their unit. */
enum { FEEDBACK_SUM_FRACTION = 256 };

struct feedback_beam {
    double least, drop;
    uint32_t return_cycles;
    /** Sum over the lanes of this cycle. */
    int64_t sum;
    /** Lanes in that sum. */
    uint32_t count;
    /** Mean of the last cycle that had any. */
    double mean;
    /** Cycles to go until the beam is believed in again after a drop. */
    uint32_t distrust;
    /** There are sum lanes at all. */
    bool watched;
};

/** Adds a sum lane of a record. A value that is not a number counts as no beam. */
void feedback_beam_add(struct feedback_beam *beam, double value);

/** Called once per cycle: true when there is beam. Prepares the next cycle. */
bool feedback_beam_judge(struct feedback_beam *beam);

/** Rides out an event that a bit reports, for so many cycles after each rise of the bit. */
struct feedback_gate {
    uint32_t cycles;
    /** The bit in the last record. */
    bool was;
    /** Cycles to go until the gate opens again. */
    uint32_t left;
};

void feedback_gate_see(struct feedback_gate *gate, bool bit);

/** Called once per cycle: true while the gate is closed. */
bool feedback_gate_judge(struct feedback_gate *gate);

/** True when `count` is less than `share` of `all`. */
static inline bool feedback_too_few(uint32_t count, uint32_t all, double share) {
    return (double)count < share * (double)all - 1e-9;
}

#endif
