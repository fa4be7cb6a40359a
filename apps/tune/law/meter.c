// SPDX-License-Identifier: Apache-2.0
#include "meter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t series_count(struct tune_meter_plan const *plan) { return TUNE_PLANES * plan->bpms; }

struct tune_band tune_meter_band(uint32_t turns, double low, double high) {
    return (struct tune_band){
        .first = (uint32_t)fmin(0.5 * turns, fmax(1.0, ceil(low * turns))),
        .last = (uint32_t)fmax(0.0, fmin(0.5 * turns - 1.0, floor(high * turns))),
    };
}

static struct tune_band band_of(struct tune_meter_plan const *plan, int plane) {
    return tune_meter_band(plan->turns, plan->low[plane], plan->high[plane]);
}

bool tune_meter_has_room(uint32_t turns, double low, double high) {
    struct tune_band const band = tune_meter_band(turns, low, high);
    uint32_t const least = 2 * TUNE_PEAK_REACH + 1;
    return band.last > band.first && band.last - band.first >= least && band.last - band.first < TUNE_BAND_BINS_MAX;
}

/** Rings and flags are in one piece. */
static bool memory_take(struct tune_meter *meter) {
    struct tune_meter_plan const *const plan = &meter->plan;
    size_t const turns = plan->turns, series = series_count(plan), bpms = plan->bpms;
    meter->series = calloc(series, sizeof *meter->series);
    meter->memory = calloc(series * turns, 2 * sizeof(float) + 1);
    meter->weight = calloc(bpms, sizeof *meter->weight);
    meter->used = calloc(bpms, sizeof *meter->used);
    meter->window = calloc(bpms, sizeof *meter->window);
    if (meter->series == NULL || meter->memory == NULL || meter->weight == NULL || meter->used == NULL ||
        meter->window == NULL)
        return false;
    float *const rings = meter->memory;
    uint8_t *const flags = (uint8_t *)(rings + 2 * turns * series);
    for (size_t i = 0; i < series; ++i) {
        meter->series[i].ring = rings + 2 * turns * i;
        meter->series[i].lost = flags + turns * i;
    }
    return true;
}

bool tune_meter_open(struct tune_meter *meter, struct tune_meter_plan const *plan) {
    *meter = (struct tune_meter){.plan = *plan};
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        if (!tune_meter_has_room(plan->turns, plan->low[plane], plan->high[plane]))
            return false;
    if (plan->bpms >= 1 && plan->bpms <= TUNE_BPMS_MAX && memory_take(meter) &&
        tune_spectrum_open(&meter->spectrum, plan->turns, 2))
        return true;
    tune_meter_close(meter);
    return false;
}

void tune_meter_close(struct tune_meter *meter) {
    tune_spectrum_close(&meter->spectrum);
    free(meter->series);
    free(meter->memory);
    free(meter->weight);
    free(meter->used);
    free((void *)meter->window);
    *meter = (struct tune_meter){0};
}

static void meter_begin(struct tune_meter *meter) {
    size_t const turns = meter->plan.turns;
    meter->count = 0;
    for (uint32_t i = 0; i < series_count(&meter->plan); ++i) {
        struct tune_meter_series *const series = &meter->series[i];
        memset(series->lost, 0, turns);
        series->lost_turns = series->same = 0;
        series->last = 0.0f;
        series->frozen_at = series->saturated_at = 0;
    }
}

/** `count` is that of the turns with this one, `place` where it goes. */
static void series_take(struct tune_meter const *meter, struct tune_meter_series *series, uint64_t count,
                        uint32_t place, float reading) {
    struct tune_quality_limits const *const limits = &meter->plan.limits;
    uint8_t const is_lost = !isfinite(reading);
    series->lost_turns += (uint32_t)is_lost - series->lost[place];
    series->lost[place] = is_lost;
    if (!is_lost) {
        series->same = series->same > 0 && reading == series->last ? series->same + 1 : 1;
        series->last = reading;
        series->frozen_at = series->same > limits->frozen_turns ? count : series->frozen_at;
        series->saturated_at = fabs((double)reading) >= limits->full_scale ? count : series->saturated_at;
    }
    series->ring[place] = series->ring[place + meter->plan.turns] = series->last;
}

/** Series by series, so that what a series touches is touched once for all turns. NULL: these turns did not come. */
static void turns_take(struct tune_meter *meter, float const *position, uint32_t turns) {
    uint32_t const all = series_count(&meter->plan), first = (uint32_t)(meter->count % meter->plan.turns);
    for (uint32_t i = 0; i < all; ++i) {
        uint32_t place = first;
        for (uint32_t n = 0; n < turns; ++n) {
            float const reading = position == NULL ? NAN : position[(size_t)n * all + i];
            series_take(meter, &meter->series[i], meter->count + n + 1, place, reading);
            place = place + 1 < meter->plan.turns ? place + 1 : 0;
        }
    }
    meter->count += turns;
}

