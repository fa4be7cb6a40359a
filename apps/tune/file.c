// SPDX-License-Identifier: Apache-2.0
#include "file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ringmaster/abi.h>

#include "law/every_turn.h"
#include "optics.h"

enum {
    X,
    Y,
    LANE_LONGEST = 95, /**< RM_NAME_BYTES - 1 */
    UNIT_LONGEST = 10, /**< RM_UNIT_BYTES - 1, and room for "/√m" */
};

/** In the order of enum tune_window_kind, and of enum tune_estimator. */
static char const *const windows[] = {"rectangular", "hann", NULL};
static char const *const estimators[] = {"peak", "naff", NULL};

static struct rm_key const bpm_keys[] = {
    RM_KEY_TEXT(struct tune_file_bpm, lane[X], "x", "INSTRUMENT/LANE of its horizontal position.",
                .example = "bpm01/x1", .required = true, RM_BETWEEN(3, LANE_LONGEST)),
    RM_KEY_TEXT(struct tune_file_bpm, lane[Y], "y", "INSTRUMENT/LANE of its vertical position.", .example = "bpm01/y1",
                .required = true, RM_BETWEEN(3, LANE_LONGEST)),
    RM_KEY_NUMBER(struct tune_file_bpm, beta_m[X], "beta_x_m", "Horizontal beta function.", .unit = "m",
                  .otherwise = "1 of a BPM alone", .example = "8.2", RM_BETWEEN(1e-3, 1e4)),
    RM_KEY_NUMBER(struct tune_file_bpm, beta_m[Y], "beta_y_m", "Vertical beta function.", .unit = "m",
                  .otherwise = "1 of a BPM alone", .example = "3.1", RM_BETWEEN(1e-3, 1e4)),
    RM_KEY_NUMBER(struct tune_file_bpm, phase_rad[X], "phase_x_rad", "Horizontal phase advance.", .unit = "rad",
                  .otherwise = "0 of a BPM alone", .example = "0.4", RM_BETWEEN(-1e4, 1e4)),
    RM_KEY_NUMBER(struct tune_file_bpm, phase_rad[Y], "phase_y_rad", "Vertical phase advance.", .unit = "rad",
                  .otherwise = "0 of a BPM alone", .example = "0.2", RM_BETWEEN(-1e4, 1e4)),
    RM_KEY_NUMBER(struct tune_file_bpm, noise, "noise", "RMS of its turns, against that of the others.",
                  .fallback = "1", RM_BETWEEN(1e-12, 1e12)),
    RM_KEYS_END,
};

static struct rm_key const sliding_keys[] = {
    RM_KEY_NUMBER(struct tune_file_sliding, low[X], "low_x", "Horizontal band: from.", .unit = "oscillations per turn",
                  .otherwise = "none", .example = "0.28", RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tune_file_sliding, high[X], "high_x", "To.", .unit = "oscillations per turn",
                  .otherwise = "none", .example = "0.32", RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tune_file_sliding, low[Y], "low_y", "Vertical band: from.", .unit = "oscillations per turn",
                  .otherwise = "none", .example = "0.14", RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tune_file_sliding, high[Y], "high_y", "To.", .unit = "oscillations per turn",
                  .otherwise = "none", .example = "0.18", RM_BETWEEN(0, 0.5)),
    RM_KEYS_END,
};

