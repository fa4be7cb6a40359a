// SPDX-License-Identifier: Apache-2.0
/** Follows one stream: out of the server's ring into the blocks of a log, nothing twice, and what is lost is told.
 *
 * It only reads shared memory. Records are copied straight into the log's buffer, and checked there as every reader
 * does (stream.h). It stays a little behind the head, so that records that come out of order have come. While the log
 * has no room it leaves records in the ring, up to half of it: what is older then is given up, counted, and marked with
 * what the log's trouble was. Reductions see those records all the same.
 */
#ifndef RM_RECORD_FOLLOW_H
#define RM_RECORD_FOLLOW_H

#include <ringmaster/clock.h>
#include <ringmaster/stream.h>
#include <stdbool.h>

#include "log.h"

/** When a turn of the recorder's loop is. */
struct rm_record_moment {
    uint64_t now_ns, tai_ns;
    /** The turn clock; not anchored where there is none. */
    struct rm_clock_reading clock;
};

/** TAI of a turn by the turn clock, where it is anchored in the same turn-counter epoch; else now. */
uint64_t rm_record_tai_of(struct rm_record_moment const *moment, uint64_t turn_epoch, rm_turn turn);

/** Records that were lost and not marked yet. */
struct rm_follow_loss {
    /** enum rm_mark_reason, or 0: none was lost. */
    unsigned reason;
    int error;
    rm_turn first, last;
    uint64_t records;
};

enum { RM_FOLLOW_REASONS = RM_MARK_CLOCK_STEPPED + 1 };

struct rm_follow {
    /* Set by the caller. */
    struct rm_stream_view view;
    struct rm_log *log;
    /** Number of the object in the log. */
    uint32_t object;
    /** Turns that it stays behind the head. */
    uint64_t lag_turns;
    /** Records that make it worth to begin a block before the log is flushed. */
    uint64_t block_records;
    /** It was empty when the recorder came: all of it is recorded. Else it begins with the head. */
    bool was_empty;
    /** Called with all records in their order, lost ones included, of which the turn is RM_TURN_NONE. May be NULL. */
    void (*reduce)(void *context, struct rm_record const *records, size_t count, rm_turn first, uint64_t turn_epoch,
                   struct rm_record_moment const *moment);
    void *context;

    /* Its own. */
    /** The next turn to be recorded; RM_TURN_NONE before the first. */
    rm_turn next;
    uint64_t turn_epoch;
    struct rm_follow_loss loss;
    /** Records that were good; that the stream itself did not have; and those that were lost here, by reason. */
    uint64_t records, missing, lost[RM_FOLLOW_REASONS];
    /** Where the head was, and when it had moved last. */
    rm_turn head;
    uint64_t moved_ns;
};

/** How much a step takes. */
enum rm_follow_extent {
    /** Only what makes whole blocks. */
    RM_FOLLOW_BLOCKS,
    /** All but what may still come out of order. */
    RM_FOLLOW_FLUSH,
    /** All there is. */
    RM_FOLLOW_ALL,
};

/** Takes what has come. Returns how many records. */
uint64_t rm_follow_step(struct rm_follow *follow, struct rm_record_moment const *moment, enum rm_follow_extent extent);

/** Marks that from here on nothing comes, and why. */
void rm_follow_mark(struct rm_follow *follow, struct rm_record_moment const *moment, enum rm_mark_reason reason);

#endif
