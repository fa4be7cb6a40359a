// SPDX-License-Identifier: Apache-2.0
/** A finite-impulse-response decimator over whole records: one record in per turn, one out per `decimation` turns.
 *
 * Linear phase, phase-locked to the turn number: output k carries turn `decimation · k`, the centre of its taps, so
 * every server decimates identically. Its last input is turn `decimation · k + centre`.
 *
 * Form: every input is multiplied into each of the `overlap` outputs that it belongs to, one fused multiply-add per
 * lane and output, oldest input first. That order is the definition: all vector versions give the same bits as the
 * scalar reference. Lanes of type i32 are converted to f32 first (exact up to 2^24, rounded to nearest beyond); output
 * lanes are f32.
 *
 * A missing turn is pushed as NULL: it repeats the last value and is counted in the tag of every output it enters.
 */
#ifndef RM_FILTER_DECIMATOR_H
#define RM_FILTER_DECIMATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

enum { RM_OVERLAP_MAX = 18 };

/** A set of taps, constant; made by src/filter/design.py. */
struct rm_fir_design {
    char const *name;    /**< "prompt", "sharp" */
    uint32_t decimation; /**< 12 */
    uint32_t taps;       /**< odd */
    uint32_t centre;  /**< (taps - 1) / 2, also the group delay in turns; centre ≡ decimation - 1 (mod decimation) */
    uint32_t overlap; /**< outputs one input belongs to, (taps + 1) / decimation, at most RM_OVERLAP_MAX */
    double gain;      /**< sum of taps */
    float const *coefficient; /**< [decimation][overlap]: [phase][age]; phase of a turn is (turn mod decimation), age 0
                                 is the output that closes soonest */
};

/** Delay ≤ 12 µs at 1.157 MHz, zeros at multiples of the output rate: two cascaded boxcars, 23 taps. For loops. */
extern struct rm_fir_design const rm_fir_prompt;

/** ±0.1 dB to 0.4 of the output rate, ≥ 80 dB from 0.6 of it: 215 taps. For archives and displays. */
extern struct rm_fir_design const rm_fir_sharp;

enum rm_simd {
    RM_SIMD_SCALAR,
    RM_SIMD_AVX512,
};

/** The best that this CPU has. */
enum rm_simd rm_simd_best(void);
char const *rm_simd_name(enum rm_simd simd);

/** State of one stream; private memory, cache-line aligned. */
struct rm_decimator {
    _Alignas(RM_CACHE_LINE) float accumulator[RM_OVERLAP_MAX][16]; /**< as records: lanes at 4–15 */
    float held[16];                                                /**< last input, converted */
    void (*accumulate)(struct rm_decimator *decimator, struct rm_record const *record);
    struct rm_fir_design const *design;
    rm_turn next_turn;                      /**< turn of the next push */
    uint64_t last_tag;                      /**< tag of the last real input, for its TSC */
    uint32_t oldest;                        /**< index of the accumulator that closes next */
    uint16_t float_lanes;                   /**< bit i: lane i comes as f32 */
    uint16_t group_status[RM_OVERLAP_MAX];  /**< OR of status of each group of `decimation` inputs */
    uint16_t group_missing[RM_OVERLAP_MAX]; /**< missing inputs of each group */
};

/** Makes ready. `float_lanes` bit i says that input lane i is f32 and not i32. */
void rm_decimator_init(struct rm_decimator *decimator, struct rm_fir_design const *design, enum rm_simd simd,
                       uint16_t float_lanes);

/** Starts (again) at `record`: as if all turns before had held its value, each counted missing. Then push it. */
void rm_decimator_start(struct rm_decimator *decimator, struct rm_record const *record);

/** Takes the record of decimator->next_turn, or NULL when it is missing. Returns true when that closed an output: then
 * `*output` is a whole record with turn, tag (rm_tag_decimated) and f32 lanes. */
bool rm_decimator_push(struct rm_decimator *decimator, struct rm_record const *record, struct rm_record *output);

#endif
