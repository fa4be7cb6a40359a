// SPDX-License-Identifier: Apache-2.0
#include "response.h"

#include <math.h>

static double const PI = 3.14159265358979323846;
/** Periods in the window at the first zero of H; the tests look for them. */
static double const RECTANGULAR_ZERO = 1.4303, HANN_ZERO = 2.3619;

/** Of s(x) = sin x / x. */
static double sinc_slope(double x) {
    double const near = 1e-2;
    return fabs(x) < near ? x * (-1.0 / 3.0 + x * x / 30.0) : (x * cos(x) - sin(x)) / (x * x);
}

double tune_response(enum tune_window_kind kind, double periods) {
    double const u = PI * fabs(periods), near = 1e-6;
    if (u < near)
        return 1.0;
    if (kind != TUNE_HANN)
        return -3.0 * sinc_slope(u) / u;
    double const slope = sinc_slope(u) + 0.5 * (sinc_slope(u - PI) + sinc_slope(u + PI));
    return slope / (u * (-1.0 / 3.0 + 2.0 / (PI * PI)));
}

double tune_response_delay_turns(uint32_t turns) { return 0.5 * (turns - 1.0); }

double tune_response_correction(enum tune_window_kind kind, double periods, double least) {
    double const zero = kind == TUNE_HANN ? HANN_ZERO : RECTANGULAR_ZERO;
    double const response = tune_response(kind, periods);
    return fabs(periods) < zero && response >= least ? 1.0 / response : NAN;
}
