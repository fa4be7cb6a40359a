// SPDX-License-Identifier: Apache-2.0
/** When not to trust a tune: reasons, each a bit. 0 is a tune to trust.
 *
 * A reason is about a window as it came (tune_series_look), its peak (peak.h), or both planes' peaks. Limits are the
 * user's; tune_quality_limits() has those to start from.
 *
 *     NO_BEAM     the current is below its limit, or not known to be a number
 *     NO_PEAK     signal-to-noise below its limit. Of 512 bins of noise the greatest exceeds 5 in 1 of 500 windows:
 *                 |X|² of noise exceeds z²/2 of its mean with probability e^(−z²/2)
 *     TWO_PEAKS   another one in the band, above noise and above a share of the first
 *     KNOWN_LINE  a line that is not the beam's (mains and its harmonics, folded) within so many bins of the peak
 *     AT_EDGE     at an end of the band: the tune may be beyond it
 *     SATURATED   a turn was at full scale
 *     FROZEN      so many turns in a row had the same reading
 *     LOST_TURNS  more turns were lost than the limit. They are held at the reading before: a share s of lost turns takes
 *                 about s off the amplitude, and adds noise of that order
 *     COUPLED     the other plane has its peak within one bin: which plane's it is, one window does not tell
 */
#ifndef TUNE_QUALITY_H
#define TUNE_QUALITY_H

#include <stdint.h>

#include <ringmaster/tune.h>

#include "peak.h"

/** Those that all readers of the stream know. */
enum tune_reason {
    TUNE_NO_BEAM = RM_TUNE_NO_BEAM,
    TUNE_NO_PEAK = RM_TUNE_NO_PEAK,
    TUNE_TWO_PEAKS = RM_TUNE_TWO_PEAKS,
    TUNE_KNOWN_LINE = RM_TUNE_KNOWN_LINE,
    TUNE_AT_EDGE = RM_TUNE_AT_EDGE,
    TUNE_SATURATED = RM_TUNE_SATURATED,
    TUNE_FROZEN = RM_TUNE_FROZEN,
    TUNE_LOST_TURNS = RM_TUNE_LOST_TURNS,
    TUNE_COUPLED = RM_TUNE_COUPLED,
};

enum {
    TUNE_REASONS = 9,
    TUNE_KNOWN_LINES_MAX = 16,
};

struct tune_quality_limits {
    /** Least beam current, in its own unit. */
    double beam;
    /** Least signal-to-noise ratio of a peak. */
    double signal_to_noise;
    /** Of the amplitude of the first peak, that another one must not reach. */
    double other_share;
    /** Lines that are not the beam's, oscillations per turn, 0 to 0.5; and how near is near. */
    double known_line[TUNE_KNOWN_LINES_MAX];
    uint32_t known_lines;
    double near_bins;
    /** Magnitude of a reading at full scale. */
    double full_scale;
    /** Most turns in a row with the same reading, and most turns that are lost. */
    uint32_t frozen_turns, lost_turns;
};

/** A window as it came. */
struct tune_series_look {
    uint32_t lost_turns, saturated_turns;
    /** Longest row of turns with the same reading, lost ones not counted. */
    uint32_t frozen_turns;
};

/** 5 of signal-to-noise, a third, 2 bins, 64 turns in a row, a hundredth of `turns` lost; beam and full scale for the
 * user to set (0 and infinity), and no known lines. */
struct tune_quality_limits tune_quality_limits(uint32_t turns);

/** Looks at series[turns], and puts the reading before in place of each that is no number (the first that is one before
 * that). All lost: 0. */
struct tune_series_look tune_series_look(float *series, uint32_t turns, double full_scale);

/** Where so many hertz are seen once per turn: folded to 0 … 0.5 of a revolution. */
double tune_folded(double hertz, double revolution_hz);

/** Reasons (enum tune_reason) not to trust `peak`; NULL where none was found. `other_plane` is the peak of the other
 * plane, or NULL. */
uint32_t tune_quality(struct tune_quality_limits const *limits, struct tune_series_look const *look, double beam,
                      uint32_t turns, struct tune_band band, struct tune_peak const *peak,
                      struct tune_peak const *other_plane);

/** "no beam", "two peaks", …: the word of a reason, for people. */
char const *tune_reason_word(enum tune_reason reason);

#endif
