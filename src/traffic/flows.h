// SPDX-License-Identifier: Apache-2.0
/** What became of the stamped frames of each flow: received, lost, duplicated, out of order, and how long they took.
 *
 * The sending port counts what it has stamped, the receiving side what it has seen. All counts only grow, as those of
 * streams do: a reader takes the difference of two readings. A flow may come to several receiving sides; their counts
 * add up. None of it depends on what was sent before the reader looked.
 *
 * A receiving side remembers the last RM_FLOW_WINDOW sequence numbers of each flow, which tells a copy from a frame out
 * of order. What is older than that counts as out of order, and as a flow's longest delay may be that much.
 *
 * Memory ordering: relaxed, one writer each. A copy taken while frames come may have a frame in one count and not yet
 * in another.
 */
#ifndef RM_TRAFFIC_FLOWS_H
#define RM_TRAFFIC_FLOWS_H

#include <stdalign.h>

#include <ringmaster/histogram.h>

#include "traffic/flow_stamp.h"

enum { RM_FLOW_WINDOW = 1024 };

/** Of one flow, at the sending port. */
struct rm_flow_sent {
    /** Frames stamped: the next sequence number. */
    _Atomic uint64_t stamped;
};

/** Of one flow, at one receiving side. */
struct rm_flow_seen {
    /** Frames, copies too. */
    alignas(64) _Atomic uint64_t received;
    _Atomic uint64_t duplicated;
    _Atomic uint64_t out_of_order;
    /** One more than the highest sequence number. */
    _Atomic uint64_t next;
    /** Frames whose time was in the future: of another time base, or broken. Not in the histogram. */
    _Atomic uint64_t from_future;

    /** Bit n % RM_FLOW_WINDOW: sequence number n of the last RM_FLOW_WINDOW was seen. */
    uint64_t window[RM_FLOW_WINDOW / 64];
    /** From stamp to receipt, ticks. */
    struct rm_histogram latency;
};

/** The flows that one receiving side has seen, in RM_FLOWS places. */
struct rm_flows {
    uint16_t key;
    struct rm_flow_seen *seen;
};

enum rm_code rm_flows_init(struct rm_flows *flows, uint16_t key, struct rm_error *error);
void rm_flows_free(struct rm_flows *flows);

/** Counts a stamp that came at `tsc`. */
void rm_flows_count(struct rm_flows *flows, struct rm_flow_stamp const *stamp, uint64_t tsc);

/** A flow as a reader has it: sums over receiving sides. */
struct rm_flow_reading {
    uint64_t stamped;
    uint64_t received;
    uint64_t duplicated;
    uint64_t out_of_order;
    /** Of those before the newest that came: in flight frames are not lost yet. */
    uint64_t lost;
    uint64_t from_future;
    /** Of the latencies. */
    uint64_t latency_total;
    uint64_t latency_largest_ticks;
    uint64_t latency[RM_HISTOGRAM_BUCKETS];
};

/** Reads flow `flow` of RM_FLOWS: `sent` may be NULL. From any thread. */
void rm_flow_read(struct rm_flow_sent const *sent, struct rm_flows const *const *sides, uint32_t side_count,
                  uint32_t flow, struct rm_flow_reading *reading);

/** Takes an earlier reading away, so that what has come since is left; the largest latency is then the end of the last
 * bucket that has any. */
void rm_flow_reading_subtract(struct rm_flow_reading *reading, struct rm_flow_reading const *earlier);

/** The latency in ticks below which `share` of the frames are, 0 … 1, to the end of its bucket. 0 without any. */
uint64_t rm_flow_latency_ticks(struct rm_flow_reading const *reading, double share);

#endif
