// SPDX-License-Identifier: Apache-2.0
/** The arithmetic of the beam, flat over all lanes of all instruments, so that the compiler vectorises it. */
#ifndef RM_INSTRUMENTS_LANE_SUMS_H
#define RM_INSTRUMENTS_LANE_SUMS_H

#include <stdint.h>

#include "motion.h"

/** Arrays of one entry per lane. */
struct rm_lane_sums {
    uint32_t lanes;
    float *base;
    /** RMS of the lane's noise. */
    float *spread;
    /** [RM_MOTION_COLUMNS][lanes]. */
    float *weight;
    /** Seeds the lane's random numbers. */
    uint32_t *key;

    int32_t *value;
};

/** Computes `lanes` lanes from `first` on: value = base + spread · noise + Σ weight · column, to the nearest integer.
 * The noise is normal, of RMS 1, made from key and turn_key (rm_noise_normal_of). The sum must lie below 2^31. */
void rm_lane_sums_turn(struct rm_lane_sums const *sums, uint32_t first, uint32_t lanes, float const *column,
                       uint64_t turn_key);

#endif
