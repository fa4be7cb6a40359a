// SPDX-License-Identifier: Apache-2.0
/** A row ring: the circular buffer of rows of many numbers, such as the spectra of a spectrogram.
 *
 * A record of a stream has twelve lanes, and a spectrum has thousands of values. So a row ring is a stream, and beside
 * each of its slots lies a row of `width` values of f32. The record in slot (T / period) & (capacity - 1) says which
 * turn the row beside it is of, when it was stored, and whether it is to be trusted. All that stream.h says of streams
 * holds here: one writer, any number of readers, a lost row is a slot whose turn does not match, lapped rows are
 * refused, and a restart of the turn counter begins another turn-counter epoch.
 *
 *     struct rm_rows_view rows;
 *     if (rm_workspace_rows(workspace, "tune/spectrum_x", &rows, &error) != RM_OK) …
 *     float *values = malloc(rows.width * sizeof *values);
 *     struct rm_record record;
 *     if (rm_rows_read(&rows, rm_stream_head(&rows.stream), &record, values) == RM_READ_OK) …
 *         … values[i] is that at rm_rows_axis(&rows, i), and record.lane[RM_ROWS_QUALITY].i is 0 where it is good
 *
 * ## How a row is stored and read
 * The values are words of the slot like those of its record, so the promises of stream.h hold for them as for words
 * 1–7: the writer stores them after it has made room for the turn (promise 1: the published head is at least
 * T - margin) and before the turn (promise 4). The margin is one row, as each row is published when it is put.
 *
 * A reader looks where the ring stands (rm_stream_look), reads the record (rm_stream_read), copies the values, and asks
 * whether the slot can have been overwritten since that look (rm_stream_still_valid). rm_rows_read does all this.
 *
 * ## Why values that pass are those of the record, and whole
 *  - At least T's: they were stored before the head that covers T, with release (rm_stream_writer_publish). The reader
 *    has loaded such a head with acquire before it loads the first value: rm_stream_read refuses all other turns.
 *  - No word of a later row: that would be one of T + n × capacity, or of a later turn-counter epoch. A release fence
 *    precedes its store (promises 2 and 5), and the acquire fence of rm_stream_still_valid follows the load that read
 *    it: the two synchronise. So that look sees a head of at least T + capacity - margin, or another turn-counter
 *    epoch than the first look did: refused, as in stream.h.
 *
 * An owner that was killed inside of a row had not published it. The row that lay in this slot before has been refused
 * since the head before was published, because the slot is within the margin. So an adopting owner clears nothing of
 * the values: it goes on as the writer of a stream does (rm_stream_writer_open).
 */
#ifndef RINGMASTER_ROWS_H
#define RINGMASTER_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>

/** Lanes of a row's record. */
enum rm_rows_lane {
    /** i32: 0 where the row is to be trusted; else bits that its writer documents. */
    RM_ROWS_QUALITY = 0,
};

/** The head of a row ring. Its rows lie at `values_offset` from the start of this struct, `row_bytes` from each other,
 * in the order of the slots. The unit of the values is that of the object in the directory. */
struct rm_rows {
    /* Constant since the segment was finished. */

    /** Bytes from the start of this struct to the first row. */
    uint64_t values_offset;
    /** Bytes from one row to the next: a multiple of RM_CACHE_LINE. */
    uint64_t row_bytes;
    /** Values of a row. */
    uint64_t width;
    /** What the first value of a row is at: a tune of 0.05, 0 Hz. */
    double axis_first;
    /** From one value to the next. */
    double axis_step;
    /** What the axis is: "tune", "frequency". */
    char axis_name[RM_LANE_NAME_BYTES];
    /** Its unit: "1/turn", "Hz". */
    char axis_unit[RM_UNIT_BYTES];

    uint64_t reserved[7];
    /** Turns, heads and records. Its slots lie at its own `slots_offset`. */
    _Alignas(RM_CACHE_LINE) struct rm_stream stream;
};

/** A row ring as a reader holds it: as struct rm_stream_view. */
struct rm_rows_view {
    struct rm_rows const *header;
    /** For head, oldest turn and the like. */
    struct rm_stream_view stream;
    /** Place of the row of slot 0. */
    void const *values;
    /** Width and distance of the rows, as checked when the workspace was attached. */
    uint64_t width, row_bytes;
    /** Unit of the values. */
    char const *unit;
};

/** What value `i` of a row is at. */
static inline double rm_rows_axis(struct rm_rows_view const *view, uint64_t i) {
    return view->header->axis_first + (double)i * view->header->axis_step;
}

/** Copies the row of `turn`, a multiple of the period: its record, and `width` values. Wait-free. Unless RM_READ_OK is
 * returned, record and values are worth nothing. */
enum rm_read rm_rows_read(struct rm_rows_view const *view, rm_turn turn, struct rm_record *record, float *values);

/** Copies `count` rows from `first` on, of one turn-counter epoch and up to the head at the beginning, which are in
 * `*look` then. results[i] becomes an enum rm_read. A row that could not be had is a record of zeros and values of NaN.
 * Returns how many are good. */
size_t rm_rows_read_results(struct rm_rows_view const *view, rm_turn first, size_t count, struct rm_record *records,
                            uint8_t *results, float *values, struct rm_stream_look *look);

#endif
