// SPDX-License-Identifier: Apache-2.0
/** Spectra of a window of N turns, by FFTW in single precision.
 *
 *     X(k) = Σ (x(n) − mean) e^(−2πi k n/N),  k = 0 … N/2            a bin is 1/N of the revolution frequency
 *
 * The transform is of the rectangular window; a Hann window is three bins of it (window.h). So one transform serves
 * both, and the estimators of peak.h, whose noise is then independent from bin to bin.
 *
 *     power    P(k) = 2 |V(k)|² / (Σw)²      unit²: of a line of amplitude a at a bin, a²/2, its mean square
 *     density  S(k) = 2 |V(k)|² / Σw²        unit² · turn: over the revolution frequency in Hz it is unit²/Hz
 *
 * one-sided: the sum of S(k)/N over all bins is the mean square. V is X as the window weights it. White noise of
 * standard deviation σ has S = 2 σ², and |X|² = N σ² in the mean.
 *
 * Single precision leaves an error of about 1e-7 of the root mean square of x in each bin. The mean is taken off before,
 * in double precision, for a closed orbit is 10⁶ times what is looked for.
 *
 * A series is real, or of two quadratures, z = x + i y (combine.h): one complex transform, of which the bins at positive
 * frequencies are looked at. It counts lines as a real series does: e^(2πi k n/N)/2 has the bin of cos(2π k n/N).
 *
 * FFTW's planner is one for the process, and no two threads may be in it: tune_spectrum_open and _close are for the
 * thread that prepares. FFTW 3.3: M. Frigo, S. G. Johnson, Proc. IEEE 93 (2005) 216.
 */
#ifndef TUNE_SPECTRUM_H
#define TUNE_SPECTRUM_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/simd.h>

#include "window.h"

struct tune_bin {
    float re, im;
};

struct tune_spectrum {
    /** N, and N/2 + 1. */
    uint32_t turns, bins;
    /** Of a turn: 1, or 2 quadratures. */
    uint32_t quadratures;
    /** [N][quadratures] what is transformed next; 64-byte aligned. */
    float *series;
    /** [bins] X of the last one, and of two quadratures the negative frequencies after it; 64-byte aligned. */
    struct tune_bin *bin;
    /** Mean of the last series, by quadrature. */
    double mean[2];
    /** With which the mean is taken off; FFTW chooses its own. */
    enum rm_simd simd;
    /** FFTW's. */
    void *plan;
};

/** For windows of so many turns, TUNE_TURNS_MIN to TUNE_TURNS_MAX and even; a power of two is fastest. FFTW takes the
 * algorithm that it estimates to be the fastest: the same in each process, so that the same turns give the same bits, as
 * a replay needs it. False without memory. */
bool tune_spectrum_open(struct tune_spectrum *spectrum, uint32_t turns, uint32_t quadratures);

/** For what need not be repeated to the bit: FFTW measures some milliseconds which algorithm is the fastest, and finds
 * one that takes two thirds of the time, and another one tomorrow. */
bool tune_spectrum_open_measured(struct tune_spectrum *spectrum, uint32_t turns, uint32_t quadratures);
void tune_spectrum_close(struct tune_spectrum *spectrum);

/** Takes the series to bins. The series loses its mean. No allocation, no lock. */
void tune_spectrum_transform(struct tune_spectrum *spectrum);

/** Rows [N/2 + 1] of power or density, of the last transform. */
void tune_spectrum_power(struct tune_spectrum const *spectrum, enum tune_window_kind kind, float *power);
void tune_spectrum_density(struct tune_spectrum const *spectrum, enum tune_window_kind kind, float *density);

/** Amplitudes [count] of lines at the bins bin[0] to bin[count − 1], in the unit of the series: a of cos(2π k n/N).
 * bin[−1] and bin[count] are there, too. */
void tune_spectrum_amplitudes(struct tune_bin const *bin, uint32_t turns, enum tune_window_kind kind, uint32_t count,
                              float *amplitude);

#endif
