// SPDX-License-Identifier: Apache-2.0
/** What is to happen in a pair's simulated time: events in the order of their times, and of their posting where these
 * are equal. So the same seed gives the same run. */
#ifndef RM_SIMULATION_PAIR_QUEUE_H
#define RM_SIMULATION_PAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct rm_pair_event {
    uint64_t time_ns;
    /** Of its posting. */
    uint64_t number;
    /** enum rm_pair_happening (pair.h). */
    uint32_t kind;
    /** Server, chain or fault that it befalls. */
    uint32_t whom;
    /** What the kind says: a parcel, a life of a server. */
    uint32_t what;
    uint64_t cycle;
};

struct rm_pair_queue {
    /** A heap: no event is earlier than the one at half its place. */
    struct rm_pair_event *event;
    uint32_t count, space;
    uint64_t posted;
};

/** False without memory. The event's number is given here. */
bool rm_pair_queue_post(struct rm_pair_queue *queue, struct rm_pair_event event);

/** Takes the earliest event. False when there is none. */
bool rm_pair_queue_take(struct rm_pair_queue *queue, struct rm_pair_event *event);

void rm_pair_queue_free(struct rm_pair_queue *queue);

#endif
