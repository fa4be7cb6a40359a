// SPDX-License-Identifier: Apache-2.0
#include "margins.h"

#include <complex.h>
#include <math.h>

#include "apps/tune/law/response.h"

static double const TAU = 6.28318530717958647692;
/** Frequencies are looked at from a thousandth of the inverse delay to where the window's main lobe is long over. */
static double const FROM = 1e-3, TO = 4.0;
enum { LOOKS = 2048 };

static double plant_delay(struct tunefeedback_plant const *plant) {
    return tune_response_delay_turns(plant->window_turns) / plant->turn_rate_hz + plant->delay_s;
}

static double complex open_loop(struct tunefeedback_plant const *plant, double integral_hz, double hz) {
    double const periods = hz * plant->window_turns / plant->turn_rate_hz;
    double complex const supplies = plant->bandwidth_hz > 0.0 ? 1.0 + I * hz / plant->bandwidth_hz : 1.0;
    return integral_hz / (I * hz) * tune_response(plant->window, periods) * cexp(-I * TAU * hz * plant_delay(plant)) /
           supplies;
}

double tunefeedback_sensitivity(struct tunefeedback_plant const *plant, double integral_hz, double hz) {
    return 1.0 / cabs(1.0 + open_loop(plant, integral_hz, hz));
}

/** Where Im L has another sign at two frequencies, 1/|Re L| between them; infinite where L is not negative there. */
static double margin_between(double complex before, double complex after) {
    double const share = cimag(before) / (cimag(before) - cimag(after));
    double const real = creal(before) + share * (creal(after) - creal(before));
    return real < 0.0 ? -1.0 / real : INFINITY;
}

struct tunefeedback_margins tunefeedback_margins(struct tunefeedback_plant const *plant, double integral_hz) {
    double const delay = plant_delay(plant);
    struct tunefeedback_margins margins = {.gain = INFINITY, .phase_deg = 180.0, .sensitivity = 1.0, .delay_s = delay};
    /* Below the lowest look the loop has its integral and the phase of that alone. */
    double const from = fmin(FROM / delay, 0.1 * integral_hz);
    double const ratio = pow(TO / delay / from, 1.0 / LOOKS);
    double complex before = open_loop(plant, integral_hz, from);
    double hz = from;
    for (int i = 0; i < LOOKS; ++i) {
        hz *= ratio;
        double complex const now = open_loop(plant, integral_hz, hz);
        double const sensitivity = 1.0 / cabs(1.0 + now);
        if (cimag(before) * cimag(now) < 0.0)
            margins.gain = fmin(margins.gain, margin_between(before, now));
        if (cabs(before) >= 1.0 && cabs(now) < 1.0)
            margins.phase_deg = fmin(margins.phase_deg, 180.0 + carg(now) * 360.0 / TAU);
        if (sensitivity > margins.sensitivity) {
            margins.sensitivity = sensitivity;
            margins.sensitivity_hz = hz;
        }
        before = now;
    }
    return margins;
}
