// SPDX-License-Identifier: Apache-2.0
/** Where a live follower's records come from: the mirrored decision streams of the peer's application, and the inputs
 * of its own server.
 *
 *     struct rm_follow_streams streams;
 *     if (rm_follow_streams_open(&streams, masks, groups, ends, inputs)) …
 *     … streams.decision, streams.mask[i], …: views, which are the caller's
 *     follow.obey.source = rm_follow_streams_source(&streams);
 *     rm_follow_streams_close(&streams);
 *
 * The mirror keeps the order of decision.h: `decision` of a turn is put behind all other records of that turn, and no
 * turn before one that was put is put later.
 */
#ifndef RM_HOST_HOST_FOLLOW_STREAMS_H
#define RM_HOST_HOST_FOLLOW_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/stream.h>

#include "host/host_obey.h"

struct rm_follow_streams {
    struct rm_stream_view decision, adopted;
    /** [mask], [group], [end]. */
    struct rm_stream_view *mask, *sent, *end;
    /** [input] */
    struct rm_stream_view const *input;
    /** Turn-counter epoch of `decision` when it was begun. */
    uint64_t turn_epoch;
    /** An input that has not reached a turn is missing when the peer's steps are more turns ahead than that. */
    uint64_t maximum_lag_turns;
    /** For `has_worked`. */
    bool (*has_worked)(void *context);
    void *context;
    /** The record that was read last. */
    struct rm_record record;
};

/** Room for so many views; all else of `*streams` is the caller's. False without memory. */
bool rm_follow_streams_open(struct rm_follow_streams *streams, uint32_t masks, uint32_t groups, uint32_t ends);
void rm_follow_streams_close(struct rm_follow_streams *streams);

/** Call it before the copy of the state is read that the steps go on from. */
void rm_follow_streams_begin(struct rm_follow_streams *streams);

/** True where the peer has counted turns anew since: what is behind that copy does not come. */
bool rm_follow_streams_restarted(struct rm_follow_streams const *streams);

/** `streams` outlives it. */
struct rm_obey_source rm_follow_streams_source(struct rm_follow_streams *streams);

/** Steps that the peer has made from `next` on, as far as is known here. */
uint64_t rm_follow_streams_behind(struct rm_follow_streams const *streams, rm_turn next);

#endif
