// SPDX-License-Identifier: Apache-2.0
/** Which datagram of which group comes next, turn by turn, as numbers alone.
 *
 * A group puts T readings, P turns apart, into a datagram, and sends it with the last of them: at the turns t where
 * t + P is a multiple of its span S = T · P. So up to turn t, that one included, it has sent (t + P) / S datagrams,
 * whatever became of them. Groups of one S and P are a class; within a turn classes come one after the other.
 *
 * All datagrams since turn 0 are numbered in that order: `position` is the number of the next one, and to pass over
 * any number of them is one search. */
#ifndef RM_TRAFFIC_TURN_SCHEDULE_H
#define RM_TRAFFIC_TURN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

enum { RM_TURN_CLASSES_MAX = 32 };

/** Groups that send at the same turns. */
struct rm_turn_class {
    uint64_t span_turns;
    uint64_t period_turns;
    /** Its groups: `count` from `first` on. */
    uint32_t first;
    uint32_t count;
};

struct rm_turn_schedule {
    /** At least one. */
    uint32_t class_count;
    struct rm_turn_class class[RM_TURN_CLASSES_MAX];
    /** The next datagram: its number, its turn, its class, and its place there. */
    uint64_t position;
    rm_turn turn;
    uint32_t of_class;
    uint32_t place;
};

/** Goes to the first datagram of `turn`, or of the next turn that has some. */
void rm_turn_schedule_go_to(struct rm_turn_schedule *schedule, rm_turn turn);

/** How many datagrams from the next one on belong to turns up to `turn`. */
uint64_t rm_turn_schedule_due(struct rm_turn_schedule const *schedule, rm_turn turn);

/** The group of the next datagram, whose turn is `schedule->turn`. Call rm_turn_schedule_advance when it is made. */
static inline uint32_t rm_turn_schedule_group(struct rm_turn_schedule const *schedule) {
    return schedule->class[schedule->of_class].first + schedule->place;
}

void rm_turn_schedule_advance(struct rm_turn_schedule *schedule);

/** Passes over `count` datagrams. */
void rm_turn_schedule_skip(struct rm_turn_schedule *schedule, uint64_t count);

#endif
