// SPDX-License-Identifier: Apache-2.0
#include "follow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMOOTHED = 2 /**< bins to each side */ };

bool tune_follow_open(struct tune_follow *follow, struct tune_meter_plan const *plan, uint32_t windows) {
    size_t const bins = plan->turns / 2 + 1ul;
    *follow = (struct tune_follow){.windows = windows};
    bool is_there = tune_spectrum_open(&follow->spectrum, plan->turns, 2);
    follow->window = calloc(plan->bpms, sizeof *follow->window);
    follow->mean = calloc(bins, sizeof *follow->mean);
    is_there = is_there && follow->window != NULL && follow->mean != NULL;
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        follow->weight[plane] = calloc(plan->bpms, sizeof *follow->weight[plane]);
        follow->sum[plane] = calloc(bins, sizeof *follow->sum[plane]);
        is_there = is_there && follow->weight[plane] != NULL && follow->sum[plane] != NULL;
        if (is_there)
            tune_weights_make(plan->bpm[plane], plan->bpms, follow->weight[plane]);
    }
    if (is_there)
        return true;
    tune_follow_close(follow);
    return false;
}

void tune_follow_close(struct tune_follow *follow) {
    tune_spectrum_close(&follow->spectrum);
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        free(follow->weight[plane]);
        free(follow->sum[plane]);
    }
    free((void *)follow->window);
    free(follow->mean);
    *follow = (struct tune_follow){0};
}

static void plane_clear(struct tune_follow *follow, int plane) {
    memset(follow->sum[plane], 0, follow->spectrum.bins * sizeof *follow->sum[plane]);
    follow->taken[plane] = 0;
}

void tune_follow_begin(struct tune_follow *follow) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        plane_clear(follow, plane);
        follow->at[plane] = 0;
        follow->driven[plane] = (struct tune_driven){.tune = NAN};
        follow->is_found[plane] = false;
    }
}

/** Adds |X|² of the meter's newest N turns. */
static void plane_add(struct tune_follow *follow, struct tune_meter const *meter, int plane) {
    struct tune_meter_plan const *const plan = &meter->plan;
    for (uint32_t b = 0; b < plan->bpms; ++b)
        follow->window[b] = meter->series[(uint32_t)plane * plan->bpms + b].ring + meter->count % plan->turns;
    tune_combine(follow->window, follow->weight[plane], plan->bpms, plan->turns, follow->spectrum.series, RM_SIMD_BEST);
    tune_spectrum_transform(&follow->spectrum);
    for (uint32_t k = 0; k < follow->spectrum.bins; ++k) {
        double const re = (double)follow->spectrum.bin[k].re, im = (double)follow->spectrum.bin[k].im;
        follow->sum[plane][k] += re * re + im * im;
    }
}

/** Where the smoothed mean is greatest, and what is near it. */
static struct tune_band band_near_the_greatest(float const *mean, struct tune_band band) {
    uint32_t greatest = band.first;
    double most = -1.0;
    for (uint32_t k = band.first; k <= band.last; ++k) {
        double smoothed = 0.0;
        for (uint32_t i = k >= SMOOTHED ? k - SMOOTHED : 0; i <= k + SMOOTHED; ++i)
            smoothed += i >= band.first && i <= band.last ? (double)mean[i] : 0.0;
        if (smoothed > most) {
            most = smoothed;
            greatest = k;
        }
    }
    if (greatest > band.first + TUNE_FOLLOW_REACH)
        band.first = greatest - TUNE_FOLLOW_REACH;
    if (greatest + TUNE_FOLLOW_REACH < band.last)
        band.last = greatest + TUNE_FOLLOW_REACH;
    return band;
}

bool tune_follow_take(struct tune_follow *follow, struct tune_meter const *meter, int plane) {
    struct tune_meter_plan const *const plan = &meter->plan;
    if (meter->count < plan->turns || meter->count - follow->at[plane] < plan->turns)
        return false;
    follow->at[plane] = meter->count;
    plane_add(follow, meter, plane);
    if (++follow->taken[plane] < follow->windows)
        return false;
    for (uint32_t k = 0; k < follow->spectrum.bins; ++k)
        follow->mean[k] = (float)(follow->sum[plane][k] / follow->windows);
    struct tune_band const band =
        band_near_the_greatest(follow->mean, tune_meter_band(plan->turns, plan->low[plane], plan->high[plane]));
    follow->is_found[plane] = tune_driven_fit(follow->mean, plan->turns, follow->windows, band, &follow->driven[plane]);
    plane_clear(follow, plane);
    return true;
}
