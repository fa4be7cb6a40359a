// SPDX-License-Identifier: Apache-2.0
/** When frames are due, by the time stamp counter.
 *
 * Burst b is due at start + b · burst / rate, computed from b each time: no error adds up, and rates need not be whole
 * numbers of ticks. The first is due at the start, alone: there is no burst to begin with. What a stall makes late is
 * made up for or skipped, as the description says (traffic.h). Pure functions.
 */
#ifndef RM_TRAFFIC_PACE_H
#define RM_TRAFFIC_PACE_H

#include "traffic/traffic.h"

/** A frame sent so much after its time counts as late. */
#define RM_PACE_LATE_NS 10000

struct rm_pace {
    uint64_t start_tsc;
    /** 0: unpaced. */
    double ticks_per_frame;
    /** TSC at which frame `next` is due. */
    uint64_t due_tsc;
    /** The next frame, from 0. */
    uint64_t next;
    /** UINT64_MAX: no end. */
    uint64_t count;
    uint32_t burst;
    enum rm_traffic_late late;
    uint64_t late_max_ticks;
};

/** Starts; the first burst is due at `tsc`. */
void rm_pace_start(struct rm_pace *pace, struct rm_traffic const *traffic, double tsc_hz, uint64_t tsc);

/** How many frames may be sent at `tsc`, at most RM_TRAFFIC_BURST_MAX: whole bursts, but for the last of a count. Adds
 * to `*skipped` those that will not be sent, which are past then. */
uint32_t rm_pace_due(struct rm_pace *pace, uint64_t tsc, uint64_t *skipped);

/** `count` of the due frames are past: sent, lost, or passed over by a source. */
void rm_pace_advance(struct rm_pace *pace, uint64_t count);

/** All frames of the count are past. */
static inline bool rm_pace_over(struct rm_pace const *pace) { return pace->next >= pace->count; }

#endif
