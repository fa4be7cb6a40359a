// SPDX-License-Identifier: Apache-2.0
/** The line of a beam that noise drives: no tone but a resonance, with a tune, a width and an error of its own.
 *
 * An oscillator with damping rate λ per turn, driven by white noise, has the autocorrelation R² e^(−λ|τ|) cos(2π Q τ), R
 * its root mean square. A window of N turns then has, near the line, d = Q N − k bins beside bin k, in the mean
 *
 *     S(k) = E|X(k)|² = R²/2 · G(d) + F
 *     G(d) = Σ (N − |τ|) e^(−λ|τ|) e^(2πi d τ/N) = Re[ N (1+q)/(1−q) − 2q (1−q^N)/(1−q)² ],  q = e^(−λ + 2πi d/N)
 *
 * exactly: the Lorentzian of full width λ/π at half height, with the window's leakage in it. Bins are distributed
 * exponentially around S and are independent, if the line is resolved; the likelihood of the mean I of M periodograms is
 *
 *     −ln L = M Σ ( ln S + I/S )
 *
 * (P. Whittle, Ark. Mat. 2 (1953) 423; the fit as for the modes of the Sun: E. R. Anderson, T. L. Duvall, S. M.
 * Jefferies, Astrophys. J. 364 (1990) 699). It is maximised over Q, ln λ, ln R², ln F by scoring, and the errors are
 * from the inverse of its information, M Σ ∂lnS ∂lnSᵀ.
 *
 * So the error of the tune of such a beam does not fall as that of a steady line does: in T turns it is about
 * √(λ/T)/2π, however strong the line is. peak.h's error is that of a steady line, and too small here.
 *
 * The window must be longer than the line's memory. `is_resolved` says so: the line is wider than TUNE_RESOLVED_BINS
 * bins. If not, the bins at the line are not independent, and no error is to be trusted: take longer windows.
 */
#ifndef TUNE_DRIVEN_H
#define TUNE_DRIVEN_H

#include <stdbool.h>
#include <stdint.h>

#include "peak.h"

/** Full width at half height, in bins, that a line must have. */
static double const TUNE_RESOLVED_BINS = 2.0;

struct tune_driven {
    /** Oscillations per turn, and its standard deviation. */
    double tune, tune_sigma;
    /** λ, and its standard deviation: the amplitude is e^(−λ) after a turn. The full width is λ/π oscillations per turn. */
    double damping_per_turn, damping_sigma;
    /** R, in the unit of the series, and its standard deviation. */
    double rms, rms_sigma;
    /** F. */
    double floor;
    bool is_resolved;
};

/** Fits a line to periodogram[k] = mean of |X(k)|² (rectangular) over `windows` windows of N turns that do not overlap,
 * for k in the band. False where it does not converge within the band: there is no such line. Takes some tenths of
 * a millisecond for 300 bins: it is not for every turn. */
bool tune_driven_fit(float const *periodogram, uint32_t turns, uint32_t windows, struct tune_band band,
                     struct tune_driven *driven);

#endif
