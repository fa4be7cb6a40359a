// SPDX-License-Identifier: Apache-2.0
#include "traffic/turn_schedule.h"

static bool class_sends_at(struct rm_turn_class const *class, rm_turn turn) {
    return (turn + class->period_turns) % class->span_turns == 0;
}

/** Datagrams of all turns from 0 to before `turn`. */
static uint64_t schedule_before(struct rm_turn_schedule const *schedule, rm_turn turn) {
    uint64_t sum = 0;
    for (uint32_t c = 0; turn != 0 && c < schedule->class_count; ++c) {
        struct rm_turn_class const *const class = &schedule->class[c];
        sum += (turn - 1 + class->period_turns) / class->span_turns * class->count;
    }
    return sum;
}

/** The first turn from `turn` on at which a class sends. */
static rm_turn schedule_next_turn(struct rm_turn_schedule const *schedule, rm_turn turn) {
    rm_turn next = RM_TURN_NONE;
    for (uint32_t c = 0; c < schedule->class_count; ++c) {
        struct rm_turn_class const *const class = &schedule->class[c];
        uint64_t const past = (turn + class->period_turns) % class->span_turns;
        rm_turn const own = past == 0 ? turn : turn + class->span_turns - past;
        next = own < next ? own : next;
    }
    return next;
}

/** The first class from `from` on that sends at the schedule's turn, or class_count. */
static uint32_t schedule_class_from(struct rm_turn_schedule const *schedule, uint32_t from) {
    while (from < schedule->class_count && !class_sends_at(&schedule->class[from], schedule -> turn))
        ++from;
    return from;
}

void rm_turn_schedule_go_to(struct rm_turn_schedule *schedule, rm_turn turn) {
    schedule->turn = schedule_next_turn(schedule, turn);
    schedule->of_class = schedule_class_from(schedule, 0);
    schedule->place = 0;
    schedule->position = schedule_before(schedule, schedule->turn);
}

uint64_t rm_turn_schedule_due(struct rm_turn_schedule const *schedule, rm_turn turn) {
    return turn < schedule->turn ? 0 : schedule_before(schedule, turn + 1) - schedule->position;
}

void rm_turn_schedule_advance(struct rm_turn_schedule *schedule) {
    ++schedule->position;
    if (++schedule->place < schedule->class[schedule->of_class].count)
        return;
    schedule->place = 0;
    schedule->of_class = schedule_class_from(schedule, schedule->of_class + 1);
    if (schedule->of_class < schedule->class_count)
        return;
    schedule->turn = schedule_next_turn(schedule, schedule->turn + 1);
    schedule->of_class = schedule_class_from(schedule, 0);
}

/** The turn of the datagram `count` behind the next one: the last turn before which there are no more than so many. In
 * every span of a class there is a datagram of it, which bounds the search. Numbers of datagrams may wrap; what lies
 * between two of them does not. */
static rm_turn schedule_turn_of(struct rm_turn_schedule const *schedule, uint64_t count) {
    uint64_t const position = schedule->position + count, span = schedule->class[0].span_turns;
    uint64_t const room = RM_TURN_END / span - 2;
    rm_turn low = schedule->turn, high = schedule->turn + ((count < room ? count : room) + 2) * span;
    while (high - low > 1) {
        rm_turn const middle = low + (high - low) / 2;
        if ((int64_t)(schedule_before(schedule, middle) - position) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void rm_turn_schedule_skip(struct rm_turn_schedule *schedule, uint64_t count) {
    uint64_t const position = schedule->position + count;
    rm_turn_schedule_go_to(schedule, schedule_turn_of(schedule, count));
    uint64_t within = position - schedule->position;
    while (within >= schedule->class[schedule->of_class].count) {
        within -= schedule->class[schedule->of_class].count;
        schedule->of_class = schedule_class_from(schedule, schedule->of_class + 1);
    }
    schedule->place = (uint32_t)within;
    schedule->position = position;
}
