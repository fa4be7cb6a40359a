// SPDX-License-Identifier: Apache-2.0
/** From raw numbers to physical units.
 *
 * ## The model
 * An instrument has lanes of raw numbers r, and some of its lanes belong two by two to beam position monitors: the
 * lanes named x and y, x1 and y1, x2 and y2, … Everything is in the lane's physical unit U (a text, "mm") once step 1
 * is done; R is the unit of the raw number.
 *
 *  1. Each calibrated lane by itself, a polynomial:
 *         p = c0 + c1 r + c2 r² + c3 r³                    c0 in U, c1 in U/R, c2 in U/R², c3 in U/R³
 *  2. Each BPM, x and y together: the pick-up's non-linearity, odd orders up to the fifth. With (x, y) from step 1,
 *         x' = x (k10 + k30 x² + k12 y² + k50 x⁴ + k32 x² y² + k14 y⁴)
 *         y' = y (k10 + k30 y² + k12 x² + k50 y⁴ + k32 y² x² + k14 x⁴)
 *     Each plane has coefficients of its own. The first digit is the power of the plane's own position, the second that
 *     of the other plane's. k10 is a number, k30 and k12 are in 1/U², k50, k32 and k14 in 1/U⁴.
 *  3. The electrical offset, of cables and electronics, in U, per plane: what is left when the beam is in the
 *     electrical centre. It is subtracted: x'' = x' - electrical_offset.
 *  4. The roll φ in rad: the angle by which the pick-up is turned about the beam axis, positive from x towards y.
 *         x''' = x'' cos φ - y'' sin φ
 *         y''' = x'' sin φ + y'' cos φ
 *  5. The mechanical (or beam-based) offset in U, per plane: the reading that is left for a beam on the reference axis,
 *     for instance the magnetic centre of the quadrupole beside. It is subtracted: x = x''' - mechanical_offset. The
 *     surveyed position of the BPM's centre goes in with its sign changed.
 *
 * The identity is c1 = 1, k10 = 1 and all else 0, in U = R. A BPM's x and y are one measurement: where one of them is
 * not finite, neither is the other.
 *
 * ## Where it is applied
 * Either in reading: the stream holds raw numbers (RM_CALIBRATED_IN_READING) and a reader that wants physical units
 * converts what was read, in double precision. Or in the stream (RM_CALIBRATED_IN_STREAM): the server converts every
 * record before it is stored and decimated, in single precision (24 bits); its lane table has the physical unit and
 * f32. So
 *
 *     struct rm_calibrated_stream bpm;
 *     if (rm_stream_calibration(workspace, "bpm01/turn", &bpm, &error) != RM_OK) …
 *     rm_calibrate(&bpm.calibration, &record, view.header->lane, out);       // out[i] is in bpm.unit[i]
 *
 * gives physical units in both cases, and raw numbers where there is no calibration. Steps of higher order do not
 * commute with a filter: in a decimated stream of raw numbers they act on the filtered position.
 *
 * ## In shared memory
 * The parameter "calibration/INSTRUMENT" holds struct rm_calibration as RM_CALIBRATION_VALUES doubles, in this order;
 * the text "calibration/INSTRUMENT/units" has a line "LANE\tR\tU\n" for each lane. Both are there whenever a stream of
 * the instrument is calibrated, either way. The layout is of version RM_CALIBRATION_VERSION, the first of the values:
 *
 *     0             version, 1
 *     1             BPMs, 0–6
 *     2             calibrated lanes: bit i of this whole number is lane i
 *     3             0
 *     4 + 4 i + j   c_j of lane i, i < 12, j < 4
 *     52 + 20 b     BPM b: lane of x, lane of y, roll, 0,
 *                   then for x, and after that for y: k10, k30, k12, k50, k32, k14,
 *                   electrical offset, mechanical offset
 */
#ifndef RINGMASTER_CALIBRATION_H
#define RINGMASTER_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>
#include <ringmaster/stream.h>
#include <ringmaster/workspace.h>

enum {
    /** Version of the layout above: the first value of each calibration. */
    RM_CALIBRATION_VERSION = 1,
    /** Most BPMs of an instrument: each has two lanes. */
    RM_CALIBRATION_BPMS = RM_LANES / 2,
    /** Doubles in struct rm_calibration. */
    RM_CALIBRATION_VALUES = 172,
};

