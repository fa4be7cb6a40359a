// SPDX-License-Identifier: Apache-2.0
/** Included once per instruction set, by a file that has defined RM_GUARD_TARGET, the attribute of its functions, and
 * RM_GUARD_TAKE and RM_GUARD_STEP, their names (guard_pass.h). Loops have no branches, so that compilers vectorise
 * them. */
#include "engine/guard_pass.h"

RM_GUARD_TARGET struct rm_guard_taking RM_GUARD_TAKE(uint32_t count, double const *restrict value,
                                                     double const *restrict low, double const *restrict high,
                                                     double const *restrict setpoint, double const *restrict step,
                                                     double *restrict target) {
    struct rm_guard_taking taking = {0};
    for (uint32_t i = 0; i < count; ++i) {
        bool const within = (value[i] >= low[i]) & (value[i] <= high[i]);
        bool const too_far = (value[i] > setpoint[i] + step[i]) | (value[i] < setpoint[i] - step[i]);
        target[i] = within ? value[i] : target[i];
        taking.refused += !within;
        taking.shortened += within & too_far;
    }
    return taking;
}

RM_GUARD_TARGET void
RM_GUARD_STEP(uint32_t count, double const *restrict target, double *restrict setpoint, double const *restrict step,
              float const *restrict low, float const *restrict high, float *restrict sent) {
    for (uint32_t i = 0; i < count; ++i) {
        double const least = setpoint[i] - step[i], most = setpoint[i] + step[i];
        double const above = target[i] > least ? target[i] : least;
        setpoint[i] = above < most ? above : most;
    }
    for (uint32_t i = 0; i < count; ++i) {
        float const rounded = (float)setpoint[i];
        float const above = rounded > low[i] ? rounded : low[i];
        sent[i] = above < high[i] ? above : high[i];
    }
}
