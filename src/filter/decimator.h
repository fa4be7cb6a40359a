// SPDX-License-Identifier: Apache-2.0
/** A finite-impulse-response decimator over whole records: one record in per input period, one out per `decimation` of
 * them. Decimators stand in a row: what leaves one is the input of the next.
 *
 * Linear phase, phase-locked to the turn number: outputs carry the turns that are multiples of period · decimation, and
 * such a turn is the centre of the output's taps, so every server decimates identically whenever it was started. With h
 * the taps, x the input of a turn and p the period of the inputs in turns,
 *
 *     output(T) = sum over i in [0, taps) of h[i] · x(T + (i - centre) · p),    T = 0, decimation · p, …
 *
 * An output closes with the input of turn T + centre · p, the last of a group of `decimation` inputs.
 *
 * ## The order of operations is the definition
 * Every lane of an output starts at +0 and takes its inputs from the oldest to the newest, each by one fused
 * multiply-add in f32: `sum = fmaf(h[i], x, sum)`. Lanes of type i32 become f32 first (exact to 2^24, beyond it rounded
 * to nearest, ties to even). A lane that is not a number leaves as the one quiet NaN 0x7FC00000. So all versions below
 * give the same bits; the thread must be in the default rounding mode, with denormals on.
 *
 * Lanes that are no signal (bits, states, peaks) are reduced instead, over the inputs of the turns [T, T + decimation ·
 * p): reduce.h.
 *
 * ## Form
 * Inputs are kept until their group is complete; then each output that the group belongs to is loaded once, takes its
 * inputs in a register, and is stored once. The definition leaves that open, and the inner loop of the sharp filter
 * takes 7 ns a push so, against 13 ns when every input goes through all sums in memory (AVX-512 on Zen 4, 2.6 GHz).
 * Its price: the push that closes a group does all the work of the group, some 100 ns for the sharp filter. So push a
 * turn into the low-latency decimators before the sharp ones. Figures: docs/filters.md.
 *
 * ## Missing inputs
 * A missing input is pushed as NULL: it repeats the last value and carries no status.
 *
 * What is counted is always the instrument's own records, however many decimators lie between: the tag of an output
 * says how many of those under the taps of all of them together were missing, each counted once. For that a running
 * count of missing records goes with the inputs: its value before the first record under an input's taps, and after the
 * last. An output knows that of its first input and that of its last; their difference is its count. Where a decimator
 * had to do without inputs that the one before never gave (it began anew after an outage), each is taken for all
 * missing: the count may then be too high by the records under the taps of one input and those between two, never too
 * low.
 */
#ifndef RM_FILTER_DECIMATOR_H
#define RM_FILTER_DECIMATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/record.h>
#include <ringmaster/simd.h>

#include "filter/design.h"
#include "filter/reduce.h"

/** 32-bit words in a record: turn and tag are words 0–3, lane i is word 4 + i. */
enum { RM_RECORD_WORDS = 16 };

/** What an instrument's records are like. */
struct rm_decimator_input {
    /** Turns from one record to the next, at least 1. */
    uint64_t period;
    /** Bit i: lane i is f32 and not i32. */
    uint16_t float_lanes;
    /** enum rm_reduction of each lane. */
    uint8_t reduction[RM_LANES];
};

/** Output of a decimator: a whole record with its turn, its tag (rm_tag_decimated, with the TSC of the last input that
 * was there) and its lanes, f32 where they were filtered; and what the next decimator needs to know. */
struct rm_decimated {
    struct rm_record record;
    /** Running count before the first record under the taps; wraps. */
    uint32_t missing_before;
    /** Running count after the last record under the taps; wraps. */
    uint32_t missing_after;
    /** All records of the turns that it is reduced over are missing; set where lanes are reduced. */
    bool absent;
};

/** Inputs of decimators, until a group of `decimation` is complete. Decimators with the same inputs and the same
 * decimation share one: a record is then kept once for all of them. */
struct rm_inputs {
    /** Turn of the next push; RM_TURN_NONE: not begun. */
    _Alignas(RM_CACHE_LINE) rm_turn next_turn;
    /** Turns from one input to the next. */
    uint64_t period;

    uint32_t decimation;
    /** Phase of the next push: (next_turn / period) mod decimation. */
    uint32_t phase;
    /** Running count of the instrument's missing records, after the last input. */
    uint32_t missing;
    /** Number of the instrument's records from one input to the next. */
    uint32_t weight;
    /** Number of the instrument's records under the taps of one input. */
    uint32_t span;
    /** Bit p: the input of phase p of this group is missing. */
    uint16_t absent_phases;
    /** [phase] running count before the input. */
    uint32_t missing_before[RM_DECIMATION_MAX];
    /** [phase] inputs as they came; a missing one repeats the last without its status. */
    _Alignas(RM_CACHE_LINE) struct rm_record record[RM_DECIMATION_MAX];
};

