// SPDX-License-Identifier: Apache-2.0
/** Reductions of a stream: steps of so many turns, aligned to multiples of them, each from the one before.
 *
 * A step ends when a record of a later one comes. What of it was not there counts as missing: before the recording
 * began, in a gap, lost on the way. Steps wait until the log of the reduction is flushed, and are written as one block;
 * where its disk is in trouble for so long that more wait than are kept, the newest are lost, counted and marked.
 */
#ifndef RM_RECORD_REDUCE_H
#define RM_RECORD_REDUCE_H

#include "follow.h"
#include "statistics.h"

enum {
    /** Steps that wait at most. */
    RM_REDUCED_WAITING = 256,
};

/** One step length of one stream. */
struct rm_reduction_level {
    /* Set by the caller. */
    struct rm_log *log;
    uint32_t object;
    uint64_t step_turns;
    /** Records of a whole step. */
    uint64_t whole;

    /* Its own. */
    /** Number of the step that is gathered: turn / step_turns; UINT64_MAX: none. */
    uint64_t step;
    uint64_t turn_epoch;
    struct rm_statistics statistics;
    /** Steps that wait: dense, of one turn-counter epoch. */
    uint8_t *waiting;
    uint32_t count;
    uint64_t waiting_epoch;
    rm_turn first_turn;
    uint64_t first_tai_ns, last_tai_ns;
    struct rm_follow_loss loss;
    uint64_t lost[RM_FOLLOW_REASONS];
};

struct rm_reducer {
    struct rm_reduction_level *level;
    unsigned level_count;
    uint64_t period_turns;
    unsigned lane_count;
    /** Bit per lane that is f32. */
    unsigned floats;
};

/** Takes records of the stream: the function that rm_follow calls, with the reducer as its context. */
void rm_reducer_take(void *reducer, struct rm_record const *records, size_t count, rm_turn first, uint64_t turn_epoch,
                     struct rm_record_moment const *moment);

/** Writes the steps of a level that wait into its log. */
void rm_reduction_flush(struct rm_reducer *reducer, struct rm_reduction_level *level,
                        struct rm_record_moment const *moment);

/** Memory for a level that waits; false: there is none. */
bool rm_reduction_level_make(struct rm_reducer const *reducer, struct rm_reduction_level *level);

#endif
