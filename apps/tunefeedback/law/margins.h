// SPDX-License-Identifier: Apache-2.0
/** How far the loop is from being unstable.
 *
 * A step every T seconds adds 2π f_c T of the error, which is held until the next: integral and hold together are f_c/(jf)
 * at every frequency. The tune is a mean over a window, with the real response H of apps/tune/law/response.h, half a
 * window late. Then a time d passes until the supplies have the setpoint, which follow as a first order of f_s:
 *
 *     L(f) = f_c/(jf) · H(f) · e^(−2πjf(D + d)) / (1 + jf/f_s)          D = (window − 1)/2 turns
 *     S(f) = 1/(1 + L(f))
 *
 * S is by how much a ripple of the tune is made smaller, or larger. Where the phase of L reaches −180°, 1/|L| is the
 * gain margin: by that factor the matrix, or the gain, may be wrong. With delays alone it is 1/(4 f_c (D + d)). That
 * steps come at times, and not always, is left out: f_c is far below their rate.
 */
#ifndef TUNEFEEDBACK_MARGINS_H
#define TUNEFEEDBACK_MARGINS_H

#include <stdint.h>

#include "apps/tune/law/window.h"

/** What lies between a setpoint and the tune that shows it. */
struct tunefeedback_plant {
    double turn_rate_hz;
    /** Of the tune. */
    uint32_t window_turns;
    enum tune_window_kind window;
    /** From the record of a tune to the setpoint at the supplies: d. */
    double delay_s;
    /** Of the supplies: f_s. 0: they follow at once. */
    double bandwidth_hz;
};

struct tunefeedback_margins {
    /** Factor by which the gain may rise. */
    double gain;
    /** Phase at which |L| is 1, above −180°. */
    double phase_deg;
    /** Greatest |S|, and where. */
    double sensitivity, sensitivity_hz;
    /** D + d. */
    double delay_s;
};

/** Of a loop whose integral has f_c = `integral_hz`, above 0. */
struct tunefeedback_margins tunefeedback_margins(struct tunefeedback_plant const *plant, double integral_hz);

/** |S| at one frequency. */
double tunefeedback_sensitivity(struct tunefeedback_plant const *plant, double integral_hz, double hz);

#endif