/** State of one stream, 2.7 kB; private memory of one thread. Members are for src/filter/ alone, except those that may
 * be read.
 *
 * Of the arrays with RM_OVERLAP_MAX + 1 rows, row 0 is the output that closed last and row 1 + a the open one of age a;
 * row `overlap` is an output that has not begun and always zero. Completing a group moves every row down by one. */
struct rm_decimator {
    _Alignas(RM_CACHE_LINE) float sum[RM_OVERLAP_MAX + 1][RM_RECORD_WORDS];
    /** Inputs of the decimator that it shares them with; NULL: it has its own. */
    struct rm_inputs *shared;

    void (*accumulate)(struct rm_decimator *decimator);
    /** May be read. */
    struct rm_fir_design const *design;
    /** Turns from an output's turn to that of its last input. */
    uint64_t centre_turns;
    /** Turns from an output's turn to the instrument's last record in it; may be read. */
    uint64_t closing_turns;
    /** Bit i: lane i comes as f32. */
    uint16_t float_lanes;
    /** The arrays of outputs are rings of `overlap`: place of the next output to begin. */
    uint32_t begun_at;
    /** The array of groups is a ring of `overlap` - 1: place of the next group to complete. */
    uint32_t grouped_at;
    /** [output] running count before its first input. */
    uint32_t output_before[RM_OVERLAP_MAX];
    /** [output] OR of its inputs' status in the group it began with. */
    uint16_t output_status[RM_OVERLAP_MAX];
    /** OR of the status of all inputs of the output that closed last. */
    uint16_t closing_status;
    /** [group] OR of its inputs' status; else 0, as at the place of the next. */
    _Alignas(8) uint16_t group_status[RM_OVERLAP_MAX + 2];

    struct rm_reducer reducer;
    struct rm_inputs own;
};

/** Notes that the caller has put `count` inputs into their places, none beyond the end of the group, and none missing.
 * A group that they complete must be closed. */
void rm_inputs_follow(struct rm_inputs *inputs, uint32_t count);

/** The inputs of a decimator. */
static inline struct rm_inputs const *rm_decimator_inputs(struct rm_decimator const *decimator) {
    return decimator->shared != NULL ? decimator->shared : &decimator->own;
}

/** Makes the first decimator behind an instrument. It begins at turn 0, as if zeros had come before. Unused lanes of
 * inputs are zero, and so are those of outputs. `simd` is at most rm_simd_best(). `design` must outlive it. */
void rm_decimator_init(struct rm_decimator *decimator, struct rm_fir_design const *design, enum rm_simd simd,
                       struct rm_decimator_input const *input);

/** Makes a decimator that shares the inputs of `first`, which has inputs of its own and the same decimation. Both are
 * started together, `first` alone is filled, and then both are closed. `first` must stay where it is. */
void rm_decimator_init_beside(struct rm_decimator *decimator, struct rm_fir_design const *design,
                              struct rm_decimator *first);

/** Makes a decimator behind another, with the same version of the inner loop. It has not begun. */
void rm_decimator_init_after(struct rm_decimator *decimator, struct rm_fir_design const *design,
                             struct rm_decimator const *before);

/** Forgets everything: it has not begun. */
void rm_decimator_reset(struct rm_decimator *decimator);

/** Starts, or starts again, at `record`, as if all records before had had its value, each counted as missing. Then
 * push it. Takes as long as `overlap - 1` closings, some 2 µs for the sharp one. The first function goes with
 * rm_decimator_push, the second with rm_decimator_push_decimated. */
void rm_decimator_start(struct rm_decimator *decimator, struct rm_record const *record);
void rm_decimator_start_decimated(struct rm_decimator *decimator, struct rm_decimated const *input);

/** Takes the record of decimator->next_turn, or NULL when it is missing. Returns true when that closed an output.
 * Outputs centred before turn 0 are not made. */
bool rm_decimator_push(struct rm_decimator *decimator, struct rm_record const *record, struct rm_decimated *output);

/** The two halves of rm_decimator_push, to separate the eleven pushes of twelve from the one that does the work. The
 * first is true when the group is complete; then call the second, which closes it. */
bool rm_decimator_fill(struct rm_decimator *decimator, struct rm_record const *record);
bool rm_decimator_close(struct rm_decimator *decimator, struct rm_decimated *output);

/** As rm_decimator_push, for the output of the decimator before; for a missing one call rm_decimator_push with NULL. */
bool rm_decimator_push_decimated(struct rm_decimator *decimator, struct rm_decimated const *input,
                                 struct rm_decimated *output);

#endif
