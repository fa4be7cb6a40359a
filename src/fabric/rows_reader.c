// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/rows.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/** Two values at once: rows begin at cache lines, and end with the words that they fill. */
static void rows_copy_values(struct rm_rows_view const *view, rm_turn turn, float *values) {
    uint64_t const slot = (turn / view->stream.period) & view->stream.mask;
    _Atomic uint64_t const *word = (_Atomic uint64_t const *)((uint8_t const *)view->values + slot * view->row_bytes);
    for (uint64_t i = 0; i < view->width; i += 2) {
        uint64_t const two = atomic_load_explicit(&word[i / 2], memory_order_relaxed);
        memcpy(&values[i], &two, i + 1 < view->width ? sizeof two : sizeof values[0]);
    }
}

/* The steps and their reasons: rows.h, "How a row is stored and read". */
enum rm_read rm_rows_read(struct rm_rows_view const *view, rm_turn turn, struct rm_record *record, float *values) {
    struct rm_stream_look look;
    rm_stream_look(&view->stream, &look);
    enum rm_read const verdict = rm_stream_read(&view->stream, turn, record);
    if (verdict != RM_READ_OK)
        return verdict;
    rows_copy_values(view, turn, values);
    return rm_stream_still_valid(&view->stream, turn, &look) ? RM_READ_OK : RM_READ_LAPPED;
}

static void rows_blank(struct rm_record *record, float *values, uint64_t width) {
    memset(record, 0, sizeof *record);
    for (uint64_t i = 0; i < width; ++i)
        values[i] = NAN;
}

size_t rm_rows_read_results(struct rm_rows_view const *view, rm_turn first, size_t count, struct rm_record *records,
                            uint8_t *results, float *values, struct rm_stream_look *look) {
    size_t good = 0;
    rm_stream_look(&view->stream, look);
    for (size_t i = 0; i < count; ++i) {
        rm_turn const turn = first + i * view->stream.period;
        bool const is_new = look->head != RM_TURN_NONE && turn > look->head;
        float *const row = values + i * view->width;
        results[i] = (uint8_t)(is_new ? RM_READ_NOT_YET : rm_rows_read(view, turn, &records[i], row));
        good += results[i] == RM_READ_OK;
        if (results[i] != RM_READ_OK)
            rows_blank(&records[i], row, view->width);
    }
    /* Each row is of one epoch. That all are of the same is seen here: acquire, pairs with rm_stream_writer_restart. */
    if (atomic_load_explicit(&view->stream.header->turn_epoch, memory_order_acquire) == look->turn_epoch)
        return good;
    memset(results, RM_READ_LAPPED, count);
    for (size_t i = 0; i < count; ++i)
        rows_blank(&records[i], values + i * view->width, view->width);
    return 0;
}
