// SPDX-License-Identifier: Apache-2.0
/** Series for the tests: noise and lines, the same in every run. */
#ifndef TUNE_TEST_SERIES_H
#define TUNE_TEST_SERIES_H

#include <math.h>
#include <stdint.h>

static double const TWO_PI = 6.28318530717958647692;

/** 0 to 1, without either. */
static inline double draw_even(void) {
    static uint64_t seed = 1;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

/** Of standard deviation 1. */
static inline double draw_normal(void) { return sqrt(-2.0 * log(draw_even())) * cos(TWO_PI * draw_even()); }

#endif
