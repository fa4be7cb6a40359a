// SPDX-License-Identifier: Apache-2.0
/** A finite-impulse-response decimator over whole records: one record in per turn, one out per `decimation` turns.
 *
 * Linear phase, phase-locked to the turn number: outputs carry the turns that are multiples of `decimation`, and such
 * a turn is the centre of the output's taps, so every server decimates identically whenever it was started. With h the
 * taps and x the input of a turn,
 *
 *     output(T) = sum over i in [0, taps) of h[i] · x(T - centre + i),    T = 0, decimation, 2 · decimation, …
 *
 * An output closes with the input of turn T + centre, the last of a group of `decimation` turns.
 *
 * ## The order of operations is the definition
 * Every lane of an output starts at +0 and takes its inputs from the oldest to the newest, each by one fused
 * multiply-add in f32: `sum = fmaf(h[i], x, sum)`. Lanes of type i32 become f32 first (exact to 2^24, beyond it rounded
 * to nearest, ties to even). A lane that is not a number leaves as the one quiet NaN 0x7FC00000. So all versions below
 * give the same bits; the thread must be in the default rounding mode, with denormals on.
 *
 * ## Form
 * Inputs are kept until their group is complete; then each output that the group belongs to is loaded once, takes its
 * inputs in a register, and is stored once. The definition leaves that open, and the inner loop of the sharp filter
 * takes 7 ns a push so, against 13 ns when every input goes through all sums in memory (AVX-512 on Zen 4, 2.6 GHz).
 * Its price: the push that closes a group does all the work of the group, some 100 ns for the sharp filter. So push a
 * turn into the prompt decimators before the sharp ones. Figures: docs/filters.md.
 *
 * ## Missing turns
 * A missing turn is pushed as NULL: it repeats the last value and is counted in the tag of every output whose taps it
 * falls under. It carries no status.
 */
#ifndef RM_FILTER_DECIMATOR_H
#define RM_FILTER_DECIMATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

enum {
    RM_OVERLAP_MAX = 18,
    RM_DECIMATION_MAX = 12,
    RM_RECORD_WORDS = 16, /**< 32-bit words in a record: turn and tag are words 0–3, lane i is word 4 + i */
};

/** A set of taps, constant; made by src/filter/design.py. */
struct rm_fir_design {
    char const *name;    /**< "prompt", "sharp" */
    uint32_t decimation; /**< 12 */
    uint32_t taps;       /**< taps + 1 is a multiple of 2 · decimation, so that outputs close with a group */
    uint32_t centre;     /**< (taps - 1) / 2: the group delay, and the closing delay, in turns */
    uint32_t overlap; /**< outputs that one group belongs to, (taps + 1) / decimation: even, at most RM_OVERLAP_MAX */
    double gain;      /**< at 0 Hz: the exact sum of the taps, within 4e-9 of 1 */
    /** [decimation][overlap]: [phase][age]. The phase of an input is turn mod decimation; age 0 is the output that
     * closes with the input's own group, age a the one that closes a groups later. [0][overlap - 1] is no tap: it is 0
     * and never used. */
    float const *coefficient;
};

/** Delay ≤ 12 µs at 1.157 MHz, zeros at multiples of the output rate: two cascaded boxcars, 23 taps. For loops. */
extern struct rm_fir_design const rm_fir_prompt;

/** ±0.1 dB to 0.4 of the output rate, ≥ 80 dB from 0.6 of it: 215 taps. For archives and displays. */
extern struct rm_fir_design const rm_fir_sharp;

/** Versions of the inner loop, slowest first. */
enum rm_simd {
    RM_SIMD_SCALAR, /**< the reference; any x86-64 */
    RM_SIMD_AVX2,   /**< needs AVX2 and FMA */
    RM_SIMD_AVX512, /**< needs AVX512F */
};

/** The best that this CPU and its operating system have. */
enum rm_simd rm_simd_best(void);

/** "scalar", "AVX2", "AVX-512". */
char const *rm_simd_name(enum rm_simd simd);

/** State of one stream, 2.1 kB; private memory of one thread. Members are for src/filter/ alone.
 *
 * Of the arrays with RM_OVERLAP_MAX + 1 rows, row 0 is the output that closed last and row 1 + a the open one of age a;
 * row `overlap` is an output that has not begun and always zero. Completing a group moves every row down by one. */
struct rm_decimator {
    _Alignas(RM_CACHE_LINE) float sum[RM_OVERLAP_MAX + 1][RM_RECORD_WORDS];
    struct rm_record
        group[RM_DECIMATION_MAX]; /**< inputs by phase, as they came; a missing one repeats without status */
    void (*accumulate)(struct rm_decimator *decimator);
    struct rm_fir_design const *design;
    rm_turn next_turn;       /**< turn of the next push; may be read */
    uint32_t phase;          /**< of the next push: next_turn mod decimation */
    uint16_t float_lanes;    /**< bit i: lane i comes as f32 */
    uint16_t missing_phases; /**< bit p: the input of phase p of this group is missing */
    /** Of each output: bits 16–31 are the OR of its inputs' status, bits 0–15 how many of them are missing. */
    uint32_t tally[RM_OVERLAP_MAX + 1];
};

/** Makes ready, with zeros before turn 0, which is the next. `float_lanes` bit i says that input lane i is f32 and not
 * i32. Unused lanes of inputs are zero, and so are those of outputs. `simd` is at most rm_simd_best(). `design` must
 * outlive the decimator. */
void rm_decimator_init(struct rm_decimator *decimator, struct rm_fir_design const *design, enum rm_simd simd,
                       uint16_t float_lanes);

/** Starts (again) at `record`: as if all turns before had held its value, each counted as missing. Then push it.
 * Takes as long as `overlap - 1` closings, some 2 µs for the sharp one. */
void rm_decimator_start(struct rm_decimator *decimator, struct rm_record const *record);

/** Takes the record of decimator->next_turn, or NULL when it is missing. Returns true when that closed an output: then
 * `*output` is a whole record with its turn, its tag (rm_tag_decimated, with the TSC of the last input that was there)
 * and f32 lanes. Outputs centred before turn 0 are not made. */
bool rm_decimator_push(struct rm_decimator *decimator, struct rm_record const *record, struct rm_record *output);

#endif
