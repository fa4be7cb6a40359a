// SPDX-License-Identifier: Apache-2.0
/** What the tune costs on one core, and how accurate it is. Windows of 8192 turns. Prints JSON.
 *
 *     ringmaster-tune-cost [--rounds N] [--windows N]     costs by turns, in ns; errors over the Cramér–Rao bound
 *     ringmaster-tune-cost --drift TURNS                  a transient of 10 mm, then nm signals over so many turns: the
 *                                                         sliding sums beside those of the last window alone
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tune/law/combine.h"
#include "apps/tune/law/every_turn.h"
#include "apps/tune/law/naff.h"
#include "apps/tune/law/peak.h"
#include "apps/tune/law/sliding.h"
#include "base/options.h"
#include "rounds.h"

enum {
    TURNS = TUNE_TURNS_DEFAULT,
    /** Those of the band: 512 bins from 0.195 on. */
    FIRST_BIN = 1600,
    BAND_BINS = 512,
    PLANES = 8,
    PLANES_OF_A_PAIR = 2,
    BPMS_OF_A_PAIR = 2,
    /** In a millisecond or so. */
    PAIRS = 20,
    TRANSFORMS = 128,
    LINES = 32,
    SLID_TURNS = 1024,
    /** Of a row of the tune's spectrum: from 0.05 to 0.45. */
    ROW_FIRST_BIN = 410,
    ROW_BINS = 3277,
    ROWS = 64,
    /** Of a step of the application, and steps. */
    STEP_TURNS = 576,
    BAND_STEPS = 16,
    TRANSIENT_TURNS = 2 * TURNS,
    DRIFT_PLANES = 1,
    DRIFT_BINS = 16,
};

static char const USAGE[] =
    "Usage: ringmaster-tune-cost [--rounds N] [--windows N] [--drift TURNS]\n"
    "What the tune costs on one core in ns, and how accurate it is; or, with --drift, whether the sliding transform\n"
    "drifts. Prints JSON.\n";

static double const TWO_PI = 6.28318530717958647692;
static double const TUNE = 0.2137, NOISE = 0.5, TRANSIENT_NM = 1e7;
static struct tune_band const band = {FIRST_BIN, FIRST_BIN + BAND_BINS - 1, 1.0, 0.0};

/** Of standard deviation 1. */
static double draw_normal(void) {
    double const even = 0.5 * (bench_draw() + 1.0) + 0x1p-60;
    return sqrt(-2.0 * log(fmin(1.0, even))) * cos(TWO_PI * bench_draw());
}

static void must_have_memory(bool is_made) {
    if (!is_made)
        bench_fail("no memory");
}

/** All that is measured, and what it works on. */
struct subject {
    float series[BPMS_OF_A_PAIR][TURNS];
    double line[TURNS];
    struct tune_weight weight[BPMS_OF_A_PAIR];
    /** Of one BPM, and of a pair. */
    struct tune_spectrum one, pair;
    struct tune_naff naff[2];
    struct tune_sliding sliding;
    int32_t position_nm[SLID_TURNS][PLANES];
    struct tune_every_turn every_turn;
    uint64_t turn;
    float row[ROW_BINS];
    struct tune_band pair_band;
    struct tune_peak peak;
};

static uint64_t act_transforms(void *argument) {
    struct subject *const subject = argument;
    for (int i = 0; i < TRANSFORMS; ++i) {
        memcpy(subject->one.series, subject->series[0], sizeof subject->series[0]);
        tune_spectrum_transform(&subject->one);
    }
    return TRANSFORMS;
}

/** Both planes of two BPMs: combined, transformed, and their peaks. */
static uint64_t act_pairs(void *argument) {
    struct subject *const subject = argument;
    float const *const series[] = {subject->series[0], subject->series[1]};
    for (int i = 0; i < PAIRS * PLANES_OF_A_PAIR; ++i) {
        tune_combine(series, subject->weight, BPMS_OF_A_PAIR, TURNS, subject->pair.series, RM_SIMD_BEST);
        tune_spectrum_transform(&subject->pair);
        if (!tune_peak_find(subject->pair.bin, TURNS, TUNE_HANN, subject->pair_band, &subject->peak))
            bench_fail("a pair has no peak");
    }
    return PAIRS;
}

static uint64_t act_naff(struct subject *subject, enum tune_window_kind kind) {
    for (int i = 0; i < LINES; ++i) {
        struct tune_line line;
        tune_naff_take(&subject->naff[kind], subject->line);
        if (!tune_naff_next(&subject->naff[kind], 0.0, 0.5, &line) || fabs(line.tune - TUNE) > 1e-6)
            bench_fail("NAFF finds no line");
    }
    return LINES;
}

