// SPDX-License-Identifier: Apache-2.0
/** A calibration made ready for the hot path: one record at a time, in place, in single precision.
 *
 * For the server, which converts every record before it stores it (RM_CALIBRATED_IN_STREAM). The mathematics is that of
 * ringmaster/calibration.h. Where a lane and its BPM have no order above the first, all five steps are one affine
 * function of the lane and its partner, and only that is calculated.
 *
 * Plain C, which the compiler turns into vectors of four lanes. The same by hand in AVX-512 takes twice as long for
 * first orders (11 instead of 6 ns): a load of 64 bytes waits for the narrower stores that have just made the record.
 * bench/costs/calibrate.c measures it.
 */
#ifndef RM_CALIBRATION_COMPILED_H
#define RM_CALIBRATION_COMPILED_H

#include <ringmaster/calibration.h>

struct rm_calibration_compiled {
    /* out = gain · own + partner_gain · partner + offset, where own is the lane after steps 1 and 2, or as it came when
     * `affine`, and partner the same of the BPM's other lane. */
    _Alignas(RM_CACHE_LINE) float gain[RM_LANES];
    float partner_gain[RM_LANES];
    float offset[RM_LANES];
    /** Index of the BPM's other lane; for a lane of no BPM, its own index. */
    uint32_t partner[RM_LANES];

    float c[4][RM_LANES];
    float k[RM_K_COUNT][RM_LANES];
    /** Bit per lane: it is calibrated. */
    uint16_t calibrated;
    /** Bit per lane: its raw number is f32. */
    uint16_t floats;
    /** All lanes are affine: c and k are not needed. */
    bool affine;
};

/** Makes `*compiled` ready for records of the raw lanes `lanes`. */
void rm_calibration_compile(struct rm_calibration const *calibration, struct rm_lane_info const *lanes,
                            struct rm_calibration_compiled *compiled);

/** Converts the calibrated lanes of a raw record to f32 in their physical unit, in place; turn, tag and all other lanes
 * stay as they are. */
void rm_calibrate_record(struct rm_calibration_compiled const *compiled, struct rm_record *record);

#endif
