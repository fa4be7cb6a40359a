// SPDX-License-Identifier: Apache-2.0
/** The head of a calibration table: what each of its columns gives, and in which unit.
 *
 *     instrument            name of the instrument
 *     bpm                   what to append to the names of lanes in this row: 1 makes x1 of x; may be absent or empty
 *     LANE.QUANTITY [UNIT]  "x.gain [mm/nm]"
 *     rollN [UNIT]          roll of the BPM whose lanes are xN and yN; N may be nothing; in rad, mrad or urad
 */
#ifndef RM_CALIBRATION_COLUMN_H
#define RM_CALIBRATION_COLUMN_H

#include <ringmaster/calibration.h>
#include <ringmaster/csv.h>

enum rm_calibration_quantity {
    /* c0 … c3. */
    RM_QUANTITY_OFFSET,
    RM_QUANTITY_GAIN,
    RM_QUANTITY_C2,
    RM_QUANTITY_C3,
    /* In the order of enum rm_calibration_order. */
    RM_QUANTITY_K10,
    RM_QUANTITY_K30,
    RM_QUANTITY_K12,
    RM_QUANTITY_K50,
    RM_QUANTITY_K32,
    RM_QUANTITY_K14,
    RM_QUANTITY_ELECTRICAL_OFFSET,
    RM_QUANTITY_MECHANICAL_OFFSET,
    RM_QUANTITIES,
};

enum rm_calibration_column_kind {
    RM_COLUMN_INSTRUMENT,
    RM_COLUMN_BPM,
    RM_COLUMN_LANE,
    RM_COLUMN_ROLL,
};

enum { RM_COLUMN_UNIT_BYTES = 3 * RM_UNIT_BYTES };

struct rm_calibration_column {
    enum rm_calibration_column_kind kind;
    /** Name of the lane, or the N of a roll; before "bpm" is appended. */
    char name[RM_LANE_NAME_BYTES];
    /** Quantity of the lane. */
    enum rm_calibration_quantity quantity;
    /** Unit, as written. */
    char unit[RM_COLUMN_UNIT_BYTES];
    /** For a roll: factor from its unit to rad. */
    double factor;
};

/** Reads cell `index` of the head row. RM_E_CONFIG with its place. */
enum rm_code rm_calibration_read_column(struct rm_csv const *csv, uint32_t index, struct rm_calibration_column *column,
                                        struct rm_error *error);

/** Name of a quantity in the head, for example "gain". */
char const *rm_calibration_quantity_name(enum rm_calibration_quantity quantity);

/** A lane's unit as a table gives it; "1" where there is none. */
static inline char const *rm_calibration_unit_text(char const *unit) { return unit[0] != '\0' ? unit : "1"; }

/** The unit that a quantity must be in, given the lane's raw and physical units: "mm/nm^2". */
void rm_calibration_expected_unit(enum rm_calibration_quantity quantity, char const *raw, char const *physical,
                                  char text[RM_COLUMN_UNIT_BYTES]);

/** The physical unit that a column implies for a lane of raw unit `raw`: of "mm/nm^2" for c2 and "nm" it is "mm". False
 * when its unit does not fit; "" for k…, whose unit implies none. */
bool rm_calibration_implied_unit(struct rm_calibration_column const *column, char const *raw,
                                 char physical[RM_UNIT_BYTES]);

#endif
