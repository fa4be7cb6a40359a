// SPDX-License-Identifier: Apache-2.0
/** Follows the line of a beam that noise drives (driven.h): the mean periodogram of M windows that do not overlap, and a
 * fit to it, from the windows of a meter.
 *
 *     each step: if (tune_follow_take(&follow, &meter, plane)) … follow.driven[plane], follow.is_found[plane]
 *
 * So there is a result every M · N turns. A window that is not to be trusted is left out by not calling it; the next one
 * is taken then. The series is that of all BPMs (combine.h), R is in the unit of the meter's amplitudes.
 *
 * The fit is of TUNE_FOLLOW_REACH bins to each side of where the mean, smoothed over five bins, is greatest: it takes
 * some 0.2 ms, once in M windows; a window takes an FFT.
 */
#ifndef TUNE_FOLLOW_H
#define TUNE_FOLLOW_H

#include "driven.h"
#include "meter.h"

enum { TUNE_FOLLOW_REACH = 150 };

struct tune_follow {
    uint32_t windows;
    struct tune_spectrum spectrum;
    /** [bpm] those of the series that are combined. */
    struct tune_weight *weight[TUNE_PLANES];
    float const **window;
    /** [N/2 + 1] sum of the periodograms so far, of which there are `taken`; and the mean that is fitted. */
    double *sum[TUNE_PLANES];
    float *mean;
    uint32_t taken[TUNE_PLANES];
    /** The meter's count when the last window was taken. */
    uint64_t at[TUNE_PLANES];
    /** The last fit, and whether it found a line. */
    struct tune_driven driven[TUNE_PLANES];
    bool is_found[TUNE_PLANES];
};

/** For a meter of this plan, and means of so many windows, at least 1. False without memory. Same thread as
 * tune_spectrum_open. */
bool tune_follow_open(struct tune_follow *follow, struct tune_meter_plan const *plan, uint32_t windows);
void tune_follow_close(struct tune_follow *follow);

/** Begins anew, as the meter does. */
void tune_follow_begin(struct tune_follow *follow);

/** Takes the meter's window of a plane, where N turns have come since the last one. True where that was the last of M:
 * then there is another result. */
bool tune_follow_take(struct tune_follow *follow, struct tune_meter const *meter, int plane);

#endif
