// SPDX-License-Identifier: Apache-2.0
/** What each kind of instrument reads of the ring's motion: one weighted sum per lane. A new kind goes here. */
#ifndef RM_INSTRUMENTS_LANE_MODEL_H
#define RM_INSTRUMENTS_LANE_MODEL_H

#include <stdint.h>

#include "motion.h"

/** A lane's value = base + Σ weight · column + noise · Gaussian + Poisson number, rounded to an integer. */
struct rm_lane_model {
    double base;
    double weight[RM_MOTION_COLUMNS];
    /** RMS of the noise, in the lane's unit. */
    double noise;
    /** Mean of the Poisson number, at most RM_POISSON_MEAN_MAX; 0: none is added. */
    double poisson_mean;
};

#define RM_POISSON_MEAN_MAX 8.0

/** What a unit of the energy's sine column is to the lane beam_phase. */
#define RM_LANE_BEAM_PHASE_URAD 2500.0

/** The models of one instrument's lanes, in the order of config/kind_lanes.h. `model` has RM_LANES entries; unused
 * ones become zero. `place` is where the instrument stands on the ring, 0–1 of the circumference; `key` seeds what
 * differs from one to the next. The second BPM of an electronics stands `half` a spacing further. */
void rm_lane_model_make(unsigned kind, struct rm_beam_config const *config, double place, double half, uint64_t key,
                        struct rm_lane_model *model);

#endif
