// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <math.h>
#include <stdio.h>

/** Kept of the spectra, and of the sliding transform, whose rows are some thousand a second. */
static double const SPECTRUM_S = 10.0, SLIDING_S = 2.0;

/** Reasons that are about the turns. A spectrum without a peak, or with two, is a spectrum. */
enum { OF_TURNS = TUNE_NO_BEAM | TUNE_SATURATED | TUNE_FROZEN | TUNE_LOST_TURNS };

struct rm_application_rows const tune_rows[TUNE_ROWS] = {
    [TUNE_ROWS_SPECTRUM_X] = {.name = "spectrum_x",
                              .description =
                                  "horizontal amplitude of a line at each bin, of the window that ends here"},
    [TUNE_ROWS_SPECTRUM_Y] = {.name = "spectrum_y",
                              .description = "vertical amplitude of a line at each bin, of the window that ends here"},
    [TUNE_ROWS_SLIDING_X] = {.name = "sliding_x",
                             .description =
                                 "the same of the first BPM alone, by a transform that is new at every turn"},
    [TUNE_ROWS_SLIDING_Y] = {.name = "sliding_y",
                             .description =
                                 "the same of the first BPM alone, by a transform that is new at every turn"},
};

static struct tune_band sliding_band(struct tune_file const *file, int plane) {
    struct tune_band band = tune_meter_band(file->window_turns, file->sliding.low[plane], file->sliding.high[plane]);
    if (band.last + 2 > file->window_turns / 2) /* the last one has a neighbour */
        band.last = file->window_turns / 2 - 2;
    return band;
}

bool tune_rows_open(struct tune_rows_memory *rows, struct tune_file const *file) {
    enum tune_window_kind const kind = file->window == 0 ? TUNE_RECTANGULAR : TUNE_HANN;
    bool good = true;
    snprintf(rows->unit, sizeof rows->unit, "%s%s", file->unit, file->bpms > 1 ? "/√m" : "");
    for (int plane = 0; plane < TUNE_PLANES && good; ++plane) {
        rows->is_sliding[plane] = isfinite(file->sliding.low[plane]);
        good = !rows->is_sliding[plane] ||
               tune_every_turn_open(&rows->sliding[plane], file->window_turns, kind, sliding_band(file, plane));
    }
    return good;
}

void tune_rows_close(struct tune_rows_memory *rows) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        tune_every_turn_close(&rows->sliding[plane]);
}

static void shape_band(struct tune_file const *file, struct tune_band band, struct rm_rows_shape *shape) {
    shape->width = band.last - band.first + 1;
    shape->axis_first = (double)band.first / file->window_turns;
    shape->axis_step = 1.0 / file->window_turns;
    shape->axis_name = "tune";
    shape->axis_unit = "1/turn";
    shape->delay_turns = 0.5 * (file->window_turns - 1.0);
}

void tune_rows_shape(struct tune_rows_memory const *rows, struct tune_file const *file,
                     struct rm_application_setup const *setup, uint32_t which, struct rm_rows_shape *shape) {
    int const plane = (int)(which % TUNE_PLANES);
    double const steps_hz = setup->turn_rate_hz / (double)setup->period_turns;
    bool const is_sliding = which >= TUNE_ROWS_SLIDING_X;
    if (is_sliding ? !rows->is_sliding[plane] : !(file->spectrum_rows_hz > 0.0))
        return;
    shape_band(file,
               is_sliding ? sliding_band(file, plane)
                          : tune_meter_band(file->window_turns, file->low[plane], file->high[plane]),
               shape);
    shape->unit = is_sliding ? file->unit : rows->unit;
    shape->period_steps = is_sliding ? 1 : (uint32_t)fmax(1.0, rint(steps_hz / file->spectrum_rows_hz));
    shape->depth = (uint32_t)ceil((is_sliding ? SLIDING_S : SPECTRUM_S) * steps_hz / shape->period_steps);
}

void tune_rows_begin(struct tune_rows_memory *rows) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        if (rows->is_sliding[plane])
            tune_every_turn_begin(&rows->sliding[plane]);
}

void tune_rows_push(struct tune_rows_memory *rows, uint64_t turn, float const *position, uint32_t bpms,
                    uint32_t count) {
    for (uint32_t plane = 0; plane < TUNE_PLANES; ++plane)
        if (rows->is_sliding[plane])
            tune_every_turn_push(&rows->sliding[plane], turn, position + plane * bpms, TUNE_PLANES * bpms, count);
}

void tune_rows_expect(struct tune_meter *meter, struct rm_row const *row) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        meter->row[plane] = row[TUNE_ROWS_SPECTRUM_X + plane].value;
}

static void row_blank(struct rm_row *row, uint32_t width) {
    for (uint32_t k = 0; k < width; ++k)
        row->value[k] = NAN;
}

static void tell_spectrum(struct tune_meter const *meter, struct tune_reading const *reading, int plane,
                          struct rm_row *row) {
    struct tune_meter_plan const *const plan = &meter->plan;
    struct tune_band const band = tune_meter_band(plan->turns, plan->low[plane], plan->high[plane]);
    row->quality = reading != NULL ? reading[plane].reasons & OF_TURNS : TUNE_LOST_TURNS;
    if (reading == NULL)
        row_blank(row, band.last - band.first + 1);
}

static void tell_sliding(struct tune_every_turn *it, struct tune_meter const *meter, struct tune_reading const *reading,
                         int plane, struct rm_row *row) {
    uint32_t reasons = reading != NULL ? reading[plane].reasons & TUNE_NO_BEAM : 0;
    reasons |= tune_meter_bpm_reasons(meter, plane, 0);
    reasons |= tune_every_turn_was_cut(it) ? TUNE_SATURATED : 0;
    if (!tune_every_turn_read(it, row->value)) {
        row_blank(row, it->band.last - it->band.first + 1);
        reasons |= TUNE_LOST_TURNS;
    }
    row->quality = reasons;
}

void tune_rows_tell(struct tune_rows_memory *rows, struct tune_meter const *meter, struct tune_reading const *reading,
                    struct rm_row *row) {
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        if (row[TUNE_ROWS_SPECTRUM_X + plane].value != NULL)
            tell_spectrum(meter, reading, plane, &row[TUNE_ROWS_SPECTRUM_X + plane]);
        if (row[TUNE_ROWS_SLIDING_X + plane].value != NULL)
            tell_sliding(&rows->sliding[plane], meter, reading, plane, &row[TUNE_ROWS_SLIDING_X + plane]);
    }
}
