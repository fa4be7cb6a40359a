// SPDX-License-Identifier: Apache-2.0
/** The peak of a band: tune, amplitude, phase, each from a few bins of the FFT (spectrum.h) and each with its error.
 *
 * The tune is where the windowed Fourier integral is greatest, as NAFF has it (naff.h), but of the nearest bins alone,
 * TUNE_PEAK_REACH to each side. Let Y(k) = X(k) e^(2πi k t₀/N), t₀ = (N − 1)/2, which turns the phase to the middle of
 * the window, and V the window's transform (window.h). Then
 *
 *     H(f) = Σ Y(k) V(k − f),   H′(f) = −Σ Y(k) V′(k − f)          f in bins
 *     ψ(f) = Re(H′/H) − ρ(f) = 0
 *
 * with ρ what Re(H′/H) is of a tone at f: it is not quite 0, because bins are left out, or H is not normalised. So a
 * tone is found exactly, wherever it is. Rectangular, this is the least-squares fit of a line to these bins. What the
 * line at −f leaks into them is taken off. Interpolation from two or three bins alone is a start: its error is 1.6 to
 * 2.5 of the Cramér–Rao bound (Hann), depending on where between bins the line lies.
 *
 * ## Errors
 * Bins of white noise are independent, each with E|Y|² = F, the floor. It comes from the median over the band of the
 * Hann-windowed bins that are not near the peak, which is 3/8 ln 2 of it. Linearised,
 *
 *     σ_f² = F/2 Σ (V′ − ρ V)² / (|A| S ψ′)²,   S = Σ D V, A = H/S
 *
 * In oscillations per turn, for all bins: σ = c · √(6/N³) · σ_x / (π a)
 *
 *     c = 1 rectangular (D. C. Rife, R. R. Boorstyn, IEEE Trans. Inf. Theory 20 (1974) 591: the Cramér–Rao bound)
 *     c = √(N³/12 Σ w² t² ) / Σ w t² = 1.53 Hann
 *
 * Eight bins to a side come to within 4 % of that. The error of the amplitude, and with it the signal-to-noise ratio,
 * is that of white noise: σ_a = σ_x √(2/N) = √(2 F)/N. 1 µm in 8192 turns is 15.6 nm, so 5 σ are 78 nm.
 *
 * All this is of a steady line. A beam that noise drives is none: line.h.
 */
#ifndef TUNE_PEAK_H
#define TUNE_PEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "spectrum.h"

enum {
    /** Bins to each side of the peak. */
    TUNE_PEAK_REACH = 8,
    /** Most bins of a band. */
    TUNE_BAND_BINS_MAX = 4096,
};

/** Where to look, and at what. */
struct tune_band {
    /** Bins, of which each has its neighbours: 1 ≤ first, last ≤ N/2 − 1; more than 2 · TUNE_PEAK_REACH + 1 of them, at
     * most TUNE_BAND_BINS_MAX. */
    uint32_t first, last;
    /** What the line at −f is of the conjugate of that at f: 1 of a real series; of others combine.h has it. */
    double image_re, image_im;
};

struct tune_peak {
    /** Oscillations per turn, and its standard deviation. */
    double tune, tune_sigma;
    /** In the unit of the series, of cos(2π tune n + phase); and its standard deviation. */
    double amplitude, amplitude_sigma;
    /** At the window's first turn. */
    double phase_rad;
    /** amplitude / amplitude_sigma. */
    double signal_to_noise;
    /** E|X|² of a bin of noise. */
    double floor;
    /** The greatest bin of the windowed band; and of what is more than TUNE_PEAK_REACH bins away from it: its amplitude
     * over that of the peak's bin, and over that of the noise in such a bin, so that both are told. */
    uint32_t bin, other_bin;
    double other_ratio, other_signal_to_noise;
};

/** Finds the peak of a band. False, with `floor` and no more, where all bins are 0 or some is no number. */
bool tune_peak_find(struct tune_bin const *bin, uint32_t turns, enum tune_window_kind kind, struct tune_band band,
                    struct tune_peak *peak);

/** The Cramér–Rao bound of the tune of a line in white noise, times c of the window. */
double tune_error_least(enum tune_window_kind kind, uint32_t turns, double amplitude, double noise);

#endif
