// SPDX-License-Identifier: Apache-2.0
/** machine/tune: the stream of a living machine's own tunes, for who compares a measurement with them. Lanes tune_x and
 * tune_y, f32, oscillations per turn: of the lattice as of the last look, moved by the supplies as they are at the
 * record's turn, ripple included, for δ = 0 and without amplitude. */
#ifndef RM_INSTRUMENTS_TUNE_STREAM_H
#define RM_INSTRUMENTS_TUNE_STREAM_H

#include <stdbool.h>

#include "fabric/segment_file.h"
#include "fabric/stream_writer.h"
#include "machine_lanes.h"

struct rm_tune_stream {
    struct rm_stream_writer writer;
    rm_planned_index planned;
    bool open;
};

/** Adds the stream to a segment's plan. */
void rm_tune_stream_plan(struct rm_tune_stream *stream, struct rm_segment_plan *plan);

/** Takes the stream of the segment, which is not finished yet, into use. False: there is no memory. */
bool rm_tune_stream_open(struct rm_tune_stream *stream, struct rm_segment_plan const *plan,
                         struct rm_segment const *segment);
void rm_tune_stream_close(struct rm_tune_stream *stream);

/** What machine lanes call, in the thread that steps them; `state` is the struct rm_tune_stream. */
void rm_tune_stream_put(void *state, rm_turn turn, double const tune[2]);

#endif