struct rm_key const tune_keys[] = {
    RM_KEY_WHOLE(struct tune_file, window_turns, "window_turns", "Turns that a tune is of: an even number.",
                 .unit = "turns", .fallback = "8192", RM_BETWEEN(TUNE_TURNS_MIN, TUNE_TURNS_MAX)),
    RM_KEY_WORD(struct tune_file, window, "window", "Least noise, or least disturbed by other lines.", .words = windows,
                .fallback = "hann"),
    RM_KEY_WORD(struct tune_file, estimator, "estimator", "The peak of the FFT, or NAFF from there on, of one BPM.",
                .words = estimators, .fallback = "peak"),
    RM_KEY_NUMBER(struct tune_file, low[X], "low_x", "Where the horizontal tune is looked for: from.",
                  .unit = "oscillations per turn", .fallback = "0.05", RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tune_file, high[X], "high_x", "To.", .unit = "oscillations per turn", .fallback = "0.45",
                  RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tune_file, low[Y], "low_y", "Where the vertical tune is looked for: from.",
                  .unit = "oscillations per turn", .fallback = "0.05", RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tune_file, high[Y], "high_y", "To.", .unit = "oscillations per turn", .fallback = "0.45",
                  RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tune_file, signal_to_noise, "signal_to_noise", "Least ratio of a peak that is trusted.",
                  .fallback = "5", RM_BETWEEN(1, 1e6)),
    RM_KEY_WHOLE(struct tune_file, driven_windows, "driven_windows",
                 "Windows in a row from which the line of a beam that noise drives is told; 0: it is not looked for.",
                 .fallback = "0", RM_BETWEEN(0, 1024)),
    RM_KEY_NUMBER(struct tune_file, full_scale, "full_scale", "Position at which a BPM is saturated, in its unit.",
                  .otherwise = "not looked for", .example = "1.0e+7", RM_BETWEEN(1e-12, 1e12)),
    RM_KEY_TEXT(struct tune_file, beam, "beam", "INSTRUMENT/LANE that says whether there is beam.",
                .otherwise = "not looked for", .example = "bpm01/sum1", RM_BETWEEN(3, LANE_LONGEST)),
    RM_KEY_NUMBER(struct tune_file, least_beam, "least_beam", "Least of that lane with beam, in its unit.",
                  .fallback = "0", RM_BETWEEN(0, 1e12)),
    RM_KEY_TEXT(struct tune_file, unit, "unit", "Unit of the positions, as the BPMs' lanes have it.", .fallback = "nm",
                RM_BETWEEN(0, UNIT_LONGEST)),
    RM_KEY_NUMBER(struct tune_file, spectrum_rows_hz, "spectrum_rows_hz", "Rows of each spectrum a second; 0: none.",
                  .unit = "Hz", .fallback = "25", RM_BETWEEN(0, 10000)),
    RM_KEY_MAPPING(struct tune_file, sliding, "sliding", "A transform of the first BPM that is new at every turn.",
                   sliding_keys, .otherwise = "none"),
    RM_KEY_NUMBERS(struct tune_file, known_line_hz, known_lines, "known_lines_hz",
                   "Lines that are not the beam's, such as the mains.", .unit = "Hz", .otherwise = "none",
                   .example = "[50, 100]", RM_BETWEEN(0, TUNE_KNOWN_LINES_MAX)),
    RM_KEY_NUMBERS(struct tune_file, response_hz, responses, "response_hz",
                   "Ripple of the tune, of which the window's response is told.", .unit = "Hz",
                   .otherwise = "50 and 100", .example = "[50, 100, 300]", RM_BETWEEN(0, TUNE_KNOWN_LINES_MAX)),
    RM_KEY_MAPPINGS(struct tune_file, bpm, bpms, "bpms", "One BPM, a pair, or many.", bpm_keys,
                    .otherwise = "those of optics", RM_BETWEEN(1, TUNE_BPMS_MAX)),
    RM_KEY_TEXT(struct tune_file, optics, "optics", "BPMs and their optics, a table: in the place of bpms.",
                .otherwise = "bpms", .example = "tune-optics.csv", .apart = true),
    RM_KEY_TEXT(struct tune_file, lane[X], "lane_x", "Lane of the horizontal position, of each row of optics.",
                .fallback = "x1", RM_BETWEEN(1, RM_LANE_NAME_BYTES - 1)),
    RM_KEY_TEXT(struct tune_file, lane[Y], "lane_y", "Lane of the vertical position, of each row of optics.",
                .fallback = "y1", RM_BETWEEN(1, RM_LANE_NAME_BYTES - 1)),
    RM_KEYS_END,
};

static char const planes[TUNE_PLANES] = {'x', 'y'};

static enum rm_code check_bands(char const *path, struct tune_file const *file, struct rm_errors *errors) {
    enum rm_code code = RM_OK;
    for (int plane = 0; plane < TUNE_PLANES; ++plane) {
        char key[16];
        snprintf(key, sizeof key, "high_%c", planes[plane]);
        if (tune_meter_has_room(file->window_turns, file->low[plane], file->high[plane]))
            continue;
        code = rm_code_first(
            code, rm_configuration_refuse(errors, path, key,
                                          "from %g to %g are %.0f bins of a window of %u turns, "
                                          "expected %d to %d: widen the band, or change window_turns",
                                          file->low[plane], file->high[plane],
                                          fmax(0.0, file->high[plane] - file->low[plane]) * file->window_turns,
                                          file->window_turns, 2 * TUNE_PEAK_REACH + 2, TUNE_BAND_BINS_MAX));
    }
    return code;
}

