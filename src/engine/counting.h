// SPDX-License-Identifier: Apache-2.0
/** How an instrument counts, and which turn its counter means.
 *
 * Native datagrams hold the turn itself. Others count records, one for every `period_turns`, in 16 to 64 bits: a short
 * counter means that turn congruent to it which lies nearest to the turn due by the clock. So it must be right within
 * half its range: 28 ms for 16 bits at 1.16 MHz, 3.3 s at 10 kHz.
 *
 * Records of a period other than 1 are addressed by multiples of it, as streams need them: what an instrument's offset
 * leaves over is cut off.
 */
#ifndef RM_ENGINE_COUNTING_H
#define RM_ENGINE_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

struct rm_counting {
    /** At least 1. */
    uint64_t period_turns;
    /** Counters of records from this value on mean turns beyond RM_TURN_END. */
    uint64_t counter_end;
    /** Turns that are added; a multiple of the period where records are counted. */
    int64_t offset_turns;
    /** Turns after which the counter begins again; 0: never. */
    uint64_t lap_turns;
    /** Half of lap_turns. */
    uint64_t half_lap;
    /** The turn, without offset, of the last counter 0. */
    rm_turn lap_begin;
    /** For a counter of records: number of that record, turn / period with offset; it wraps. */
    uint64_t lap_number;
    /** The counter counts records, not turns. */
    bool records;
    /** The counter is long enough to anchor the turn clock, and to vote. */
    bool tells;
};

/** Makes the counting for a counter of `bits` 1–64 that counts records, or turns. */
void rm_counting_init(struct rm_counting *counting, uint32_t bits, bool records, uint32_t period_turns,
                      int64_t offset_turns);

/** Finds the lap of a short counter again, where the one it had does not fit. Returns the turn without offset. */
rm_turn rm_counting_search(struct rm_counting *counting, uint64_t begin, rm_turn due);

/** The turn that `counter` means while `due` is due; RM_TURN_NONE where that is below 0, or RM_TURN_END or above. */
static inline rm_turn rm_counting_turn(struct rm_counting *counting, uint64_t counter, rm_turn due) {
    uint64_t turn = counter;
    if (counting->records) {
        if (counter >= counting->counter_end)
            return RM_TURN_NONE;
        uint64_t const begin = counter * counting->period_turns;
        turn = counting->lap_begin + begin;
        if (counting->lap_turns != 0 &&
            turn + (uint64_t)counting->offset_turns - due + counting->half_lap >= counting->lap_turns)
            turn = rm_counting_search(counting, begin, due);
    } else if (counter >= RM_TURN_END) {
        return RM_TURN_NONE;
    }
    turn += (uint64_t)counting->offset_turns;
    if (turn >= RM_TURN_END)
        return RM_TURN_NONE;
    return counting->records || counting->period_turns == 1 ? turn : turn - turn % counting->period_turns;
}

/** True when rm_counting_turn gives the turn of record `number` without looking for another lap. `number` is turn /
 * period, below RM_TURN_END, of a counter of records. */
static inline bool rm_counting_means(struct rm_counting const *counting, uint64_t counter, uint64_t number,
                                     rm_turn turn, rm_turn due) {
    return counter == number - counting->lap_number &&
           (counting->lap_turns == 0 || turn - due + counting->half_lap < counting->lap_turns);
}

#endif
