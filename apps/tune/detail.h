// SPDX-License-Identifier: Apache-2.0
/** The stream tune/detail: of each peak what the tune does not say. Lanes are NaN without a peak.
 *
 * Phases are at the middle of the window, which is the stream's delay before the record's turn; there the phase has the
 * least error, and none in common with the tune. Around it
 *
 *     x(turn) = amplitude · cos(2π tune (turn + delay − record's turn) + phase)
 *
 * Of several BPMs it is that of the combined series: of a place where the phase advance is 0.
 */
#ifndef TUNE_DETAIL_H
#define TUNE_DETAIL_H

#include <stdint.h>

#include <ringmaster/abi.h>

#include "law/meter.h"

/** Lanes of tune/detail: x and y beside each other. */
enum tune_detail {
    /** In rad, −π to π, and its standard deviation. */
    TUNE_DETAIL_PHASE_X,
    TUNE_DETAIL_PHASE_Y,
    TUNE_DETAIL_PHASE_SIGMA_X,
    TUNE_DETAIL_PHASE_SIGMA_Y,
    /** Standard deviation of the amplitude, in its unit. */
    TUNE_DETAIL_AMPLITUDE_SIGMA_X,
    TUNE_DETAIL_AMPLITUDE_SIGMA_Y,
    /** The next strongest line of the band: where its bin is, and its share of the amplitude. */
    TUNE_DETAIL_OTHER_TUNE_X,
    TUNE_DETAIL_OTHER_TUNE_Y,
    TUNE_DETAIL_OTHER_RATIO_X,
    TUNE_DETAIL_OTHER_RATIO_Y,

    TUNE_DETAILS,
};

/** Of windows of so many turns. */
void tune_detail_tell(struct tune_reading const reading[TUNE_PLANES], uint32_t turns, float lane[RM_LANES]);

#endif
