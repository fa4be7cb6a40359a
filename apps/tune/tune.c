// SPDX-License-Identifier: Apache-2.0
/** tune: the tune of both planes from turns of BPMs, new at each step. docs/tune.md says what it tells.
 *
 *     open    reads its file, and makes the meter (law/meter.h): windows, FFT, weights
 *     init    finds the lanes among the inputs; the meter begins anew
 *     step    gives the meter the turns since the last step, and tells what it reads
 *
 * It has no supplies. A step of N = 8192 takes some 40 µs, and comes every 500: all is done in it. Where steps were
 * skipped, the next one gives the meter their turns too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <ringmaster/application.h>
#include <ringmaster/errors.h>

#include "detail.h"
#include "file.h"
#include "lanes.h"
#include "law/follow.h"
#include "law/meter.h"
#include "law/refine.h"
#include "law/response.h"
#include "names.h"
#include "pack.h"
#include "rows.h"

struct tune_memory {
    struct tune_file file;
    struct tune_meter meter;
    struct tune_rows_memory rows;
    /** Where the file wants NAFF. */
    struct tune_refine refine;
    /** Where it wants the line of a beam that noise drives. */
    struct tune_follow follow;
    /** [plane][bpm] */
    struct tune_bpm *bpm[TUNE_PLANES];
    /** [turn][plane][bpm] of a step. */
    float *position;
};

struct tune {
    struct tune_lane lane[TUNE_PLANES][TUNE_BPMS_MAX];
    struct tune_lane beam;
};

/* ── before the first step ── */

static struct tune_meter_plan plan_of(struct tune_memory const *memory, double turn_rate_hz) {
    struct tune_file const *const file = &memory->file;
    struct tune_meter_plan plan = {
        .turns = file->window_turns,
        .kind = file->window == 0 ? TUNE_RECTANGULAR : TUNE_HANN,
        .bpms = file->bpms,
        .limits = tune_quality_limits(file->window_turns),
    };
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        plan.bpm[plane] = memory->bpm[plane];
        plan.low[plane] = file->low[plane];
        plan.high[plane] = file->high[plane];
    }
    plan.limits.signal_to_noise = file->signal_to_noise;
    plan.limits.full_scale = isfinite(file->full_scale) ? file->full_scale : INFINITY;
    plan.limits.beam = file->least_beam;
    plan.limits.known_lines = file->known_lines;
    for (uint32_t i = 0; i < file->known_lines; ++i)
        plan.limits.known_line[i] = tune_folded(file->known_line_hz[i], turn_rate_hz);
    return plan;
}

/** Optics of all BPMs, room for the turns of a step, and the meter. */
static bool memory_make(struct tune_memory *memory, struct rm_application_setup const *setup) {
    struct tune_file const *const file = &memory->file;
    memory->position = calloc(setup->period_turns, sizeof(float) * TUNE_PLANES * file->bpms);
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        memory->bpm[plane] = calloc(file->bpms, sizeof *memory->bpm[plane]);
        for (uint32_t b = 0; memory->bpm[plane] != NULL && b < file->bpms; ++b)
            memory->bpm[plane][b] =
                (struct tune_bpm){file->bpm[b].beta_m[plane], file->bpm[b].phase_rad[plane], file->bpm[b].noise};
    }
    struct tune_meter_plan const plan = plan_of(memory, setup->turn_rate_hz);
    return memory->position != NULL && memory->bpm[0] != NULL && memory->bpm[1] != NULL &&
           tune_meter_open(&memory->meter, &plan) && tune_rows_open(&memory->rows, file) &&
           (file->estimator != TUNE_BY_NAFF || tune_refine_open(&memory->refine, plan.turns, plan.kind)) &&
           (file->driven_windows == 0 || tune_follow_open(&memory->follow, &plan, file->driven_windows));
}

static void tune_close(void *memory) {
    struct tune_memory *it = memory;
    tune_meter_close(&it->meter);
    tune_refine_close(&it->refine);
    tune_rows_close(&it->rows);
    tune_follow_close(&it->follow);
    free(it->bpm[0]);
    free(it->bpm[1]);
    free(it->position);
    rm_configuration_free(tune_keys, &it->file);
    free(it);
}

