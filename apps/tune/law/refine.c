// SPDX-License-Identifier: Apache-2.0
#include "refine.h"

#include <math.h>
#include <stdlib.h>

static double const PI = 3.14159265358979323846;
static double const REACH_BINS = 2.0;

bool tune_refine_open(struct tune_refine *refine, uint32_t turns, enum tune_window_kind kind) {
    *refine = (struct tune_refine){.x = calloc(turns, sizeof(double))};
    if (refine->x != NULL && tune_naff_open(&refine->naff, turns, kind, RM_SIMD_BEST))
        return true;
    tune_refine_close(refine);
    return false;
}

void tune_refine_close(struct tune_refine *refine) {
    tune_naff_close(&refine->naff);
    free(refine->x);
    *refine = (struct tune_refine){0};
}

void tune_refine_peak(struct tune_refine *refine, float const *window, struct tune_peak *peak) {
    uint32_t const turns = refine->naff.turns;
    double const reach = REACH_BINS / turns;
    struct tune_line line;
    for (uint32_t n = 0; n < turns; ++n)
        refine->x[n] = (double)window[n];
    tune_naff_take(&refine->naff, refine->x);
    if (!tune_naff_next(&refine->naff, fmax(0.0, peak->tune - reach), fmin(0.5, peak->tune + reach), &line))
        return;
    peak->phase_rad = remainder(peak->phase_rad + PI * (peak->tune - line.tune) * (turns - 1.0), 2.0 * PI);
    peak->tune = line.tune;
}
