// SPDX-License-Identifier: Apache-2.0
/** What the electronics of a BPM make of a position, beyond the white noise of all lanes.
 *
 *     position with noise ─▶ swapped cables ─▶ wrong sign ─▶ 1/f noise ─▶ glitches ─▶ ADC ─▶ reading
 *
 * **1/f noise** of the density S(f) = S_white · corner_hz / f, one-sided, in (unit)² / Hz, with S_white = 2 σ² / f_turn
 * of a white noise of RMS σ at turn rate. It is the sum of 32 random numbers, of which number k stays for 2^k readings
 * (R. F. Voss; M. Gardner, Scientific American 238, no. 4, 16, 1978). Each has the power of one octave, σ² · 2 ln 2 ·
 * corner_hz / f_turn. So it is a function of the turn alone. Octaves whose density is below a thousandth of the white
 * noise's are left out, which leaves little to compute for a corner far below the rate.
 *
 * **A glitch** is a reading that is off by `glitch_nm`, up or down, in each plane by itself.
 *
 * **ADC**: of a code of n bits for ±range_nm, code = ⌊v / q⌉ with q = range / 2^(n−1), from −2^(n−1) to 2^(n−1) − 1.
 * The reading is code · q, to the nearest nanometre.
 *
 * All is a function of seed and turn: asked for in any order, the same bits.
 */
#ifndef RM_INSTRUMENTS_READOUTS_H
#define RM_INSTRUMENTS_READOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "beam.h"

enum {
    RM_READOUT_X = 1,
    RM_READOUT_Y = 2,
    RM_READOUT_OCTAVES = 32,
    RM_READOUT_ADC_BITS_MAX = 32,
};

/** The electronics of one BPM. All 0: as if there were none. */
struct rm_readout_config {
    uint32_t instrument;
    /** Its x; y is the next lane. */
    uint32_t lane;
    /** Turns from one reading to the next. */
    uint32_t period_turns;
    /** RMS of its white noise at turn rate; negative: that of the beam's configuration. */
    double noise_nm;
    double corner_hz;
    double glitch_per_s, glitch_nm;
    /** 0: no ADC. */
    uint32_t adc_bits;
    double adc_range_nm;
    /** Bits RM_READOUT_X and RM_READOUT_Y: the planes whose sign is wrong. */
    uint32_t inverted;
    /** x reads y, and y reads x. */
    bool swapped;
};

/** Whether it does anything. */
bool rm_readout_matters(struct rm_readout_config const *config);

struct rm_readouts;

/** Makes the electronics of `count` BPMs, in the order of their instruments, and gives the beam their white noise;
 * before rm_beam_average is called. `config` stays in use: what an entry says of signs, cables, the size of glitches
 * and the ADC may change between two turns. RM_E_NO_SPACE. */
enum rm_code rm_readouts_make(struct rm_readout_config const *config, uint32_t count, struct rm_beam_config const *of,
                              struct rm_beam *beam, struct rm_readouts **readouts, struct rm_error *error);
/** NULL is allowed. */
void rm_readouts_free(struct rm_readouts *readouts);

/** Changes `values`, which rm_beam_turn gave for `turn` and `count` instruments from `first` on, when all else has been
 * added to them. NULL: nothing. */
void rm_readouts_apply(struct rm_readouts *readouts, struct rm_beam *beam, union rm_lane const *values, rm_turn turn,
                       uint32_t first, uint32_t count);

#endif
