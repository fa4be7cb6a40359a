// SPDX-License-Identifier: Apache-2.0
/** What a decimator makes of the lanes that are no signal: bits, states, peaks (enum rm_reduction).
 *
 * An output of turn T holds the reduction of the inputs of the turns [T, T + decimation · period): those that share its
 * address, each exactly one output's. Lanes keep their type. Missing inputs do not take part; when all are missing, the
 * last input that was there stands for them. So, of decimators in a row, each output is the reduction of the
 * instrument's own records of its turns: a bit that was set for one turn shows at every rate, in one record.
 *
 *     last       the newest input, bit for bit
 *     or, and    of i32, bit by bit
 *     min, max   of i32 or f32; a NaN only where all inputs are
 *
 * The output of a filter closes some groups after that of its turn, so the reductions of the groups between wait here.
 * One version for all CPUs. An instrument whose lanes are all filtered pays one branch per group.
 */
#ifndef RM_FILTER_REDUCE_H
#define RM_FILTER_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

#include "filter/design.h"

/** One group, reduced. */
struct rm_reduced_group {
    union rm_lane lane[RM_LANES];
    /** All its inputs are missing. */
    bool absent;
};

struct rm_reducer {
    /** Some lane is reduced, and not filtered. */
    bool active;
    /** enum rm_reduction. */
    uint8_t reduction[RM_LANES];
    /** Bit i: lane i is f32. */
    uint16_t float_lanes;
    /** Groups from that of an output's turn to the one that closes it, both included. */
    uint32_t rows;
    /** Reduced groups, the oldest first. */
    struct rm_reduced_group row[RM_OVERLAP_MAX / 2];
};

/** Makes a reducer. `overlap` is the design's; `float_lanes` are those of the instrument's records. */
void rm_reducer_init(struct rm_reducer *reducer, uint8_t const reduction[RM_LANES], uint16_t float_lanes,
                     uint32_t overlap);

/** Bit per lane: it is reduced. */
uint16_t rm_reducer_lanes(struct rm_reducer const *reducer);

/** Starts as if all groups before had been missing, after an input with these lanes. */
void rm_reducer_start(struct rm_reducer *reducer, struct rm_record const *record);

/** Takes a complete group; bit p of `absent` says that input p is missing (it holds the one before it). */
void rm_reducer_take(struct rm_reducer *reducer, struct rm_record const *group, uint32_t decimation, uint16_t absent);

/** Writes the reduced lanes of the output that the last group closes; other lanes are left alone. */
void rm_reducer_give(struct rm_reducer const *reducer, struct rm_record *output);

#endif
