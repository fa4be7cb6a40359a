// SPDX-License-Identifier: Apache-2.0
/** One row of a calibration table: from cells to the coefficients of one instrument's lanes. Within this room only. */
#ifndef RM_CALIBRATION_ROW_H
#define RM_CALIBRATION_ROW_H

#include "base/nearest.h"
#include "calibration/column.h"
#include "calibration/table.h"

enum { RM_CALIBRATION_COLUMNS_MAX = 512 };

/** The file while it is read. */
struct rm_calibration_table {
    struct rm_csv csv;
    struct rm_calibration_column column[RM_CALIBRATION_COLUMNS_MAX];
    uint32_t column_count;
    struct rm_calibration_instrument *instruments;
    size_t count;
    struct rm_error *error;
};

/** One row: which quantities it gives for each lane of its instrument. */
struct rm_calibration_row {
    struct rm_calibration_instrument *instrument;
    /** What is appended to the names of lanes. */
    char const *suffix;
    /** Bit per quantity; bit RM_QUANTITIES stands for the BPM's roll. */
    uint32_t given[RM_LANES];
    /** The physical unit, "" until a column implies one. */
    char implied[RM_LANES][RM_UNIT_BYTES];
    /** [lane] a cell that is about the lane. */
    uint32_t cell[RM_LANES];
};

/** Where a cell of the row stands in its line. */
static inline uint32_t rm_calibration_cell_place(struct rm_calibration_table const *table, uint32_t cell) {
    return table->csv.cell[cell].column;
}

/** Writes " (did you mean "bpm01"?)", or "". */
char const *rm_calibration_guess(struct rm_nearest const *nearest, char text[64]);

/** Reads the row's cells into the calibration of row->instrument, checks them, and marks the lanes as calibrated. */
enum rm_code rm_calibration_read_row(struct rm_calibration_table const *table, struct rm_calibration_row *row);

#endif
