// SPDX-License-Identifier: Apache-2.0
/** When the events of a ring happen: those of its overlay, and those that it is given while it runs.
 *
 * One thread, which makes the turns, reaches one turn after the other; an event happens when its turn is reached, before
 * anything is read of that turn. Other threads post events, and one of them hears what became of each:
 *
 *     posted ──▶ planned (it has a turn) ──▶ begun (it has happened) ──▶ over (it does nothing any more)
 *
 * Memory ordering: `stage` of a slot is stored with release by the side that has the slot, and loaded with acquire by
 * the other: POSTED hands it to the turns, OVER to the reports, FREE to those that post. `posted` is only a bell. A turn
 * at which nothing happens costs two comparisons.
 */
#ifndef RM_INSTRUMENTS_EVENT_SCHEDULE_H
#define RM_INSTRUMENTS_EVENT_SCHEDULE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "ring_config.h"

enum {
    /** Most events that wait at one time, beside those of the overlay. */
    RM_EVENTS_POSTED_MAX = 64,
    /** Longest words of an event, with the terminating zero. */
    RM_EVENT_WORDS_BYTES = 256,
};

enum rm_event_stage { RM_EVENT_FREE, RM_EVENT_POSTED, RM_EVENT_PLANNED, RM_EVENT_BEGUN, RM_EVENT_OVER };

struct rm_event_slot {
    struct rm_ring_event event;
    /** As it was given; "" of the overlay's events. */
    char words[RM_EVENT_WORDS_BYTES];
    _Atomic enum rm_event_stage stage;
    /** PLANNED: the turn at which it will happen. BEGUN and OVER: at which it happened. */
    _Atomic rm_turn turn;

    /* the turns' */
    /** When it begins or ends next; RM_TURN_NONE: neither. */
    rm_turn due;

    /* the reports' */
    enum rm_event_stage reported;
};

struct rm_event_schedule {
    struct rm_event_slot *slot;
    uint32_t count;
    /** One thread at a time posts. */
    pthread_mutex_t posting;
    _Atomic uint64_t posted;

    /* the turns' */
    uint64_t taken;
    rm_turn first_turn;
    /** The first turn at which something is due; RM_TURN_NONE: never. */
    rm_turn next;
    /** An event of the beam without a turn happens so many turns after the one that was reached; others at once. */
    uint64_t lead_turns;
    /** Called for each event, in the order of their turns, at its beginning and at its end. */
    void (*apply)(void *state, struct rm_ring_event const *event, rm_turn turn, bool begins);
    void *state;
};

/** Makes the schedule of a ring, with its overlay's events. What they say of turns before the ring's first one has
 * happened by then, but for kicks, injections and what is over, which are past. RM_E_NO_SPACE. */
enum rm_code rm_event_schedule_make(struct rm_ring_config const *ring, struct rm_event_schedule **schedule,
                                    struct rm_error *error);
void rm_event_schedule_free(struct rm_event_schedule *schedule);

/** Does what is due at a turn, or was due before it; turns never go back. */
void rm_event_schedule_serve(struct rm_event_schedule *schedule, rm_turn turn);

/** True when there is something to serve at a turn. */
static inline bool rm_event_schedule_waits(struct rm_event_schedule const *schedule, rm_turn turn) {
    return turn >= schedule->next || atomic_load_explicit(&schedule->posted, memory_order_relaxed) != schedule->taken;
}

/** Posts an event, from any thread; what it points to belongs to the schedule afterwards, in any case. `words` is what
 * it was made of. RM_E_BUSY: too many wait. */
enum rm_code rm_event_schedule_post(struct rm_event_schedule *schedule, struct rm_ring_event *event, char const *words,
                                    struct rm_error *error);

/** Makes an event of words and posts it. */
enum rm_code rm_event_schedule_post_words(struct rm_event_schedule *schedule, struct rm_ring_config const *ring,
                                          char const *words, struct rm_error *error);

/** Something that one hears of an event. */
struct rm_event_report {
    /** PLANNED or BEGUN. */
    enum rm_event_stage stage;
    struct rm_ring_event const *event;
    char const *words;
    rm_turn turn;
};

/** Calls `hear` for all that is new since the last call; one thread. */
void rm_event_schedule_report(struct rm_event_schedule *schedule,
                              void (*hear)(void *state, struct rm_event_report const *report), void *state);

#endif