static enum rm_code tune_open(struct rm_application_setup const *setup, void **memory, struct rm_error *error) {
    struct tune_memory *made = calloc(1, sizeof *made);
    struct rm_errors errors = {.count = 0};
    if (made == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory");
    enum rm_code code = rm_configuration_load(setup->configuration, tune_keys, &made->file, tune_file_check, &errors);
    if (code != RM_OK)
        code = rm_errors_report(&errors, setup->name, setup->configuration, error);
    else if (!memory_make(made, setup))
        code = rm_fail(error, RM_E_NO_SPACE, "no memory for %u BPMs of %u turns", made->file.bpms,
                       made->file.window_turns);
    if (code != RM_OK) {
        tune_close(made);
        return code;
    }
    *memory = made;
    return RM_OK;
}

static enum rm_code tune_init(struct rm_application_setup const *setup, void *state, struct rm_error *error) {
    struct tune *it = state;
    struct tune_memory *memory = setup->memory;
    struct tune_file const *const file = &memory->file;
    enum rm_code code = RM_OK;
    memory->meter.count = 0; /* it begins with the next turn */
    tune_rows_begin(&memory->rows);
    if (file->driven_windows > 0)
        tune_follow_begin(&memory->follow);
    for (uint32_t b = 0; b < file->bpms; ++b)
        for (int plane = 0; plane < TUNE_PLANES && code == RM_OK; ++plane) {
            char key[32];
            snprintf(key, sizeof key, "bpms[%u].%c", b, plane == 0 ? 'x' : 'y');
            code = tune_lane_find(setup, key, file->bpm[b].lane[plane], &it->lane[plane][b], error);
            if (code == RM_OK)
                code = tune_lane_check_unit(setup, key, it->lane[plane][b], file->unit, error);
        }
    if (code == RM_OK && file->beam != NULL)
        code = tune_lane_find(setup, "beam", file->beam, &it->beam, error);
    return code;
}

/* ── one step ── */

/** Gives the meter all turns since the last step, as many at a time as there is room for; those that are not there too. */
static void push_turns(struct rm_application_setup const *setup, struct tune const *it, struct rm_step const *given) {
    struct tune_memory *memory = setup->memory;
    uint32_t const bpms = memory->file.bpms, turns = (uint32_t)setup->period_turns;
    rm_turn const begin = given->turn + 1 - given->run_turns;
    for (uint64_t first = 0; first < given->run_turns; first += turns) {
        for (uint32_t plane = 0; plane < TUNE_PLANES; ++plane)
            for (uint32_t b = 0; b < bpms; ++b)
                tune_lane_read(setup, given, it->lane[plane][b], first, turns, memory->position + plane * bpms + b,
                               TUNE_PLANES * bpms);
        tune_meter_push(&memory->meter, begin + first, memory->position, turns);
        tune_rows_push(&memory->rows, begin + first, memory->position, bpms, turns);
    }
}

/** From the middle of a window to its last turn, the record's. */
static double tune_delay(struct rm_application_setup const *setup, uint32_t stream) {
    struct tune_memory const *const memory = setup->memory;
    (void)stream;
    return 0.5 * (memory->file.window_turns - 1.0);
}

static void tune_shape(struct rm_application_setup const *setup, uint32_t which, struct rm_rows_shape *shape) {
    struct tune_memory const *const memory = setup->memory;
    tune_rows_shape(&memory->rows, &memory->file, setup, which, shape);
}

/** Takes the peaks that were found to NAFF: of the one BPM that there is then. */
static void refine_peaks(struct tune_memory *memory, struct tune_reading reading[TUNE_PLANES]) {
    struct tune_meter const *const meter = &memory->meter;
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        if (!isnan(reading[plane].peak.tune))
            tune_refine_peak(&memory->refine, meter->series[plane].ring + meter->count % meter->plan.turns,
                             &reading[plane].peak);
}

static void tell_plane(struct tune_reading const *reading, int plane, double *told) {
    told[TUNE_TOLD_TUNE_X + plane] = reading->peak.tune;
    told[TUNE_TOLD_SIGMA_X + plane] = reading->peak.tune_sigma;
    told[TUNE_TOLD_AMPLITUDE_X + plane] = reading->peak.amplitude;
    told[TUNE_TOLD_SNR_X + plane] = reading->peak.signal_to_noise;
    told[TUNE_TOLD_QUALITY_X + plane] = reading->reasons;
}

static void tell_driven(struct tune_follow const *follow, int plane, double *told) {
    struct tune_driven const *const driven = &follow->driven[plane];
    double const there = follow->is_found[plane] ? 1.0 : NAN;
    told[TUNE_TOLD_DRIVEN_TUNE_X + plane] = there * driven->tune;
    told[TUNE_TOLD_DRIVEN_SIGMA_X + plane] = there * driven->tune_sigma;
    told[TUNE_TOLD_DRIVEN_DAMPING_X + plane] = there * driven->damping_per_turn;
    told[TUNE_TOLD_DRIVEN_RMS_X + plane] = there * driven->rms;
    told[TUNE_TOLD_DRIVEN_RESOLVED_X + plane] = follow->is_found[plane] && driven->is_resolved;
}

/** The line of a beam that noise drives: the planes take turns, so that no step has two fits. Such a line may be no peak,
 * or several; but the window must be one of all BPMs. */
static void follow_driven(struct tune_memory *memory, uint64_t steps, struct tune_reading const reading[TUNE_PLANES],
                          double *told) {
    int const plane = (int)(steps % TUNE_PLANES);
    struct tune_reading const *const look = &reading[plane];
    uint32_t const bad = TUNE_NO_BEAM | TUNE_SATURATED | TUNE_FROZEN | TUNE_LOST_TURNS;
    if (look->bpms == memory->file.bpms && (look->reasons & bad) == 0)
        tune_follow_take(&memory->follow, &memory->meter, plane);
    tell_driven(&memory->follow, plane, told);
}

/** Nothing is known of driven lines that are not looked for. */
static void tell_none_driven(double *told) {
    for (int i = TUNE_TOLD_DRIVEN_TUNE_X; i < TUNE_TOLD_DRIVEN_RESOLVED_X; ++i)
        told[i] = NAN;
}

static uint32_t tune_length(struct rm_application_setup const *setup, bool is_reading, uint32_t index) {
    struct tune_memory const *const memory = setup->memory;
    (void)is_reading;
    (void)index;
    return tune_file_responses(&memory->file);
}

/** What the window leaves of a ripple of the tune: a client divides by it. */
static void tell_response(struct rm_application_setup const *setup, double *told) {
    struct tune_memory const *const memory = setup->memory;
    for (uint32_t i = 0; i < tune_file_responses(&memory->file); ++i) {
        double const hz = tune_file_response_hz(&memory->file, i);
        told[setup->reading_at[TUNE_TOLD_RESPONSE_HZ] + i] = hz;
        told[setup->reading_at[TUNE_TOLD_RESPONSE] + i] =
            tune_response(memory->meter.plan.kind, fabs(hz) * memory->file.window_turns / setup->turn_rate_hz);
    }
}

static enum rm_step_result tune_step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                     struct rm_command *command) {
    struct tune const *it = state;
    struct tune_memory *memory = setup->memory;
    struct tune_reading reading[TUNE_PLANES];
    double *const told = command->reading;
    if (given->turn < given->run_turns) /* at turn 0 there are none before it */
        return RM_STEP_SEND;
    push_turns(setup, it, given);
    double const beam = memory->file.beam != NULL ? tune_lane_last(setup, given, it->beam) : INFINITY;
    tune_rows_expect(&memory->meter, command->row);
    bool const is_whole = tune_meter_read(&memory->meter, beam, reading);
    tune_rows_tell(&memory->rows, &memory->meter, is_whole ? reading : NULL, command->row);
    if (!is_whole)
        for (int plane = 0; plane < TUNE_PLANES; ++plane)
            reading[plane] = (struct tune_reading){.peak = {.tune = NAN, .tune_sigma = NAN}, .reasons = TUNE_NO_PEAK};
    if (memory->file.estimator == TUNE_BY_NAFF)
        refine_peaks(memory, reading);
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        tell_plane(&reading[plane], plane, told);
    told[TUNE_TOLD_LOST_TURNS] = fmax(reading[0].lost_turns, reading[1].lost_turns);
    told[TUNE_TOLD_BPMS] = fmin(reading[0].bpms, reading[1].bpms);
    told[TUNE_TOLD_DELAY] = tune_delay(setup, 0);
    if (given->steps < TUNE_PLANES || memory->file.driven_windows == 0)
        tell_none_driven(told);
    if (memory->file.driven_windows > 0)
        follow_driven(memory, given->steps, reading, told);
    told[TUNE_TOLD_WINDOW] = memory->file.window;
    for (uint32_t lane = 0; lane < TUNE_TOLD_LANES; ++lane)
        command->stream[TUNE_STREAM_TUNE][lane] = (float)told[lane];
    tune_detail_tell(reading, memory->file.window_turns, command->stream[TUNE_STREAM_DETAIL]);
    tell_response(setup, told);
    return RM_STEP_SEND;
}

