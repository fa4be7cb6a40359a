// SPDX-License-Identifier: Apache-2.0
/** The catalog of filters: two forms, each for every decimation of RM_FIR_DECIMATIONS. Constant; made by
 * src/filter/design.py, explained in docs/filters.md.
 *
 *     low-latency   two cascaded boxcars: zeros at the multiples of the output rate, and the least delay that has them.
 *              2 · decimation - 1 taps. For loops
 *     sharp    ±0.1 dB to 0.4 of the output rate, ≥ 80 dB from 0.6 of it. 18 · decimation - 1 taps. For archives and
 *              displays
 */
#ifndef RM_FILTER_DESIGN_H
#define RM_FILTER_DESIGN_H

#include <stdint.h>

enum {
    RM_OVERLAP_MAX = 18,
    RM_DECIMATION_MAX = 12,
    RM_FIR_DESIGNS = 16,
};

struct rm_fir_design {
    /** "low-latency" or "sharp". */
    char const *name;
    /** 2 … RM_DECIMATION_MAX. */
    uint32_t decimation;
    /** Taps + 1 is a multiple of 2 · decimation, so that outputs close with a group. */
    uint32_t taps;
    /** (taps - 1) / 2: the group delay, and the closing delay, in inputs. */
    uint32_t centre;
    /** Outputs that one group belongs to, (taps + 1) / decimation: even, at most RM_OVERLAP_MAX. */
    uint32_t overlap;
    /** Gain at 0 Hz: the exact sum of the taps, within 4e-9 · 12 / decimation of 1. */
    double gain;
    /** [decimation][overlap]: [phase][age]. The phase of an input is its number mod decimation; age 0 is the output
     * that closes with the input's own group, age a the one that closes a groups later. [0][overlap - 1] is no tap: it
     * is 0 and never used. */
    float const *coefficient;
};

/** All designs, by name, and by ascending decimation. */
extern struct rm_fir_design const rm_fir_designs[RM_FIR_DESIGNS];

/** The design of this name and decimation; NULL when there is none. */
struct rm_fir_design const *rm_fir_find(char const *name, uint32_t decimation);

/** Splits a decimation into designs of `name`: as few as possible, up to `most`, the largest decimation first. Returns
 * how many, or 0 when it is no such product. `decimation` 1 needs none. */
uint32_t rm_fir_split(char const *name, uint32_t decimation, uint32_t most, struct rm_fir_design const **stage);

#endif
