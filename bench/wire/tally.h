// SPDX-License-Identifier: Apache-2.0
/** One instrument's arrivals: what came, came twice, came in another order, did not come; and the time from one to the
 * next.
 *
 * Counted is what lies in a window of sequence numbers, [begin, end), and not what lies in a time: so nothing is lost
 * at the window's edges that was only on its way. Of the last 64 sequence numbers it is known one by one which came; a
 * datagram that is further behind cannot be told from a duplicate, and counts as one: it was too late.
 *
 * An interval is from one datagram to the one of the next sequence number. Across a gap or after a datagram out of
 * order there is none, for losses are told as losses.
 */
#ifndef RM_BENCH_WIRE_TALLY_H
#define RM_BENCH_WIRE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/histogram.h>

/** Sequence numbers that count, [begin, end). */
struct rm_tally_range {
    uint64_t begin, end;
};

struct rm_tally {
    /** One beyond the highest sequence number that came; 0: none came. */
    _Alignas(64) uint64_t next;
    /** Bit i: sequence number next - 1 - i came. */
    uint64_t came;
    /** TSC when the highest came. */
    uint64_t last_tsc;
    /** Sequence numbers of the window that came, each counted once. */
    uint64_t received;

    uint64_t duplicate;
    /** Those of `received` that came after a higher sequence number. */
    uint64_t reordered;
    /** The sender has ended before this sequence number; UINT64_MAX: that is not known. */
    uint64_t end;

    uint64_t intervals;
    /** In TSC ticks. The greatest interval is in the histogram. */
    uint64_t interval_sum, interval_least;
    /** Histogram of the intervals, in TSC ticks. */
    struct rm_histogram *histogram;
};

/** Starts empty. The histogram is all zero, and outlives the tally. */
void rm_tally_start(struct rm_tally *tally, struct rm_histogram *histogram);

/** Takes a datagram that came at `tsc`. True when it is a new one in the window. */
bool rm_tally_take(struct rm_tally *tally, struct rm_tally_range const *window, uint64_t sequence, uint64_t tsc);

/** How many sequence numbers of the window never came. */
uint64_t rm_tally_lost(struct rm_tally const *tally, struct rm_tally_range const *window);

/** True when nothing more is to be expected in the window, if all comes in order. */
bool rm_tally_over(struct rm_tally const *tally, struct rm_tally_range const *window);

#endif
