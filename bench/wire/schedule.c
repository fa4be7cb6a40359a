// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include "instruments/noise.h"

void rm_schedule_start(struct rm_schedule *schedule, struct rm_schedule_plan const *plan, uint64_t start_tsc) {
    *schedule = (struct rm_schedule){
        .start_tsc = start_tsc,
        .ticks_per_cycle = plan->rate_hz > 0 ? plan->tsc_hz / plan->rate_hz : 0,
        .jitter_ticks = plan->jitter_s * plan->tsc_hz,
        .key = rm_noise_u64(plan->seed),
        .max_lag_ticks = (uint64_t)(RM_SCHEDULE_MAX_LAG_S * plan->tsc_hz),
        .cycles = plan->cycles,
    };
}

double rm_schedule_displacement(struct rm_schedule const *schedule, uint64_t cycle) {
    if (schedule->jitter_ticks == 0)
        return 0;
    return (2 * rm_noise_uniform(schedule->key + cycle) - 1) * schedule->jitter_ticks;
}

uint64_t rm_schedule_nominal(struct rm_schedule const *schedule, uint64_t cycle) {
    return schedule->start_tsc + (uint64_t)((double)cycle * schedule->ticks_per_cycle);
}

uint64_t rm_schedule_due(struct rm_schedule const *schedule, uint64_t cycle) {
    return rm_schedule_nominal(schedule, cycle) + (uint64_t)(int64_t)rm_schedule_displacement(schedule, cycle);
}

bool rm_schedule_over(struct rm_schedule const *schedule) { return schedule->next >= schedule->cycles; }

/** The newest cycle that is due at `tsc`, of which one is at least. */
static uint64_t newest_due(struct rm_schedule const *schedule, uint64_t tsc) {
    uint64_t const since = tsc > schedule->start_tsc ? tsc - schedule->start_tsc : 0;
    uint64_t newest = (uint64_t)((double)since / schedule->ticks_per_cycle) + 1; /* one more, if it comes early */
    while (newest > schedule->next && rm_schedule_due(schedule, newest) > tsc)
        --newest;
    return newest < schedule->cycles ? newest : schedule->cycles - 1;
}

bool rm_schedule_take(struct rm_schedule *schedule, uint64_t tsc, uint64_t *cycle) {
    if (rm_schedule_over(schedule))
        return false;
    if (schedule->ticks_per_cycle != 0) {
        uint64_t const due = rm_schedule_due(schedule, schedule->next);
        if (tsc < due)
            return false;
        uint64_t const late = tsc - due;
        if (late > schedule->longest_behind_ticks)
            schedule->longest_behind_ticks = late;
        if (late > schedule->max_lag_ticks) {
            uint64_t const newest = newest_due(schedule, tsc);
            schedule->behind += newest - schedule->next;
            schedule->next = newest;
        }
    }
    *cycle = schedule->next++;
    return true;
}
