// SPDX-License-Identifier: Apache-2.0
#include "engine/counting.h"

#include "wire/layout.h"

/** Turn and offset are multiples of the period, and their sum may be above INT64_MAX. */
static void begin_lap(struct rm_counting *counting, rm_turn turn) {
    int64_t const offset = counting->offset_turns / (int64_t)counting->period_turns;
    counting->lap_begin = turn;
    counting->lap_number = turn / counting->period_turns + (uint64_t)offset;
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
        .lap_turns = rm_counter_lap_turns(bits, period_turns),
    };
    counting->half_lap = counting->lap_turns / 2;
    counting->tells = counting->lap_turns == 0;
    begin_lap(counting, 0);
}

rm_turn rm_counting_search(struct rm_counting *counting, uint64_t begin, rm_turn due) {
    /* Neither sum overflows, as due and offset are within RM_TURN_END and a lap within half of it; their difference
     * does, as a signed number. Turns below 0 are due only in the first lap: there the counter is taken as it is. */
    int64_t const end = (int64_t)(due + counting->half_lap);
    int64_t const first = (int64_t)begin + counting->offset_turns;
    uint64_t const above = end >= first ? (uint64_t)end - (uint64_t)first : 0;
    uint64_t const lap_begin = above / counting->lap_turns * counting->lap_turns;
    begin_lap(counting, lap_begin);
    return lap_begin + begin;
}