static uint64_t act_naff_rectangular(void *argument) { return act_naff(argument, TUNE_RECTANGULAR); }
static uint64_t act_naff_hann(void *argument) { return act_naff(argument, TUNE_HANN); }

static uint64_t act_slides(struct subject *subject, uint32_t at_once) {
    for (uint32_t turn = 0; turn < SLID_TURNS; turn += at_once)
        tune_sliding_push(&subject->sliding, subject->position_nm[turn], at_once);
    return SLID_TURNS;
}

static uint64_t act_every_turn(void *argument) { return act_slides(argument, 1); }
static uint64_t act_four_turns(void *argument) { return act_slides(argument, TUNE_SLIDING_BLOCK); }

/** Rows of a spectrum that is there. */
static uint64_t act_rows(void *argument) {
    struct subject *const subject = argument;
    for (int i = 0; i < ROWS; ++i)
        tune_spectrum_amplitudes(&subject->pair.bin[ROW_FIRST_BIN], TURNS, TUNE_HANN, ROW_BINS, subject->row);
    return ROWS;
}

/** A step's turns, and the row after them, some times. */
static uint64_t act_band_step(void *argument) {
    struct subject *const subject = argument;
    for (int i = 0; i < BAND_STEPS; ++i) {
        tune_every_turn_push(&subject->every_turn, subject->turn, subject->series[0], 1, STEP_TURNS);
        subject->turn += STEP_TURNS;
        if (subject->turn > TURNS && !tune_every_turn_read(&subject->every_turn, subject->row))
            bench_fail("there is no whole window");
    }
    return BAND_STEPS;
}

static void subject_make(struct subject *subject) {
    for (uint32_t n = 0; n < TURNS; ++n) {
        subject->line[n] = cos(TWO_PI * TUNE * n + 0.3) + 0.01 * draw_normal();
        for (int bpm = 0; bpm < BPMS_OF_A_PAIR; ++bpm)
            subject->series[bpm][n] = (float)(cos(TWO_PI * TUNE * n + bpm) + NOISE * draw_normal());
    }
    for (uint32_t turn = 0; turn < SLID_TURNS; ++turn)
        for (uint32_t plane = 0; plane < PLANES; ++plane)
            subject->position_nm[turn][plane] = (int32_t)(1e4 * bench_draw());
    struct tune_bpm const bpms[BPMS_OF_A_PAIR] = {{8.0, 0.0, NOISE}, {8.0, 1.0, NOISE}};
    struct tune_combination const pair = tune_weights_make(bpms, BPMS_OF_A_PAIR, subject->weight);
    subject->pair_band = band;
    subject->pair_band.image_re = pair.image_re;
    subject->pair_band.image_im = pair.image_im;
    bool made =
        tune_spectrum_open_measured(&subject->one, TURNS, 1) && tune_spectrum_open_measured(&subject->pair, TURNS, 2);
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        made = made && tune_naff_open(&subject->naff[kind], TURNS, kind, RM_SIMD_BEST);
    made = made && tune_sliding_open(&subject->sliding, TURNS, FIRST_BIN, BAND_BINS, PLANES, TUNE_SLIDING_RANGE_MAX_NM,
                                     RM_SIMD_BEST);
    made = made && tune_every_turn_open(&subject->every_turn, TURNS, TUNE_HANN, band);
    must_have_memory(made);
}

