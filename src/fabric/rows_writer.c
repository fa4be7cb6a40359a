// SPDX-License-Identifier: Apache-2.0
#include "fabric/rows_writer.h"

#include <string.h>

/** Two values at once: a row begins at a cache line, so there is room for the last word. */
static void rows_store_values(struct rm_rows *rows, uint64_t slot, float const *values) {
    _Atomic uint64_t *word = (_Atomic uint64_t *)((uint8_t *)rows + rows->values_offset + slot * rows->row_bytes);
    for (uint64_t i = 0; i < rows->width; i += 2) {
        uint64_t two = 0;
        memcpy(&two, &values[i], i + 1 < rows->width ? sizeof two : sizeof values[0]);
        atomic_store_explicit(&word[i / 2], two, memory_order_relaxed);
    }
}

void rm_rows_put(struct rm_stream_writer *writer, struct rm_rows *rows, rm_turn turn, uint32_t quality,
                 float const *values, uint64_t tsc) {
    struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(tsc, 0)};
    record.lane[RM_ROWS_QUALITY].i = (int32_t)quality;
    if (writer->head != RM_TURN_NONE && turn <= writer->head)
        rm_stream_writer_restart(writer);
    rm_stream_writer_await(writer, turn);
    rows_store_values(rows, (turn / writer->period) & writer->mask, values);
    rm_stream_writer_put(writer, &record);
    rm_stream_writer_publish(writer, tsc);
}
