// SPDX-License-Identifier: Apache-2.0
#include "tune_stream.h"

#include "base/timebase.h"

enum { RECORDS = 65536 /**< at 1.157 MHz half a minute */ };

void rm_tune_stream_plan(struct rm_tune_stream *stream, struct rm_segment_plan *plan) {
    struct rm_stream const it = {
        .capacity = RECORDS,
        .period = RM_MACHINE_TUNE_TURNS,
        .instrument_kind = RM_KIND_APPLICATION,
        .filter = "none",
        .gain = 1.0,
        .lane_count = 2,
        .lane = {{.name = "tune_x", .type = RM_LANE_F32}, {.name = "tune_y", .type = RM_LANE_F32}},
    };
    stream->planned = rm_plan_stream(plan, "machine/tune", "tunes of the virtual machine at the record's turn", &it);
}

bool rm_tune_stream_open(struct rm_tune_stream *stream, struct rm_segment_plan const *plan,
                         struct rm_segment const *segment) {
    stream->open = rm_stream_writer_open(&stream->writer, rm_segment_memory(segment, plan, stream->planned), 0);
    return stream->open;
}

void rm_tune_stream_close(struct rm_tune_stream *stream) {
    if (stream->open)
        rm_stream_writer_close(&stream->writer);
    stream->open = false;
}

void rm_tune_stream_put(void *state, rm_turn turn, double const tune[2]) {
    struct rm_stream_writer *writer = &((struct rm_tune_stream *)state)->writer;
    uint64_t const now = rm_tsc();
    struct rm_record const record = {
        .turn = turn, .tag = rm_tag_full_rate(now, 0), .lane = {{.f = (float)tune[0]}, {.f = (float)tune[1]}}};
    if (writer->head != RM_TURN_NONE && turn <= writer->head)
        rm_stream_writer_restart(writer);
    rm_stream_writer_put(writer, &record);
    rm_stream_writer_publish(writer, now);
}