void tune_meter_push(struct tune_meter *meter, uint64_t turn, float const *position, uint32_t count) {
    bool const goes_on = meter->count > 0 && turn > meter->turn && turn - meter->turn < meter->plan.turns;
    if (!goes_on)
        meter_begin(meter);
    if (goes_on)
        turns_take(meter, NULL, (uint32_t)(turn - meter->turn - 1));
    turns_take(meter, position, count);
    meter->turn = turn + count - 1;
}

static bool was_within(struct tune_meter const *meter, uint64_t at) {
    return at > 0 && meter->count - at < meter->plan.turns;
}

/** What is wrong with a BPM. */
static uint32_t series_reasons(struct tune_meter const *meter, struct tune_meter_series const *series) {
    uint32_t reasons = 0;
    reasons |= was_within(meter, series->frozen_at) ? TUNE_FROZEN : 0;
    reasons |= was_within(meter, series->saturated_at) ? TUNE_SATURATED : 0;
    reasons |= series->lost_turns > meter->plan.limits.lost_turns ? TUNE_LOST_TURNS : 0;
    return reasons;
}

uint32_t tune_meter_bpm_reasons(struct tune_meter const *meter, int plane, uint32_t bpm) {
    return series_reasons(meter, &meter->series[(uint32_t)plane * meter->plan.bpms + bpm]);
}

/** Chooses BPMs, and makes their weights. Returns the reasons of those that are left out. */
static uint32_t plane_weigh(struct tune_meter *meter, int plane, struct tune_combination *combination,
                            uint32_t *lost_turns) {
    uint32_t const bpms = meter->plan.bpms, oldest = (uint32_t)(meter->count % meter->plan.turns);
    uint32_t left_out = 0;
    *lost_turns = 0;
    for (uint32_t b = 0; b < bpms; ++b) {
        struct tune_meter_series const *const series = &meter->series[(uint32_t)plane * bpms + b];
        uint32_t const reasons = series_reasons(meter, series);
        meter->used[b] = meter->plan.bpm[plane][b];
        meter->window[b] = series->ring + oldest;
        left_out |= reasons;
        if (reasons != 0)
            meter->used[b].noise = 0.0;
        else if (series->lost_turns > *lost_turns)
            *lost_turns = series->lost_turns;
    }
    *combination = tune_weights_make(meter->used, bpms, meter->weight);
    return left_out;
}

/** The amplitudes of the band, of the series that was transformed last. */
static void row_write(struct tune_meter const *meter, int plane, struct tune_band band, bool is_there) {
    float *const row = meter->row[plane];
    uint32_t const count = band.last - band.first + 1;
    if (row != NULL && is_there)
        tune_spectrum_amplitudes(&meter->spectrum.bin[band.first], meter->plan.turns, meter->plan.kind, count, row);
    for (uint32_t k = 0; row != NULL && !is_there && k < count; ++k)
        row[k] = NAN;
}

/** Its peak, without a verdict. Returns the band that was looked at. */
static struct tune_band plane_read(struct tune_meter *meter, int plane, bool *is_found, uint32_t *left_out,
                                   struct tune_reading *reading) {
    struct tune_combination combination;
    struct tune_band band = band_of(&meter->plan, plane);
    *reading = (struct tune_reading){.turn = meter->turn};
    *left_out = plane_weigh(meter, plane, &combination, &reading->lost_turns);
    reading->delay_turns = 0.5 * (meter->plan.turns - 1.0);
    reading->bpms = combination.used;
    *is_found = false;
    if (combination.used > 0) {
        band.image_re = combination.image_re;
        band.image_im = combination.image_im;
        tune_combine(meter->window, meter->weight, meter->plan.bpms, meter->plan.turns, meter->spectrum.series,
                     RM_SIMD_BEST);
        tune_spectrum_transform(&meter->spectrum);
        *is_found = tune_peak_find(meter->spectrum.bin, meter->plan.turns, meter->plan.kind, band, &reading->peak);
    }
    row_write(meter, plane, band, combination.used > 0);
    if (!*is_found)
        reading->peak = (struct tune_peak){.tune = NAN, .tune_sigma = NAN};
    return band;
}

bool tune_meter_read(struct tune_meter *meter, double beam, struct tune_reading reading[TUNE_PLANES]) {
    if (meter->count < meter->plan.turns)
        return false;
    struct tune_band band[TUNE_PLANES];
    bool is_found[TUNE_PLANES];
    uint32_t left_out[TUNE_PLANES];
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        band[plane] = plane_read(meter, plane, &is_found[plane], &left_out[plane], &reading[plane]);
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        int const other = TUNE_PLANES - 1 - plane;
        struct tune_series_look const look = {.lost_turns = reading[plane].lost_turns};
        reading[plane].reasons =
            tune_quality(&meter->plan.limits, &look, beam, meter->plan.turns, band[plane],
                         is_found[plane] ? &reading[plane].peak : NULL, is_found[other] ? &reading[other].peak : NULL);
        if (reading[plane].bpms == 0)
            reading[plane].reasons |= left_out[plane];
    }
    return true;
}
