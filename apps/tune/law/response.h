// SPDX-License-Identifier: Apache-2.0
/** The response of the measurement: refresh is not bandwidth.
 *
 * A tune from T turns is a mean of the tune over these turns, and lags by half of them, however often it is refreshed.
 * Let the tune move by q cos(2π f t). Near the true line the windowed Fourier integral is greatest where the phase of
 * the oscillation, weighted with w(t) t, has no slope:
 *
 *     measured = ∫ φ(t) t w dt / (2π ∫ t² w dt),          φ(t) = 2π ∫ q cos(2π f t) dt
 *
 *     H(f) = W′(u) / (u W″(0)),   u = π f T,   W(u) = transform of w over its value at 0
 *
 *     rectangular   W = s(u),  s(x) = sin x / x           H = 3 (sin u − u cos u) / u³
 *     Hann          W = s(u) + (s(u−π) + s(u+π)) / 2
 *
 * derived for |q| T ≪ 1, as ripple of the tune is. H is real: of a window that is even, the delay is half of it at all
 * frequencies. It holds for the least-squares line (rectangular) and for the greatest windowed integral (Hann), which
 * are what peak.h and naff.h look for. With 8192 turns at 1.157 MHz: 50 and 100 Hz come out at 0.88 and 0.59
 * (rectangular), 0.94 and 0.77 (Hann). test_response.c compares it with a simulated ripple.
 *
 * The amplitude of a ripple in the tune is that of the measured one / H, as long as H is not small: the noise is divided
 * too. From the first zero on (f T = 1.43 rectangular, 2.36 Hann) there is nothing to be had.
 */
#ifndef TUNE_RESPONSE_H
#define TUNE_RESPONSE_H

#include <stdint.h>

#include "window.h"

/** H at so many periods in the window (f T); 1 at 0. */
double tune_response(enum tune_window_kind kind, double periods);

/** By how many turns the tune is older than the window's last turn. */
double tune_response_delay_turns(uint32_t turns);

/** 1 / H, or NaN where H < `least` (between 0 and 1), or where its main lobe has ended. */
double tune_response_correction(enum tune_window_kind kind, double periods, double least);

#endif
