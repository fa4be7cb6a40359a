// SPDX-License-Identifier: Apache-2.0
/** A peak of the FFT, refined by NAFF (naff.h): the tune from all turns in double precision, where peak.h has it from 17
 * bins in single precision. In noise the two agree within its error; a line without noise comes out to 3 · 10⁻¹³
 * instead of 2 · 10⁻¹¹ (N = 2048). Amplitude, errors and the phase at the middle of the window stay the peak's.
 */
#ifndef TUNE_REFINE_H
#define TUNE_REFINE_H

#include "naff.h"
#include "peak.h"

struct tune_refine {
    struct tune_naff naff;
    /** [N] */
    double *x;
};

/** For windows of N turns. False without memory. Same thread as tune_spectrum_open. */
bool tune_refine_open(struct tune_refine *refine, uint32_t turns, enum tune_window_kind kind);
void tune_refine_close(struct tune_refine *refine);

/** Looks within two bins of the peak that was found in window[N]. Where there is no line, the peak stays as it is. */
void tune_refine_peak(struct tune_refine *refine, float const *window, struct tune_peak *peak);

#endif
