// SPDX-License-Identifier: Apache-2.0
#include "drift.h"

#include <math.h>

enum { SLOPES = PREMORTEM_DRIFT_BLOCKS * (PREMORTEM_DRIFT_BLOCKS - 1) / 2 };

void premortem_drift_begin(struct premortem_drift *drift, uint32_t steps, double low, double high,
                           double steps_per_second) {
    *drift = (struct premortem_drift){
        .low = low, .high = high, .steps = steps, .blocks_per_second = steps_per_second / steps, .level = NAN};
}

/** Sorted as they come: there are few. */
static void insert_slope(double *sorted, uint32_t count, double slope) {
    uint32_t at = count;
    for (; at > 0 && sorted[at - 1] > slope; --at)
        sorted[at] = sorted[at - 1];
    sorted[at] = slope;
}

static double median_slope(struct premortem_drift const *drift) {
    double sorted[SLOPES];
    uint32_t count = 0;
    for (uint32_t j = 1; j < PREMORTEM_DRIFT_BLOCKS; ++j)
        for (uint32_t i = 0; i < j; ++i) {
            double const newer = drift->block[(drift->next + j) % PREMORTEM_DRIFT_BLOCKS];
            double const older = drift->block[(drift->next + i) % PREMORTEM_DRIFT_BLOCKS];
            insert_slope(sorted, count++, (newer - older) / (j - i));
        }
    return 0.5 * (sorted[SLOPES / 2] + sorted[(SLOPES - 1) / 2]);
}

static double judge_blocks(struct premortem_drift const *drift, double newest) {
    if (newest >= drift->high || newest <= drift->low)
        return drift->blocks_per_second;
    double const slope = median_slope(drift);
    double const way = slope > 0.0 ? drift->high - newest : drift->low - newest;
    return slope == 0.0 ? 0.0 : fmin(1.0, slope / way) * drift->blocks_per_second;
}

double premortem_drift_take(struct premortem_drift *drift, double value) {
    drift->sum += value;
    if (++drift->in_block < drift->steps)
        return drift->level;
    double const mean = drift->sum / drift->steps;
    drift->sum = 0.0;
    drift->in_block = 0;
    drift->block[drift->next] = mean;
    drift->next = (drift->next + 1) % PREMORTEM_DRIFT_BLOCKS;
    drift->blocks += drift->blocks < PREMORTEM_DRIFT_BLOCKS;
    if (drift->blocks == PREMORTEM_DRIFT_BLOCKS)
        drift->level = judge_blocks(drift, mean);
    return drift->level;
}
