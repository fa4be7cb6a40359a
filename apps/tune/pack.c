// SPDX-License-Identifier: Apache-2.0
#include "pack.h"

/** One member, whole. */
#define COPY(member) rm_pieces_copy(pieces, &(member), sizeof(member))
/** An array of `count`. */
#define COPY_ALL(array, count) rm_pieces_copy(pieces, (array), (size_t)(count) * sizeof *(array))

/** Each reading is there twice: the second half is what the first one is. */
static void series_pieces(struct tune_meter_series *series, uint32_t turns, struct rm_pieces *pieces) {
    COPY_ALL(series->ring, turns);
    if (pieces->in != NULL && !pieces->is_short)
        memcpy(series->ring + turns, series->ring, turns * sizeof *series->ring);
    COPY_ALL(series->lost, turns);
    COPY(series->lost_turns);
    COPY(series->same);
    COPY(series->last);
    COPY(series->frozen_at);
    COPY(series->saturated_at);
}

void tune_meter_pieces(struct tune_meter *meter, struct rm_pieces *pieces) {
    COPY(meter->count);
    COPY(meter->turn);
    for (uint32_t i = 0; i < TUNE_PLANES * meter->plan.bpms; ++i)
        series_pieces(&meter->series[i], meter->plan.turns, pieces);
}

static void sliding_pieces(struct tune_sliding *sliding, struct rm_pieces *pieces) {
    size_t const turns = (size_t)sliding->turns * sliding->planes;
    COPY(sliding->place);
    COPY_ALL(sliding->sum, (size_t)sliding->groups * sliding->planes * 2 * TUNE_SLIDING_LANES);
    COPY_ALL(sliding->history_nm, turns);
    COPY_ALL(sliding->lost, turns);
    COPY_ALL(sliding->lost_turns, sliding->planes);
    COPY_ALL(sliding->cut_turns, sliding->planes);
}

void tune_rows_pieces(struct tune_rows_memory *rows, struct rm_pieces *pieces) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        struct tune_every_turn *const it = &rows->sliding[plane];
        if (!rows->is_sliding[plane])
            continue;
        sliding_pieces(&it->sliding, pieces);
        COPY(it->count);
        COPY(it->turn);
        COPY(it->cut_at);
        COPY(it->offset);
        COPY(it->has_offset);
    }
}

void tune_follow_pieces(struct tune_follow *follow, struct tune_meter const *meter, struct rm_pieces *pieces) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        COPY_ALL(follow->sum[plane], meter->plan.turns / 2 + 1);
        COPY(follow->taken[plane]);
        COPY(follow->at[plane]);
        COPY(follow->driven[plane]);
        COPY(follow->is_found[plane]);
    }
}
