// SPDX-License-Identifier: Apache-2.0
#include "engine/counting.h"

enum { TELLING_BITS = 48 }; /**< at 1.16 MHz they last seven years */

static void begin_lap(struct rm_counting *counting, rm_turn turn) {
    counting->lap_begin = turn;
    counting->lap_number = (uint64_t)(((int64_t)turn + counting->offset_turns) / (int64_t)counting->period_turns);
}

void rm_counting_init(struct rm_counting *counting, uint32_t bits, bool records, uint32_t period_turns,
                      int64_t offset_turns) {
    int64_t const period = period_turns;
    int64_t const over = records ? (offset_turns % period + period) % period : 0;
    *counting = (struct rm_counting){
        .period_turns = period_turns,
        .counter_end = RM_TURN_END / period_turns,
        .offset_turns = offset_turns - over,
        .records = records,
        .tells = bits >= TELLING_BITS,
    };
    if (bits < TELLING_BITS) {
        counting->lap_turns = (uint64_t)period_turns << bits;
        counting->half_lap = counting->lap_turns / 2;
    }
    begin_lap(counting, 0);
}

rm_turn rm_counting_search(struct rm_counting *counting, uint64_t begin, rm_turn due) {
    /* Turns below 0 are due only in the first lap: there the counter is taken as it is. */
    uint64_t const wanted = due - (uint64_t)counting->offset_turns + counting->half_lap;
    bool const possible = (int64_t)(wanted - begin) >= 0;
    uint64_t const lap_begin = possible ? (wanted - begin) / counting->lap_turns * counting->lap_turns : 0;
    begin_lap(counting, lap_begin);
    return lap_begin + begin;
}
