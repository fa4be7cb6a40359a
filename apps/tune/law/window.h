// SPDX-License-Identifier: Apache-2.0
/** Windows: the weights that a measurement of N turns gives to each of them.
 *
 * Turns are counted from the middle of the window, t = n − (N − 1)/2, so that a window is even and its transform real:
 *
 *     rectangular   w(t) = 1                           least noise: the estimators reach the Cramér–Rao bound
 *     Hann          w(t) = (1 + cos(2π t/N)) / 2       least disturbed by other lines: leakage falls with distance³
 *
 *     V(d) = Σ w(t) e^(−2πi t d/N)                     transform at d bins
 *          = D(d)                          rectangular, D(d) = sin(πd) / sin(πd/N) (Dirichlet's kernel)
 *          = D(d)/2 + (D(d−1) + D(d+1))/4  Hann
 *
 * So the Hann-windowed spectrum is a sum of three bins of the rectangular one, with signs that come from the middle of
 * the window. F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proc.
 * IEEE 66 (1978) 51.
 */
#ifndef TUNE_WINDOW_H
#define TUNE_WINDOW_H

#include <stdint.h>

enum tune_window_kind {
    TUNE_RECTANGULAR,
    TUNE_HANN,
};

enum {
    TUNE_TURNS_DEFAULT = 8192,
    TUNE_TURNS_MIN = 64,
    TUNE_TURNS_MAX = 1 << 20,
    TUNE_KERNELS_MAX = 32,
};

/** The value and its slope per bin of a window's transform. */
struct tune_kernel {
    double value, slope;
};

/** Weight of turn n of N. */
double tune_window_weight(enum tune_window_kind kind, uint32_t turns, uint32_t n);

/** V and dV/dd, `bins` from the middle: |bins| < N − 1. */
struct tune_kernel tune_window_kernel(enum tune_window_kind kind, uint32_t turns, double bins);

/** The same at bins, bins + 1, … into kernel[count], count ≤ TUNE_KERNELS_MAX: at the cost of a few trigonometric
 * functions for all. */
void tune_window_kernels(enum tune_window_kind kind, uint32_t turns, double bins, uint32_t count,
                         struct tune_kernel *kernel);

/** Σ w(t), Σ w(t)² and Σ w(t) t² / Σ w(t): what amplitudes, powers and frequencies are divided by. */
double tune_window_sum(enum tune_window_kind kind, uint32_t turns);
double tune_window_squares(enum tune_window_kind kind, uint32_t turns);
double tune_window_spread(enum tune_window_kind kind, uint32_t turns);

#endif
