// SPDX-License-Identifier: Apache-2.0
#include "traffic/pace.h"

static double const NS_PER_S = 1e9;

/** Ticks from the start to a burst. */
static uint64_t pace_ticks_to(struct rm_pace const *pace, uint64_t burst) {
    return (uint64_t)((double)(burst * pace->burst) * pace->ticks_per_frame);
}

static void pace_find_due(struct rm_pace *pace) {
    pace->due_tsc = pace->start_tsc + pace_ticks_to(pace, pace->next / pace->burst);
}

void rm_pace_start(struct rm_pace *pace, struct rm_traffic const *traffic, double tsc_hz, uint64_t tsc) {
    double const packets_per_s = rm_traffic_packets_per_s(traffic);
    *pace = (struct rm_pace){
        .start_tsc = tsc,
        .ticks_per_frame = packets_per_s > 0 ? tsc_hz / packets_per_s : 0,
        .due_tsc = tsc,
        .count = traffic->count > 0 ? traffic->count : UINT64_MAX,
        .burst = traffic->burst,
        .late = traffic->late,
        .late_max_ticks = (uint64_t)((double)traffic->late_max_ns / NS_PER_S * tsc_hz),
    };
}

/** Frames of all bursts that are due `since` ticks after the start. They are due by the product, which is rounded
 * down to a tick, and may be so before the quotient says. */
static uint64_t pace_frames_until(struct rm_pace const *pace, uint64_t since) {
    uint64_t bursts = (uint64_t)((double)since / (pace->ticks_per_frame * pace->burst)) + 1;
    if (pace_ticks_to(pace, bursts) <= since)
        ++bursts;
    return bursts * pace->burst;
}

static uint64_t pace_skip_to(struct rm_pace *pace, uint64_t frame) {
    uint64_t const to = frame < pace->count ? frame : pace->count;
    if (to <= pace->next)
        return 0;
    uint64_t const skipped = to - pace->next;
    pace->next = to;
    pace_find_due(pace);
    return skipped;
}

/** Passes over what is too late at `tsc`. */
static uint64_t pace_skip_late(struct rm_pace *pace, uint64_t tsc) {
    if (tsc - pace->due_tsc <= pace->late_max_ticks)
        return 0;
    uint64_t const since = tsc - pace->start_tsc;
    if (pace->late == RM_TRAFFIC_SKIP_LATE) // the newest burst that is due is not late: it is sent
        return pace_skip_to(pace, pace_frames_until(pace, since) - pace->burst);
    return pace_skip_to(pace, pace_frames_until(pace, since - pace->late_max_ticks - 1));
}

uint32_t rm_pace_due(struct rm_pace *pace, uint64_t tsc, uint64_t *skipped) {
    if (rm_pace_over(pace))
        return 0;
    uint64_t due = RM_TRAFFIC_BURST_MAX < pace->burst ? RM_TRAFFIC_BURST_MAX : pace->burst;
    if (pace->ticks_per_frame > 0) {
        if ((int64_t)(tsc - pace->due_tsc) < 0)
            return 0;
        *skipped += pace_skip_late(pace, tsc);
        if (rm_pace_over(pace) || (int64_t)(tsc - pace->due_tsc) < 0)
            return 0;
        due = pace_frames_until(pace, tsc - pace->start_tsc) - pace->next;
        due = due < RM_TRAFFIC_BURST_MAX ? due : RM_TRAFFIC_BURST_MAX;
    }
    uint64_t const left = pace->count - pace->next;
    return (uint32_t)(due < left ? due : left);
}

void rm_pace_advance(struct rm_pace *pace, uint64_t count) {
    pace->next += count;
    if (pace->ticks_per_frame > 0)
        pace_find_due(pace);
}