static void costs_print(struct subject *subject, size_t rounds) {
    struct bench_case cases[] = {
        {"transform_ns", act_transforms, subject, NULL, NULL},
        {"pair_ns", act_pairs, subject, NULL, NULL},
        {"naff_rectangular_ns", act_naff_rectangular, subject, NULL, NULL},
        {"naff_hann_ns", act_naff_hann, subject, NULL, NULL},
        {"turn_ns", act_every_turn, subject, NULL, NULL},
        {"four_turns_ns", act_four_turns, subject, NULL, NULL},
        {"row_ns", act_rows, subject, NULL, NULL},
        {"band_step_ns", act_band_step, subject, NULL, NULL},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    bench_rounds(cases, CASES, rounds);
    for (int i = 0; i < CASES; ++i)
        bench_figure_json(cases[i].name, cases[i].ns, rounds, ", ");
}

/** Root mean squares over the bound of a steady line: NAFF's, and that of the peak of the FFT. */
static void errors_print(struct subject *subject, uint32_t windows) {
    static char const *const names[] = {"rectangular", "hann"};
    double const bound = tune_error_least(TUNE_RECTANGULAR, TURNS, 1.0, NOISE);
    double naff[2] = {0.0}, peak[2] = {0.0};
    for (uint32_t window = 0; window < windows; ++window) {
        double const tune = TUNE + bench_draw() / TURNS, phase_rad = TWO_PI * bench_draw();
        for (uint32_t n = 0; n < TURNS; ++n)
            subject->line[n] = cos(TWO_PI * tune * n + phase_rad) + NOISE * draw_normal();
        for (uint32_t n = 0; n < TURNS; ++n)
            subject->one.series[n] = (float)subject->line[n];
        tune_spectrum_transform(&subject->one);
        for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind) {
            struct tune_line line;
            tune_naff_take(&subject->naff[kind], subject->line);
            if (!tune_naff_next(&subject->naff[kind], 0.0, 0.5, &line) ||
                !tune_peak_find(subject->one.bin, TURNS, kind, band, &subject->peak))
                bench_fail("a line was not found");
            naff[kind] += pow((line.tune - tune) / bound, 2.0);
            peak[kind] += pow((subject->peak.tune - tune) / bound, 2.0);
        }
    }
    for (int kind = TUNE_RECTANGULAR; kind <= TUNE_HANN; ++kind)
        printf("\"error_naff_%s\": %.4f, \"error_peak_%s\": %.4f, ", names[kind], sqrt(naff[kind] / windows),
               names[kind], sqrt(peak[kind] / windows));
}

/** Of a plane at a turn: a function of it alone, so that it need not be kept. */
static int32_t drift_position_nm(uint64_t turn) {
    uint64_t const bits = turn * 0x9E3779B97F4A7C15u;
    double const even = (double)(int64_t)(bits ^ bits << 23) * 0x1p-63;
    return (int32_t)(even * (turn < TRANSIENT_TURNS ? TRANSIENT_NM : 5.0));
}

static void drift_print(uint64_t turns) {
    struct tune_sliding all, last;
    bool const made =
        tune_sliding_open(&all, TURNS, FIRST_BIN, DRIFT_BINS, DRIFT_PLANES, TUNE_SLIDING_RANGE_MAX_NM, RM_SIMD_BEST) &&
        tune_sliding_open(&last, TURNS, FIRST_BIN, DRIFT_BINS, DRIFT_PLANES, TUNE_SLIDING_RANGE_MAX_NM, RM_SIMD_SCALAR);
    must_have_memory(made);
    for (uint64_t turn = 0; turn < turns; ++turn) {
        int32_t const position = drift_position_nm(turn);
        tune_sliding_push(&all, &position, 1);
    }
    int32_t const nothing = 0;
    for (uint64_t turn = 0; turn < turns % TURNS; ++turn)
        tune_sliding_push(&last, &nothing, 1);
    for (uint64_t turn = turns - TURNS; turn < turns; ++turn) {
        int32_t const position = drift_position_nm(turn);
        tune_sliding_push(&last, &position, 1);
    }
    size_t const sums = (size_t)all.groups * DRIFT_PLANES * 2 * TUNE_SLIDING_LANES;
    double most = 0.0;
    for (size_t i = 0; i < sums; ++i)
        most = fmax(most, fabs(all.sum[i] - last.sum[i]) / all.scale);
    printf("{\"turns\": %llu, \"greatest_difference_nm\": %g, \"greatest_sum_nm\": %g}\n", (unsigned long long)turns,
           most, fabs(last.sum[0]) / last.scale);
}

int main(int argc, char **argv) {
    uint64_t rounds = 51, windows = 2000, drift = 0;
    struct rm_option options[] = {
        {"rounds", &rounds, 1, 1e6, .kind = RM_OPTION_WHOLE},
        {"windows", &windows, 0, 1e6, .kind = RM_OPTION_WHOLE},
        {"drift", &drift, TRANSIENT_TURNS + TURNS, 1e12, .kind = RM_OPTION_WHOLE},
    };
    rm_options_or_exit(argc, argv, USAGE, options, sizeof options / sizeof *options);
    if (drift > 0) {
        drift_print(drift);
        return 0;
    }
    struct subject *const subject = bench_allocate(sizeof *subject);
    subject_make(subject);
    printf("{");
    costs_print(subject, rounds);
    if (windows > 0)
        errors_print(subject, (uint32_t)windows);
    printf("\"windows\": %llu, \"simd\": \"%s\"}\n", (unsigned long long)windows, rm_simd_name(RM_SIMD_BEST));
    return 0;
}
