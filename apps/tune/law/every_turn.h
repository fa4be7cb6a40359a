// SPDX-License-Identifier: Apache-2.0
/** The amplitudes of a band that are new at every turn: of one series, of the last N turns, by the sliding transform
 * (sliding.h).
 *
 *     tune_every_turn_open(&it, N, kind, band)
 *     tune_every_turn_push(&it, turn, position, stride, count);        as the turns come
 *     if (tune_every_turn_read(&it, amplitude)) …                       whenever they are wanted
 *
 * Positions are rounded to whole units, and the first one is taken off all: a constant has no part in the band, and its
 * rounded phasors would add noise. They hold ±16.7 million units around it; with nm that is 16.7 mm.
 */
#ifndef TUNE_EVERY_TURN_H
#define TUNE_EVERY_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "peak.h"
#include "sliding.h"

enum {
    /** Bins of a band: a step of 576 turns then takes some 60 µs. */
    TUNE_EVERY_TURN_BINS_MAX = 512,
};

struct tune_every_turn {
    struct tune_sliding sliding;
    enum tune_window_kind kind;
    struct tune_band band;
    /** [bins of the band, and one more at each end] */
    struct tune_bin *bin;
    /** Turns since it began, those that did not come included; 0: it begins with the next one. */
    uint64_t count;
    /** The last turn. */
    uint64_t turn;
    /** Count of turns when one was beyond the range last; 0: never. */
    uint64_t cut_at;
    /** Taken off all positions; none has come while `has_offset` is false. */
    double offset;
    bool has_offset;
};

/** For windows of so many turns, an even number to TUNE_SLIDING_TURNS_MAX. A band has bins of which each has its
 * neighbours (1 ≤ first, last ≤ N/2 − 2), at most TUNE_EVERY_TURN_BINS_MAX. False without memory, or such a band. */
bool tune_every_turn_open(struct tune_every_turn *it, uint32_t turns, enum tune_window_kind kind,
                          struct tune_band band);
void tune_every_turn_close(struct tune_every_turn *it);

/** It begins anew, with the next turn. */
void tune_every_turn_begin(struct tune_every_turn *it);

/** Takes position[0], position[stride], … of `turn` and those that follow it; what is no number is lost. Turns between
 * the last one and `turn` are lost. Where the counter went back, or a window of turns passed, it begins anew. */
void tune_every_turn_push(struct tune_every_turn *it, uint64_t turn, float const *position, uint32_t stride,
                          uint32_t count);

/** Amplitude of each bin of the band, in the unit of positions, as spectrum.h has it. False, and nothing is written,
 * before there is a whole window. */
bool tune_every_turn_read(struct tune_every_turn *it, float *amplitude);

/** Whether a position of the window was beyond the range, and was cut to it. */
bool tune_every_turn_was_cut(struct tune_every_turn const *it);

#endif
