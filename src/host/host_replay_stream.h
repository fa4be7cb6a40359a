// SPDX-License-Identifier: Apache-2.0
/** One recorded stream as a replay reads it: a window of records that follows the turns. */
#ifndef RM_HOST_HOST_REPLAY_STREAM_H
#define RM_HOST_HOST_REPLAY_STREAM_H

#include "host/host_recorded.h"

/** Records read at once. */
enum { RM_REPLAY_WINDOW = 256 };

struct rm_replay_stream {
    struct rm_recorded_stream found;
    struct rm_recorded_source const *recorded;
    /** Records of RM_REPLAY_WINDOW turns from `first` on; RM_TURN_NONE: nothing was read. */
    struct rm_record *window;
    rm_turn first;
};

/** Finds NAME, with room for a window; `*stream` is zero before. RM_E_NOT_FOUND, RM_E_NO_SPACE. */
enum rm_code rm_replay_stream_open(struct rm_replay_stream *stream, struct rm_recorded_source const *recorded,
                                   char const *name, struct rm_error *error);
void rm_replay_stream_close(struct rm_replay_stream *stream);

/** The record of `turn`, or NULL where there is none. Valid until the next call. `*code` becomes the error of a read
 * that failed. */
struct rm_record const *rm_replay_stream_at(struct rm_replay_stream *stream, rm_turn turn, enum rm_code *code,
                                            struct rm_error *error);

/** The first record at or behind `turn`, or NULL. */
struct rm_record const *rm_replay_stream_next(struct rm_replay_stream *stream, rm_turn turn, enum rm_code *code,
                                              struct rm_error *error);

#endif