/** A band of the sliding transform, where there is one. */
static enum rm_code check_sliding(char const *path, struct tune_file const *file, int plane, struct rm_errors *errors) {
    double const low = file->sliding.low[plane], high = file->sliding.high[plane];
    char key[24];
    if (!isfinite(low) && !isfinite(high))
        return RM_OK;
    snprintf(key, sizeof key, "sliding.%s_%c", isfinite(low) ? "high" : "low", planes[plane]);
    if (!isfinite(low) || !isfinite(high))
        return rm_configuration_refuse(errors, path, key, "it is missing: expected both ends of a band, or none");
    if (file->window_turns > TUNE_SLIDING_TURNS_MAX)
        return rm_configuration_refuse(errors, path, "sliding", "a window of %u turns is too long for it, expected %d",
                                       file->window_turns, TUNE_SLIDING_TURNS_MAX);
    struct tune_band const band = tune_meter_band(file->window_turns, low, high);
    if (band.last > band.first + 1 && band.last - band.first < TUNE_EVERY_TURN_BINS_MAX)
        return RM_OK;
    return rm_configuration_refuse(errors, path, key,
                                   "from %g to %g are %.0f bins of a window of %u turns, "
                                   "expected 3 to %d: a step has no time for more",
                                   low, high, fmax(0.0, high - low) * file->window_turns, file->window_turns,
                                   TUNE_EVERY_TURN_BINS_MAX);
}

/** Optics of a BPM in one plane: those of several without them would cancel each other. */
static enum rm_code check_optics(char const *path, struct tune_file *file, uint32_t b, int plane,
                                 struct rm_errors *errors) {
    struct tune_file_bpm *const bpm = &file->bpm[b];
    char key[48];
    if (isfinite(bpm->beta_m[plane]) && isfinite(bpm->phase_rad[plane]))
        return RM_OK;
    if (file->bpms == 1) {
        bpm->beta_m[plane] = isfinite(bpm->beta_m[plane]) ? bpm->beta_m[plane] : 1.0;
        bpm->phase_rad[plane] = isfinite(bpm->phase_rad[plane]) ? bpm->phase_rad[plane] : 0.0;
        return RM_OK;
    }
    snprintf(key, sizeof key, "bpms[%u].%s_%c_%s", b, isfinite(bpm->beta_m[plane]) ? "phase" : "beta", planes[plane],
             isfinite(bpm->beta_m[plane]) ? "rad" : "m");
    return rm_configuration_refuse(errors, path, key,
                                   "it is missing: the %u BPMs are aligned by their optics, expected beta and phase of "
                                   "each, or one BPM alone",
                                   file->bpms);
}

static enum rm_code check_lane(char const *path, char const *key, char const *lane, struct rm_errors *errors) {
    if (lane == NULL || strchr(lane, '/') != NULL)
        return RM_OK;
    return rm_configuration_refuse(errors, path, key, "found \"%s\", expected INSTRUMENT/LANE, such as bpm01/x1", lane);
}

/** They stand in the one place or in the other. */
static enum rm_code find_bpms(char const *path, struct tune_file *file, struct rm_errors *errors) {
    if (file->optics == NULL && file->bpms == 0)
        return rm_configuration_refuse(errors, path, "bpms", "it is missing, and so is optics: expected one of them");
    if (file->optics != NULL && file->bpms > 0)
        return rm_configuration_refuse(errors, path, "optics", "there is bpms too: expected one of them");
    return file->optics != NULL ? tune_optics_load(path, file, errors) : RM_OK;
}

enum rm_code tune_file_check(char const *path, void *values, struct rm_errors *errors) {
    struct tune_file *file = values;
    enum rm_code code = check_bands(path, file, errors);
    code = rm_code_first(code, find_bpms(path, file, errors));
    code = rm_code_first(code, check_lane(path, "beam", file->beam, errors));
    if (file->window_turns % 2 != 0)
        code = rm_code_first(code, rm_configuration_refuse(errors, path, "window_turns",
                                                           "found %u, expected an even number", file->window_turns));
    if (file->estimator == TUNE_BY_NAFF && file->bpms > 1)
        code = rm_code_first(code, rm_configuration_refuse(errors, path, "estimator",
                                                           "naff is of one BPM, and there are %u: expected peak, or "
                                                           "one BPM",
                                                           file->bpms));
    for (int plane = 0; plane < TUNE_PLANES; ++plane)
        code = rm_code_first(code, check_sliding(path, file, plane, errors));
    for (uint32_t b = 0; b < file->bpms; ++b)
        for (int plane = 0; plane < TUNE_PLANES; ++plane) {
            char key[32];
            snprintf(key, sizeof key, "bpms[%u].%c", b, planes[plane]);
            code = rm_code_first(code, check_lane(path, key, file->bpm[b].lane[plane], errors));
            code = rm_code_first(code, check_optics(path, file, b, plane, errors));
        }
    return code;
}
