// SPDX-License-Identifier: Apache-2.0
/** A sliding transform: some bins of the last N turns, new at every turn, of many planes at once.
 *
 *     A(k, n) = A(k, n − 1) + (x(n) − x(n − N)) P(k, n mod N),        P(k, m) = round(S e^(−2πi k m/N))
 *
 * the modulated form: the phasor turns, and the sum stands still, so no pole lies on the unit circle. K. Duda,
 * "Accurate, guaranteed stable, sliding discrete Fourier transform", IEEE Signal Process. Mag. 27 (2010) 124.
 *
 * ## Why it cannot drift
 * Positions are whole nm, phasors whole multiples of 1/S, and a phasor depends on k and n mod N alone. What x(n) added
 * is therefore taken off N turns later as the same whole number. All sums are whole numbers of no more than
 * N · max|x| · S ≤ 2^53, which doubles hold exactly: nothing is rounded, ever. After any number of turns the sums are,
 * bit by bit, those of the last N turns alone, in any order and from any instruction set. test_sliding.c holds it.
 *
 * ## What it costs in accuracy
 * Phasors off by up to 1/2 of 1/S. S is the greatest power of two that the range leaves room for: 2^16 for ±16.7 mm and
 * 8192 turns. That adds noise of the root mean square of x times √(N/6)/S to X: as if x had white noise of 1/160 000 of
 * itself; a closed orbit of 1 mm, 6 nm. Take a constant off the positions where that matters.
 *
 * ## What it costs in time
 * A turn of a bin of a plane is two multiplications and additions, two loads, two stores, eight of them side by side in
 * AVX-512. Phasors are made anew at each turn, from a table by one complex product, once for all planes. Several turns
 * at once load and store a sum once: the sums between are then not seen. docs/tune.md has figures, and the floor.
 */
#ifndef TUNE_SLIDING_H
#define TUNE_SLIDING_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/simd.h>

#include "spectrum.h"

enum {
    /** In place of a position: the turn is lost. The last position is held, and the turn counted. */
    TUNE_TURN_LOST = INT32_MIN,
    /** Least range, nm: with less, phasors would not gain. */
    TUNE_SLIDING_RANGE_MIN_NM = 1 << 10,
    TUNE_SLIDING_RANGE_MAX_NM = (1 << 24) - 1,
    TUNE_SLIDING_PLANES_MAX = 512,
    TUNE_SLIDING_TURNS_MAX = 1 << 16,
    /** Bins that are side by side. */
    TUNE_SLIDING_LANES = 8,
    /** Turns that a sum is loaded once for. */
    TUNE_SLIDING_BLOCK = 4,
};

struct tune_sliding {
    uint32_t turns, first_bin, bins, planes;
    /** Bins in groups of TUNE_SLIDING_LANES. */
    uint32_t groups;
    /** Of the next turn: n mod N. */
    uint32_t place;
    int32_t range_nm;
    /** S. */
    double scale;
    enum rm_simd simd;
    /** [group][plane][re, im][lane]: whole numbers of nm/S. */
    double *sum;
    /** [N][re, im] e^(−2πi m/N). */
    double *phasor;
    /** [N][plane] positions of the window, and 1 where the turn was lost. */
    int32_t *history_nm;
    uint8_t *lost;
    /** [plane] turns of the window that were lost. */
    uint32_t *lost_turns;
    /** [plane] turns since the beginning that were beyond the range, and were cut to it. */
    uint64_t *cut_turns;
};

/** For N turns, an even number to TUNE_SLIDING_TURNS_MAX, and bins first_bin to first_bin + bins − 1 < N/2. All
 * positions before are 0. False without memory. */
bool tune_sliding_open(struct tune_sliding *sliding, uint32_t turns, uint32_t first_bin, uint32_t bins, uint32_t planes,
                       int32_t range_nm, enum rm_simd simd);
void tune_sliding_close(struct tune_sliding *sliding);

/** As after the opening: where turns were counted anew. */
void tune_sliding_clear(struct tune_sliding *sliding);

/** Takes `count` turns, position_nm[turn][plane]. */
void tune_sliding_push(struct tune_sliding *sliding, int32_t const *position_nm, uint32_t count);

/** X of a plane's bins, in nm and with the phase of spectrum.h: of a window that begins with its oldest turn. */
void tune_sliding_bins(struct tune_sliding const *sliding, uint32_t plane, struct tune_bin *bin);

#endif
