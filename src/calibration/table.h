// SPDX-License-Identifier: Apache-2.0
/** The file of a machine's calibrations: a table (CSV), one row per instrument, or per instrument and BPM.
 *
 *     instrument,bpm,x.gain [mm/nm],y.gain [mm/nm],x.mechanical_offset [mm],y.mechanical_offset [mm],roll [mrad]
 *     bpm01,1,1e-6,1e-6,0.013,-0.121,0.4
 *     bpm01,2,1e-6,1e-6,,,
 *
 * Columns stand in any order, and what is missing, column or cell, is the identity. docs/calibration.md has all columns
 * and rules. Units are checked against the lanes' own: an error for anything that does not fit, never a guess. Cold
 * path only.
 */
#ifndef RM_CALIBRATION_TABLE_H
#define RM_CALIBRATION_TABLE_H

#include <stdio.h>

#include <ringmaster/calibration.h>

/** One instrument as the server knows it, and its calibration. */
struct rm_calibration_instrument {
    /* Given: */
    char const *name;
    /** Lanes as the instrument sends them. */
    struct rm_lane_info const *lane;

    uint32_t lane_count;
    /* Filled in: */
    struct rm_calibration calibration;
    /** [lane] unit after calibration. */
    char unit[RM_LANES][RM_UNIT_BYTES];
    /** [lane] line of the row that calibrates it; 0: none does. */
    uint32_t line[RM_LANES];
};

/** Reads the file at `path` for these instruments; those without a row, and lanes without a value, stay as they are.
 * Returns RM_E_SYSTEM when it cannot be read, RM_E_CONFIG and "FILE:LINE:COLUMN: what is wrong, what was expected" for
 * everything else. */
enum rm_code rm_calibration_load_csv(char const *path, struct rm_calibration_instrument *instruments, size_t count,
                                     struct rm_error *error);

/** Sets what rm_calibration_load_csv fills in to "no lane is calibrated". */
void rm_calibration_clear(struct rm_calibration_instrument *instrument);

/** Writes a table to be filled in: a row for every BPM, and for every instrument without one, with the identity in
 * the lanes' own units. RM_E_NO_SPACE. */
enum rm_code rm_calibration_write_template(FILE *out, struct rm_calibration_instrument const *instruments, size_t count,
                                           struct rm_error *error);

#endif
