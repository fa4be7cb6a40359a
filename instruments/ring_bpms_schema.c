// SPDX-License-Identifier: Apache-2.0
#include "ring_bpms_file.h"

#include "readouts.h"
#include "virtual_instrument.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
};

static cyaml_strval_t const inverted[] = {
    {"none", RM_RING_FILE_INVERTED_NONE},
    {"x", RM_RING_FILE_INVERTED_X},
    {"y", RM_RING_FILE_INVERTED_Y},
    {"xy", RM_RING_FILE_INVERTED_XY},
};

static cyaml_schema_field_t const bpm_error_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("instruments", "Which: an instrument of kind bpm, an entry, a pattern, or all.", .example = "\"bpm*\""),
        TEXT, struct rm_ring_file_bpm_error, instruments, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_UINT_PTR(RM_KEY("bpm", "Which of the two BPMs of an instrument: 1 or 2.", .otherwise = "both",
                                .example = "1", RM_RANGE(1, 2)),
                         MAYBE, struct rm_ring_file_bpm_error, bpm),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("noise_um", "RMS of its white noise at turn rate.", .unit = "µm",
                                 .otherwise = "beam.noise_um", .example = "0.5", RM_RANGE(0, 1000)),
                          MAYBE, struct rm_ring_file_bpm_error, noise_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("corner_hz", "Below it noise rises with 1/f; 0: it is white.", .unit = "Hz",
                                 .fallback = "0", RM_RANGE(0, 1e6), .late = true),
                          MAYBE, struct rm_ring_file_bpm_error, corner_hz),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("glitch_per_s", "Glitches a second.", .unit = "1/s", .fallback = "0", RM_RANGE(0, 1e6), .late = true),
        MAYBE, struct rm_ring_file_bpm_error, glitch_per_s),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("glitch_um", "By so much a glitch is off, up or down.", .unit = "µm",
                                 .fallback = "100", RM_RANGE(0, 1e5), .late = true),
                          MAYBE, struct rm_ring_file_bpm_error, glitch_um),
    CYAML_FIELD_UINT_PTR(RM_KEY("adc_bits", "Bits of its ADC; 0: nanometres are all that rounds.", .unit = "bits",
                                .fallback = "0", RM_RANGE(0, RM_READOUT_ADC_BITS_MAX), .late = true),
                         MAYBE, struct rm_ring_file_bpm_error, adc_bits),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("adc_range_um", "Either way, full scale of its ADC.", .unit = "µm",
                                 .fallback = "10000", RM_RANGE(1, 1e6), .late = true),
                          MAYBE, struct rm_ring_file_bpm_error, adc_range_um),
    CYAML_FIELD_ENUM_PTR(
        RM_KEY("inverted", "Planes whose sign is wrong.", .otherwise = "as machine.errors has it", .example = "x"),
        MAYBE_WORD, struct rm_ring_file_bpm_error, inverted, inverted, CYAML_ARRAY_LEN(inverted)),
    CYAML_FIELD_BOOL_PTR(
        RM_KEY("swapped", "x reads y, and y reads x.", .otherwise = "as machine.errors has it", .example = "true"),
        MAYBE, struct rm_ring_file_bpm_error, swapped),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_bpm_error_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_bpm_error, bpm_error_fields)};
