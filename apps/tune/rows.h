// SPDX-License-Identifier: Apache-2.0
/** Rows: the spectra that the application gives. docs/tune.md says what they are.
 *
 *     tune/spectrum_x, spectrum_y    the band of the newest window, some times a second: amplitude of each bin
 *     tune/sliding_x, sliding_y      a band of the first BPM, new at every turn, told at each step
 */
#ifndef TUNE_ROWS_H
#define TUNE_ROWS_H

#include <ringmaster/application.h>

#include "file.h"
#include "law/every_turn.h"
#include "law/meter.h"

enum tune_rows {
    TUNE_ROWS_SPECTRUM_X,
    TUNE_ROWS_SPECTRUM_Y,
    TUNE_ROWS_SLIDING_X,
    TUNE_ROWS_SLIDING_Y,

    TUNE_ROWS,
};

extern struct rm_application_rows const tune_rows[TUNE_ROWS];

struct tune_rows_memory {
    /** Unit of the spectra, which are of all BPMs. */
    char unit[RM_UNIT_BYTES];
    /** [plane] */
    struct tune_every_turn sliding[TUNE_PLANES];
    bool is_sliding[TUNE_PLANES];
};

/** False without memory. */
bool tune_rows_open(struct tune_rows_memory *rows, struct tune_file const *file);
void tune_rows_close(struct tune_rows_memory *rows);

/** The shape of `which`, of enum tune_rows: for `shape` of the application. */
void tune_rows_shape(struct tune_rows_memory const *rows, struct tune_file const *file,
                     struct rm_application_setup const *setup, uint32_t which, struct rm_rows_shape *shape);

/** At init: the sliding transforms begin anew. */
void tune_rows_begin(struct tune_rows_memory *rows);

/** Takes positions [count][plane][bpms], as tune_meter_push does. */
void tune_rows_push(struct tune_rows_memory *rows, uint64_t turn, float const *position, uint32_t bpms, uint32_t count);

/** Before the meter is read: the spectra that are due go right into their rows. */
void tune_rows_expect(struct tune_meter *meter, struct rm_row const *row);

/** After it: `reading` is that of the meter, or NULL before there was a whole window. */
void tune_rows_tell(struct tune_rows_memory *rows, struct tune_meter const *meter, struct tune_reading const *reading,
                    struct rm_row *row);

#endif
