// SPDX-License-Identifier: Apache-2.0
/** The application's own file: BPMs, window, bands. docs/tune.md has an example. */
#ifndef TUNE_FILE_H
#define TUNE_FILE_H

#include <stdint.h>

#include <ringmaster/configuration.h>

#include "law/meter.h"

/** Optics are 1 m and 0 of a BPM alone; of several each has its own. */
struct tune_file_bpm {
    /** INSTRUMENT/LANE of both planes: "bpm01/x1". */
    char *lane[TUNE_PLANES];
    double beta_m[TUNE_PLANES], phase_rad[TUNE_PLANES];
    /** Of its turns, against that of the others. */
    double noise;
};

enum tune_estimator { TUNE_BY_PEAK, TUNE_BY_NAFF };

/** Bands of the transform that is new at every turn, oscillations per turn; NaN: none. */
struct tune_file_sliding {
    double low[TUNE_PLANES], high[TUNE_PLANES];
};

struct tune_file {
    uint32_t window_turns;
    /** enum tune_window_kind */
    uint32_t window;
    /** enum tune_estimator */
    uint32_t estimator;
    /** Oscillations per turn. */
    double low[TUNE_PLANES], high[TUNE_PLANES];
    double signal_to_noise;
    /** Of a mean periodogram; 0: a driven line is not looked for. */
    uint32_t driven_windows;
    /** Magnitude of positions at full scale, in their unit. NaN: not looked for. */
    double full_scale;
    /** INSTRUMENT/LANE that tells whether there is beam; NULL: not looked for. */
    char *beam;
    /** In the unit of that lane. */
    double least_beam;
    /** Of positions, as all lanes must have it. */
    char *unit;
    /** Rows of each spectrum a second; 0: none. */
    double spectrum_rows_hz;
    struct tune_file_sliding sliding;
    double *known_line_hz;
    uint32_t known_lines;
    /** Ripple of the tune whose response is told; none: TUNE_RESPONSE_HZ. */
    double *response_hz;
    uint32_t responses;
    /** Of the list, or of the table (optics.h). */
    struct tune_file_bpm *bpm;
    uint32_t bpms;
    /** The table, a file; NULL: the list has them. */
    char *optics;
    /** Lanes of the table's instruments. */
    char *lane[TUNE_PLANES];
};

extern struct rm_key const tune_keys[];

enum { TUNE_RESPONSES_DEFAULT = 2 };

/** Mains and its rectifiers. */
static double const TUNE_RESPONSE_HZ[TUNE_RESPONSES_DEFAULT] = {50.0, 100.0};

static inline uint32_t tune_file_responses(struct tune_file const *file) {
    return file->responses > 0 ? file->responses : TUNE_RESPONSES_DEFAULT;
}

static inline double tune_file_response_hz(struct tune_file const *file, uint32_t i) {
    return file->responses > 0 ? file->response_hz[i] : TUNE_RESPONSE_HZ[i];
}

/** What keys cannot judge, for rm_configuration_load: `values` is a struct tune_file. */
enum rm_code tune_file_check(char const *path, void *values, struct rm_errors *errors);

#endif
