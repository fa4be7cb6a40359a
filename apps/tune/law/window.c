// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <math.h>

static double const PI = 3.14159265358979323846;

double tune_window_weight(enum tune_window_kind kind, uint32_t turns, uint32_t n) {
    double const t = n - 0.5 * (turns - 1.0);
    return kind == TUNE_HANN ? 0.5 + 0.5 * cos(2.0 * PI * t / turns) : 1.0;
}

/** D and its slope. Below a thousandth of a bin by its series, whose next term is 1e-12 of the first. */
static struct tune_kernel dirichlet_kernel(uint32_t turns, double bins) {
    double const near = 1e-3, curve = PI * PI * (1.0 - 1.0 / ((double)turns * turns));
    if (fabs(bins) < near)
        return (struct tune_kernel){turns * (1.0 - curve * bins * bins / 6.0), -curve * turns * bins / 3.0};
    double const below = sin(PI * bins / turns), ahead = cos(PI * bins / turns) / turns;
    double const value = sin(PI * bins) / below;
    return (struct tune_kernel){value, PI * (cos(PI * bins) - value * ahead) / below};
}

struct tune_kernel tune_window_kernel(enum tune_window_kind kind, uint32_t turns, double bins) {
    struct tune_kernel const middle = dirichlet_kernel(turns, bins);
    if (kind != TUNE_HANN)
        return middle;
    struct tune_kernel const left = dirichlet_kernel(turns, bins - 1.0), right = dirichlet_kernel(turns, bins + 1.0);
    return (struct tune_kernel){0.5 * middle.value + 0.25 * (left.value + right.value),
                                0.5 * middle.slope + 0.25 * (left.slope + right.slope)};
}

double tune_window_sum(enum tune_window_kind kind, uint32_t turns) {
    return kind == TUNE_HANN ? 0.5 * turns : (double)turns;
}

double tune_window_squares(enum tune_window_kind kind, uint32_t turns) {
    return kind == TUNE_HANN ? 0.375 * turns : (double)turns;
}

/** Σ cos(2π t/N) t² = −N/(2 sin²(π/N)) cos(π/N)  over half-integer or integer t alike, for w is even. */
double tune_window_spread(enum tune_window_kind kind, uint32_t turns) {
    double const n = turns, flat = (n * n - 1.0) / 12.0, angle = PI / n;
    return kind == TUNE_HANN ? flat - 0.5 * cos(angle) / (sin(angle) * sin(angle)) : flat;
}