/* ── another server ── */

static void tune_pieces(struct tune_memory *memory, struct rm_pieces *pieces) {
    tune_meter_pieces(&memory->meter, pieces);
    tune_rows_pieces(&memory->rows, pieces);
    if (memory->file.driven_windows > 0)
        tune_follow_pieces(&memory->follow, &memory->meter, pieces);
}

static size_t tune_pack(struct rm_application_setup const *setup, void const *state, void *bytes, size_t capacity) {
    struct rm_pieces pieces = {.out = bytes, .end = capacity};
    (void)state;
    tune_pieces(setup->memory, &pieces);
    return pieces.is_short ? 0 : pieces.at;
}

static enum rm_code tune_unpack(struct rm_application_setup const *setup, void *state, void const *bytes, size_t count,
                                struct rm_error *error) {
    struct rm_pieces pieces = {.in = bytes, .end = count};
    (void)state;
    tune_pieces(setup->memory, &pieces);
    if (pieces.is_short || pieces.at != count)
        return rm_fail(error, RM_E_CONFIG, "it has %zu bytes, and other windows or BPMs than here", count);
    return RM_OK;
}

struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION,
    .takes_runs = 1,
    .state_bytes = sizeof(struct tune),
    .reading_count = TUNE_TOLD,
    .readings = tune_readings,
    .streams = tune_streams,
    .stream_count = TUNE_STREAMS,
    .rows = tune_rows,
    .row_count = TUNE_ROWS,
    .shape = tune_shape,
    .init = tune_init,
    .step = tune_step,
    .open = tune_open,
    .close = tune_close,
    .length = tune_length,
    .delay = tune_delay,
    .pack = tune_pack,
    .unpack = tune_unpack,
};
