// SPDX-License-Identifier: Apache-2.0
/** Numerical analysis of fundamental frequencies: the lines of N turns, strongest first, to the accuracy of doubles.
 *
 *     tune_naff_take(naff, x);
 *     while (lines are wanted && tune_naff_next(naff, 0.0, 0.5, &line)) …
 *
 * A line is where the windowed Fourier integral is greatest (J. Laskar, Icarus 88 (1990) 266; R. Bartolini et al.,
 * Part. Accel. 52 (1996) 147), t counted from the middle of the window (window.h):
 *
 *     H(ν) = Σ w(t) x(t) e^(−2πi ν t),     H′(ν) = −2πi Σ w(t) t x(t) e^(−2πi ν t)
 *
 *     ν ← ν + Re(H′/H) / ((2π)² M),        M = Σ w t² / Σ w
 *
 * which is 0 where |H| is greatest. The step's error is the third power of its size: from the estimate that two bins of
 * the FFT give, one or two passes over the turns do. A real series has its line at −ν too, whose leakage into H and H′
 * is known from the window and is taken off, as is what the mean took off of the line itself. Without that a rectangular
 * window would be off by some 10⁻⁸. Then the line is subtracted, and the next one is looked for in what remains.
 *
 * Rectangular, H is the likelihood of one line in white noise: the error is the Cramér–Rao bound. Hann, it is 1.53 of
 * that (peak.h has the formula), and other lines disturb it less: lines closer than 2 bins (rectangular: some 10,
 * depending on their amplitudes) are not told apart.
 *
 * A series of two quadratures, z = x + i y, has H(z) = H(x) + i H(y): not here, as NAFF is asked of single BPMs.
 */
#ifndef TUNE_NAFF_H
#define TUNE_NAFF_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/simd.h>

#include "spectrum.h"

/** amplitude · cos(2π tune n + phase), n = 0 … N − 1. */
struct tune_line {
    /** Oscillations per turn, 0 to 0.5. */
    double tune;
    /** In the unit of the series. */
    double amplitude;
    /** At the window's first turn, −π to π. */
    double phase_rad;
};

struct tune_naff {
    uint32_t turns;
    /** N up to a multiple of what goes side by side; the rest is 0. */
    uint32_t padded;
    enum tune_window_kind kind;
    enum rm_simd simd;
    struct tune_spectrum spectrum;
    /** [padded] w, what remains of x, and the product of both. */
    double *weight, *rest, *product;
};

/** For windows of N turns, as tune_spectrum_open has them: same cost, same thread. False without memory. */
bool tune_naff_open(struct tune_naff *naff, uint32_t turns, enum tune_window_kind kind, enum rm_simd simd);
void tune_naff_close(struct tune_naff *naff);

/** Takes x[N] without its mean. All finite. */
void tune_naff_take(struct tune_naff *naff, double const *x);

/** The strongest line whose tune is from `low` to `high` (oscillations per turn), which is then subtracted from the
 * rest. False where nothing remains. */
bool tune_naff_next(struct tune_naff *naff, double low, double high, struct tune_line *line);

#endif