/** Indices into rm_calibration_plane.k: the powers of the plane's own position and of the other plane's. */
enum rm_calibration_order {
    RM_K10 = 0,
    RM_K30 = 1,
    RM_K12 = 2,
    RM_K50 = 3,
    RM_K32 = 4,
    RM_K14 = 5,
    RM_K_COUNT = 6,
};

/** Step 1: the polynomial of one lane. c[n] is in U/Rⁿ. */
struct rm_calibration_lane {
    double c[4];
};

/** Steps 2, 3 and 5 of one plane of a BPM. */
struct rm_calibration_plane {
    /** Step 2: coefficients by enum rm_calibration_order. */
    double k[RM_K_COUNT];
    /** Step 3, in U. */
    double electrical_offset;
    /** Step 5, in U. */
    double mechanical_offset;
};

/** Steps 2 to 5 of one BPM. */
struct rm_calibration_bpm {
    /** Whole numbers: indices of the BPM's two lanes in the record. */
    double x_lane, y_lane;
    /** Step 4: the roll φ, positive from x towards y. */
    double roll_rad;

    double reserved;
    struct rm_calibration_plane x, y;
};

/** One instrument's calibration. It consists of doubles alone, so that it can be the values of a parameter. */
struct rm_calibration {
    /** RM_CALIBRATION_VERSION */
    double version;
    /** A whole number, 0–6: how many of `bpm` are used. */
    double bpm_count;
    /** A whole number: bit i is set when lane i is calibrated. The other lanes stay raw. */
    double calibrated_lanes;

    double reserved;
    struct rm_calibration_lane lane[RM_LANES];
    struct rm_calibration_bpm bpm[RM_CALIBRATION_BPMS];
};

_Static_assert(sizeof(struct rm_calibration) == RM_CALIBRATION_VALUES * sizeof(double), "the layout above");
_Static_assert(offsetof(struct rm_calibration, bpm) == 52 * sizeof(double), "the layout above");
_Static_assert(sizeof(struct rm_calibration_bpm) == 20 * sizeof(double), "the layout above");

/** A calibration that changes nothing, with no lane calibrated, for an instrument with these lanes: finds its BPMs by
 * the lanes' names. */
void rm_calibration_identity(struct rm_calibration *calibration, struct rm_lane_info const *lanes, uint32_t lane_count);

/** Whether the values can be used: the version is known, counts and lanes are within bounds, every number is finite. */
bool rm_calibration_is_good(struct rm_calibration const *calibration);

/** Whether lane i is calibrated. */
static inline bool rm_calibration_has_lane(struct rm_calibration const *calibration, uint32_t lane) {
    return ((uint32_t)calibration->calibrated_lanes >> lane & 1u) != 0;
}

/** Converts one record. `lanes` is the lane table of its stream and tells i32 from f32. `out` gets RM_LANES numbers:
 * calibrated lanes in their physical unit, others as they are, unused ones 0. */
void rm_calibrate(struct rm_calibration const *calibration, struct rm_record const *record,
                  struct rm_lane_info const *lanes, double out[RM_LANES]);

/** Converts `count` records, as rm_stream_read_window gives them: row i of `out` is record i; NaN throughout where it
 * could not be had (its turn is RM_TURN_NONE). */
void rm_calibrate_window(struct rm_calibration const *calibration, struct rm_record const *records, size_t count,
                         struct rm_lane_info const *lanes, double (*out)[RM_LANES]);

/** What makes physical units of a stream's records. */
struct rm_calibrated_stream {
    /** What the stream's head says. */
    enum rm_calibrated stated;
    /** What is left to do in reading. It is the identity where the stream is in physical units already, or has no
     * calibration. */
    struct rm_calibration calibration;
    /** Units of what rm_calibrate gives, per lane. */
    char unit[RM_LANES][RM_UNIT_BYTES];
};

/** Finds it by the stream's name, "bpm01/turn". RM_E_NOT_FOUND where there is no such stream, or where a stream that
 * says it is calibrated has no calibration; RM_E_VERSION where its layout is of a version that is not known here. */
enum rm_code rm_stream_calibration(struct rm_workspace const *workspace, char const *stream,
                                   struct rm_calibrated_stream *calibration, struct rm_error *error);

/** The calibration that the server uses for an instrument, "bpm01", wherever it is applied. Errors as above. */
enum rm_code rm_instrument_calibration(struct rm_workspace const *workspace, char const *instrument,
                                       struct rm_calibration *calibration, struct rm_error *error);

#endif
