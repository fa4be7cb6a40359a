// SPDX-License-Identifier: Apache-2.0
#include "file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/stream.h>
#include <ringmaster/table.h>

#include "trust.h"

/** In the order of enum tune_window_kind. */
static char const *const windows[] = {"rectangular", "hann", NULL};

static struct rm_key const family_keys[] = {
    RM_KEY_TEXT(struct tunefeedback_family, name, "name", "Name of its column in the matrix.", .example = "qf",
                .required = true, RM_BETWEEN(1, 95)),
    RM_KEY_TEXTS(struct tunefeedback_family, supply, supplies, "supplies", "Its supplies: names or patterns.",
                 .example = "[\"sr/ps/qf1_*\"]", .required = true, RM_BETWEEN(1, 256)),
    RM_KEY_NUMBER(struct tunefeedback_family, excursion_a, "excursion_a", "Most that it moves off.", .unit = "A",
                  .required = true, .example = "2", RM_BETWEEN(1e-9, 1e6)),
    RM_KEY_NUMBER(struct tunefeedback_family, step_a, "step_a", "Most that it moves in a step.", .unit = "A",
                  .otherwise = "the slew of its supplies", .example = "0.01", RM_BETWEEN(1e-9, 1e6)),
    RM_KEY_TEXT(struct tunefeedback_family, elements, "elements",
                "Its quadrupoles in the lattice, a pattern: for `ringmaster tunefeedback matrix` alone.",
                .otherwise = "none", .example = "\"QF1_*\"", RM_BETWEEN(1, 95)),
    RM_KEY_NUMBER(struct tunefeedback_family, strength_per_a, "strength_per_a",
                  "Part of their gradient that an ampere adds: for the same.", .unit = "1/A", .otherwise = "none",
                  .example = "0.001", RM_BETWEEN(-1e3, 1e3)),
    RM_KEYS_END,
};

static struct rm_key const plant_keys[] = {
    RM_KEY_NUMBER(struct tunefeedback_lag, bandwidth_hz, "bandwidth_hz",
                  "Of supplies and vacuum chamber; 0: they follow at once.", .unit = "Hz", .fallback = "0",
                  RM_BETWEEN(0, 1e9)),
    RM_KEY_NUMBER(struct tunefeedback_lag, delay_s, "delay_us",
                  "From a setpoint vector to the supplies, beside the step that it takes.", .unit = "µs",
                  .fallback = "0", RM_BETWEEN(0, 1e9), .scale = 1e-6),
    RM_KEYS_END,
};

static struct rm_key const enable_keys[] = {
    RM_KEY_WHOLE(struct tunefeedback_enable, trusted, "trusted", "So many of the last tunes must be good.",
                 .fallback = "32", RM_BETWEEN(1, TUNEFEEDBACK_LAST_MAX)),
    RM_KEY_WHOLE(struct tunefeedback_enable, last, "last", "How many the last are.", .fallback = "64",
                 RM_BETWEEN(1, TUNEFEEDBACK_LAST_MAX)),
    RM_KEY_NUMBER(struct tunefeedback_enable, sigma, "sigma", "Largest standard deviation of a good tune.",
                  .fallback = "1.0e-4", RM_BETWEEN(1e-12, 0.5)),
    RM_KEY_NUMBER(struct tunefeedback_enable, far, "far", "Largest distance of a good tune from where it is to be.",
                  .fallback = "0.01", RM_BETWEEN(1e-9, 0.5)),
    RM_KEY_NUMBER(struct tunefeedback_enable, hold_s, "hold_s", "So long it holds before it opens.", .unit = "s",
                  .fallback = "5", RM_BETWEEN(0, 1e5)),
    RM_KEY_NUMBER(struct tunefeedback_enable, return_s, "return_s",
                  "All conditions must be there for so long before it goes on.", .unit = "s", .fallback = "0.1",
                  RM_BETWEEN(0, 1e5)),
    RM_KEY_NUMBER(struct tunefeedback_enable, limit_s, "limit_s", "So long it may push against a limit.", .unit = "s",
                  .fallback = "0.5", RM_BETWEEN(0, 1e5)),
    RM_KEYS_END,
};

static struct rm_key const resonance_keys[] = {
    RM_KEY_NUMBER(struct tunefeedback_resonances, integer, "integer", "Least distance of a target from 0.",
                  .fallback = "0.02", RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tunefeedback_resonances, half, "half", "Least distance from 0.5.", .fallback = "0.02",
                  RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tunefeedback_resonances, coupling, "coupling", "Least distance of x from y.",
                  .fallback = "0.01", RM_BETWEEN(0, 0.5)),
    RM_KEYS_END,
};

