// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <math.h>

static double const PI = 3.14159265358979323846;

double tune_window_weight(enum tune_window_kind kind, uint32_t turns, uint32_t n) {
    double const t = n - 0.5 * (turns - 1.0);
    return kind == TUNE_HANN ? 0.5 + 0.5 * cos(2.0 * PI * t / turns) : 1.0;
}

/** Of an angle that grows by the same step. */
struct turning {
    double sine, cosine;
};

static struct turning turning_of(double angle) { return (struct turning){sin(angle), cos(angle)}; }

static struct turning turning_further(struct turning now, struct turning step) {
    return (struct turning){now.sine * step.cosine + now.cosine * step.sine,
                            now.cosine * step.cosine - now.sine * step.sine};
}

/** D and its slope at bins, bins + 1, …: sin(πd) changes its sign from bin to bin, and πd/N grows by π/N. Within a
 * thousandth of a bin by its series, whose next term is 1e-12 of the first. */
static void dirichlet_kernels(uint32_t turns, double bins, uint32_t count, struct tune_kernel *kernel) {
    double const near = 1e-3, curve = PI * PI * (1.0 - 1.0 / ((double)turns * turns));
    struct turning const step = turning_of(PI / turns);
    struct turning whole = turning_of(PI * bins), part = turning_of(PI * bins / turns);
    for (uint32_t i = 0; i < count; ++i) {
        double const d = bins + i, value = whole.sine / part.sine;
        if (fabs(d) < near)
            kernel[i] = (struct tune_kernel){turns * (1.0 - curve * d * d / 6.0), -curve * turns * d / 3.0};
        else
            kernel[i] = (struct tune_kernel){value, PI * (whole.cosine - value * part.cosine / turns) / part.sine};
        whole = (struct turning){-whole.sine, -whole.cosine};
        part = turning_further(part, step);
    }
}

void tune_window_kernels(enum tune_window_kind kind, uint32_t turns, double bins, uint32_t count,
                         struct tune_kernel *kernel) {
    if (kind != TUNE_HANN) {
        dirichlet_kernels(turns, bins, count, kernel);
        return;
    }
    struct tune_kernel d[TUNE_KERNELS_MAX + 2];
    dirichlet_kernels(turns, bins - 1.0, count + 2, d);
    for (uint32_t i = 0; i < count; ++i) {
        kernel[i].value = 0.5 * d[i + 1].value + 0.25 * (d[i].value + d[i + 2].value);
        kernel[i].slope = 0.5 * d[i + 1].slope + 0.25 * (d[i].slope + d[i + 2].slope);
    }
}

struct tune_kernel tune_window_kernel(enum tune_window_kind kind, uint32_t turns, double bins) {
    struct tune_kernel kernel;
    tune_window_kernels(kind, turns, bins, 1, &kernel);
    return kernel;
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
