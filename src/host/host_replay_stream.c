// SPDX-License-Identifier: Apache-2.0
#include "host/host_replay_stream.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/zeroed.h"

enum rm_code rm_replay_stream_open(struct rm_replay_stream *stream, struct rm_recorded_source const *recorded,
                                   char const *name, struct rm_error *error) {
    stream->recorded = recorded;
    stream->first = RM_TURN_NONE;
    enum rm_code const code = recorded->find(recorded->context, name, &stream->found, error);
    if (code != RM_OK)
        return code;
    stream->window = rm_zeroed(RM_REPLAY_WINDOW, sizeof *stream->window);
    return stream->window != NULL ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory to replay %s", name);
}

void rm_replay_stream_close(struct rm_replay_stream *stream) { free(stream->window); }

/** Sees to it that the window has `turn`; false where a read failed. */
static bool replay_stream_reach(struct rm_replay_stream *stream, rm_turn turn, enum rm_code *code,
                                struct rm_error *error) {
    uint64_t const span = RM_REPLAY_WINDOW * stream->found.stream.period;
    if (stream->first != RM_TURN_NONE && turn >= stream->first && turn - stream->first < span)
        return true;
    *code = stream->recorded->read(stream->recorded->context, stream->found.number, turn, RM_REPLAY_WINDOW,
                                   stream->window, error);
    stream->first = *code == RM_OK ? turn : RM_TURN_NONE;
    return *code == RM_OK;
}

struct rm_record const *rm_replay_stream_at(struct rm_replay_stream *stream, rm_turn turn, enum rm_code *code,
                                            struct rm_error *error) {
    bool const outside = stream->found.first == RM_TURN_NONE || turn < stream->found.first || turn > stream->found.last;
    if (outside || !replay_stream_reach(stream, turn, code, error))
        return NULL;
    struct rm_record const *record = &stream->window[(turn - stream->first) / stream->found.stream.period];
    return record->turn == turn ? record : NULL;
}

struct rm_record const *rm_replay_stream_next(struct rm_replay_stream *stream, rm_turn turn, enum rm_code *code,
                                              struct rm_error *error) {
    if (stream->found.first == RM_TURN_NONE)
        return NULL;
    for (rm_turn at = turn > stream->found.first ? turn : stream->found.first;
         *code == RM_OK && at <= stream->found.last; at += stream->found.stream.period) {
        struct rm_record const *record = rm_replay_stream_at(stream, at, code, error);
        if (record != NULL)
            return record;
    }
    return NULL;
}