struct rm_key const tunefeedback_keys[] = {
    RM_KEY_TEXT(struct tunefeedback_file, tune, "tune", "The stream of tunes, among the application's inputs.",
                .fallback = "tune/tune", RM_BETWEEN(3, RM_NAME_BYTES - 1)),
    RM_KEY_WHOLE(struct tunefeedback_file, window_turns, "window_turns", "Turns that a tune is of: as in its own file.",
                 .unit = "turns", .fallback = "8192", RM_BETWEEN(64, 1048576)),
    RM_KEY_WORD(struct tunefeedback_file, window, "window", "Its window: as in its own file.", .words = windows,
                .fallback = "hann"),
    RM_KEY_NUMBERS(struct tunefeedback_file, target, targets, "target", "Tunes of x and y.",
                   .otherwise = "what there is when the loop is closed", .example = "[0.3, 0.17]", RM_BETWEEN(0, 2)),
    RM_KEY_TEXT(struct tunefeedback_file, matrix, "matrix", "Table of rows x and y, and a column for each family.",
                .unit = "1/A", .required = true, .example = "tunefeedback-matrix.csv"),
    RM_KEY_MAPPINGS(struct tunefeedback_file, family, families, "families", "Two, of quadrupoles that move together.",
                    family_keys, .required = true, RM_BETWEEN(1, TUNEFEEDBACK_FAMILIES)),
    RM_KEY_NUMBER(struct tunefeedback_file, integral_hz, "integral_hz", "Bandwidth of the loop.", .unit = "Hz",
                  .fallback = "1", RM_BETWEEN(1e-6, 1e4)),
    RM_KEY_NUMBER(struct tunefeedback_file, deadband, "deadband", "Errors below are none.", .fallback = "0",
                  RM_BETWEEN(0, 0.5)),
    RM_KEY_NUMBER(struct tunefeedback_file, target_speed_per_s, "target_speed_per_s",
                  "Tune per second at which another target is approached.", .unit = "1/s", .fallback = "0.001",
                  RM_BETWEEN(1e-9, 1e3)),
    RM_KEY_MAPPING(struct tunefeedback_file, plant, "plant", "From a setpoint to the field of the quadrupoles.",
                   plant_keys, .fallback = "{}"),
    RM_KEY_MAPPING(struct tunefeedback_file, enable, "enable_conditions", "Without which the loop is not closed.",
                   enable_keys, .fallback = "{}"),
    RM_KEY_MAPPING(struct tunefeedback_file, resonances, "resonances", "Of which targets must keep clear.",
                   resonance_keys, .fallback = "{}"),
    RM_KEYS_END,
};

/** Takes the families' columns out of the table. */
static enum rm_code take_matrix(char const *path, struct tunefeedback_file const *file, struct rm_table const *table,
                                double matrix[TUNEFEEDBACK_PLANES][TUNEFEEDBACK_FAMILIES], struct rm_errors *errors) {
    static char const *const rows[TUNEFEEDBACK_PLANES] = {"x", "y"};
    for (int i = 0; i < TUNEFEEDBACK_PLANES * TUNEFEEDBACK_FAMILIES; ++i) {
        int const plane = i / TUNEFEEDBACK_FAMILIES, family = i % TUNEFEEDBACK_FAMILIES;
        uint32_t const row = rm_table_row(table, rows[plane]);
        uint32_t const column = rm_table_column(table, file->family[family].name);
        bool const has_row = row < table->rows;
        if (!has_row || column == table->columns)
            return rm_configuration_refuse(
                errors, path, "matrix", "%s has no %s \"%s\", expected rows x and y, and a column for each family",
                file->matrix, has_row ? "column" : "row", has_row ? file->family[family].name : rows[plane]);
        matrix[plane][family] = table->value[row * table->columns + column];
    }
    return RM_OK;
}

/** Reads what the families do to the tunes, and inverts it. */
static enum rm_code load_matrix(char const *path, struct tunefeedback_file *file, struct rm_errors *errors) {
    struct rm_table table;
    struct rm_error error = {.text = "no memory"};
    double matrix[TUNEFEEDBACK_PLANES][TUNEFEEDBACK_FAMILIES];
    char *const beside = rm_configuration_beside(path, file->matrix);
    enum rm_code code = beside == NULL ? RM_E_NO_SPACE : rm_table_load(beside, &table, &error);
    free(beside);
    if (code != RM_OK)
        return rm_configuration_refuse(errors, path, "matrix", "%s", error.text);
    code = take_matrix(path, file, &table, matrix, errors);
    rm_table_free(&table);
    if (code == RM_OK && !tunefeedback_invert((double const(*)[TUNEFEEDBACK_FAMILIES])matrix, file->inverse))
        code =
            rm_configuration_refuse(errors, path, "matrix",
                                    "%s: the two families move the tunes of x and y in the same proportion, expected "
                                    "two that do not, such as one that focuses in x and one that does in y",
                                    file->matrix);
    return code;
}

static enum rm_code check_target(char const *path, struct tunefeedback_file const *file, struct rm_errors *errors) {
    char why[256];
    if (file->targets == 0)
        return RM_OK;
    if (file->targets != TUNEFEEDBACK_PLANES)
        return rm_configuration_refuse(errors, path, "target", "found %u tunes, expected those of x and y, or none",
                                       file->targets);
    if (tunefeedback_resonances_allow(&file->resonances, file->target, NULL, why, sizeof why))
        return RM_OK;
    return rm_configuration_refuse(errors, path, "target", "%s", why);
}

enum rm_code tunefeedback_file_check(char const *path, void *values, struct rm_errors *errors) {
    struct tunefeedback_file *file = values;
    enum rm_code code = check_target(path, file, errors);
    if (file->families != TUNEFEEDBACK_FAMILIES)
        code = rm_code_first(code, rm_configuration_refuse(errors, path, "families",
                                                           "found %u, expected %d: two tunes take two families",
                                                           file->families, TUNEFEEDBACK_FAMILIES));
    else if (file->matrix != NULL && file->family[0].name != NULL && file->family[1].name != NULL)
        code = rm_code_first(code, load_matrix(path, file, errors));
    if (file->enable.trusted > file->enable.last)
        code = rm_code_first(code, rm_configuration_refuse(errors, path, "enable_conditions.trusted",
                                                           "found %u, expected at most the %u of `last`",
                                                           file->enable.trusted, file->enable.last));
    return code;
}
