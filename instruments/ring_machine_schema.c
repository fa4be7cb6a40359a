// SPDX-License-Identifier: Apache-2.0
#include "ring_machine.h"
#include "ring_machine_file.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    PATTERN_LONGEST = 63,
    PATH_LONGEST = 1023,
};

static cyaml_strval_t const planes[] = {{"x", RM_RING_FILE_X}, {"y", RM_RING_FILE_Y}};

static cyaml_schema_field_t const errors_fields[] = {
    CYAML_FIELD_FLOAT_PTR("beta_beat", MAYBE, struct rm_ring_file_machine_errors, beta_beat),
    CYAML_FIELD_FLOAT_PTR("bpm_gain", MAYBE, struct rm_ring_file_machine_errors, bpm_gain),
    CYAML_FIELD_FLOAT_PTR("bpm_offset_um", MAYBE, struct rm_ring_file_machine_errors, bpm_offset_um),
    CYAML_FIELD_FLOAT_PTR("bpm_roll_mrad", MAYBE, struct rm_ring_file_machine_errors, bpm_roll_mrad),
    CYAML_FIELD_FLOAT_PTR("bpm_crosstalk", MAYBE, struct rm_ring_file_machine_errors, bpm_crosstalk),
    CYAML_FIELD_FLOAT_PTR("corrector_gain", MAYBE, struct rm_ring_file_machine_errors, corrector_gain),
    CYAML_FIELD_FLOAT_PTR("corrector_roll_mrad", MAYBE, struct rm_ring_file_machine_errors, corrector_roll_mrad),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const filter_fields[] = {
    CYAML_FIELD_FLOAT_PTR("delay_us", MAYBE, struct rm_ring_file_machine_filter, delay_us),
    CYAML_FIELD_FLOAT_PTR("bandwidth_hz", MAYBE, struct rm_ring_file_machine_filter, bandwidth_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const correctors_fields[] = {
    CYAML_FIELD_STRING_PTR("elements", TEXT, struct rm_ring_file_correctors, elements, 1, PATTERN_LONGEST),
    CYAML_FIELD_ENUM("plane", WORD, struct rm_ring_file_correctors, plane, planes, CYAML_ARRAY_LEN(planes)),
    CYAML_FIELD_STRING_PTR("supplies", TEXT, struct rm_ring_file_correctors, supplies, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT("urad_per_unit", PLAIN, struct rm_ring_file_correctors, urad_per_unit),
    CYAML_FIELD_FLOAT_PTR("eddy_hz", MAYBE, struct rm_ring_file_correctors, eddy_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const correctors_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_correctors, correctors_fields)};

static cyaml_schema_field_t const strengths_fields[] = {
    CYAML_FIELD_STRING_PTR("elements", TEXT, struct rm_ring_file_strengths, elements, 1, PATTERN_LONGEST),
    CYAML_FIELD_STRING_PTR("supplies", TEXT, struct rm_ring_file_strengths, supplies, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT("per_unit", PLAIN, struct rm_ring_file_strengths, per_unit),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const strengths_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_strengths, strengths_fields)};

static cyaml_schema_field_t const rf_fields[] = {
    CYAML_FIELD_STRING_PTR("supply", TEXT, struct rm_ring_file_rf, supply, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT_PTR("hz_per_unit", MAYBE, struct rm_ring_file_rf, hz_per_unit),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const mains_fields[] = {
    CYAML_FIELD_FLOAT("hz", PLAIN, struct rm_ring_file_mains, hz),
    CYAML_FIELD_FLOAT("orbit_um", PLAIN, struct rm_ring_file_mains, orbit_um),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const mains_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_mains, mains_fields)};

static cyaml_schema_field_t const ground_fields[] = {
    CYAML_FIELD_FLOAT("rms_nm", PLAIN, struct rm_ring_file_ground, rms_nm),
    CYAML_FIELD_FLOAT_PTR("corner_hz", MAYBE, struct rm_ring_file_ground, corner_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const steps_fields[] = {
    CYAML_FIELD_FLOAT("urad", PLAIN, struct rm_ring_file_steps, urad),
    CYAML_FIELD_FLOAT("every_s", PLAIN, struct rm_ring_file_steps, every_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const insertion_fields[] = {
    CYAML_FIELD_STRING_PTR("at", TEXT, struct rm_ring_file_insertion, at, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT("urad", PLAIN, struct rm_ring_file_insertion, urad),
    CYAML_FIELD_FLOAT_PTR("ramp_s", MAYBE, struct rm_ring_file_insertion, ramp_s),
    CYAML_FIELD_FLOAT_PTR("every_s", MAYBE, struct rm_ring_file_insertion, every_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const topup_fields[] = {
    CYAML_FIELD_FLOAT("urad", PLAIN, struct rm_ring_file_topup, urad),
    CYAML_FIELD_FLOAT("every_s", PLAIN, struct rm_ring_file_topup, every_s),
    CYAML_FIELD_UINT_PTR("turns", MAYBE, struct rm_ring_file_topup, turns),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const disturbances_fields[] = {
    CYAML_FIELD_SEQUENCE("mains", MAYBE, struct rm_ring_file_disturbances, mains, &mains_schema, 0,
                         RM_MACHINE_MAINS_MAX),
    CYAML_FIELD_FLOAT_PTR("mains_wander", MAYBE, struct rm_ring_file_disturbances, mains_wander),
    CYAML_FIELD_MAPPING_PTR("ground", MAYBE, struct rm_ring_file_disturbances, ground, ground_fields),
    CYAML_FIELD_MAPPING_PTR("steps", MAYBE, struct rm_ring_file_disturbances, steps, steps_fields),
    CYAML_FIELD_MAPPING_PTR("insertion", MAYBE, struct rm_ring_file_disturbances, insertion, insertion_fields),
    CYAML_FIELD_MAPPING_PTR("topup", MAYBE, struct rm_ring_file_disturbances, topup, topup_fields),
    CYAML_FIELD_END,
};

cyaml_schema_field_t const rm_ring_machine_fields[] = {
    CYAML_FIELD_STRING_PTR("lattice", TEXT, struct rm_ring_file_machine, lattice, 1, PATH_LONGEST),
    CYAML_FIELD_UINT_PTR("seed", MAYBE, struct rm_ring_file_machine, seed),
    CYAML_FIELD_STRING_PTR("bpms", MAYBE, struct rm_ring_file_machine, bpms, 1, PATTERN_LONGEST),
    CYAML_FIELD_UINT_PTR("step_turns", MAYBE, struct rm_ring_file_machine, step_turns),
    CYAML_FIELD_FLOAT_PTR("refresh_ms", MAYBE, struct rm_ring_file_machine, refresh_ms),
    CYAML_FIELD_FLOAT_PTR("blend_ms", MAYBE, struct rm_ring_file_machine, blend_ms),
    CYAML_FIELD_MAPPING_PTR("filter", MAYBE, struct rm_ring_file_machine, filter, filter_fields),
    CYAML_FIELD_MAPPING_PTR("errors", MAYBE, struct rm_ring_file_machine, errors, errors_fields),
    CYAML_FIELD_SEQUENCE("correctors", MAYBE, struct rm_ring_file_machine, correctors, &correctors_schema, 0,
                         RM_MACHINE_GROUPS_MAX),
    CYAML_FIELD_SEQUENCE("strengths", MAYBE, struct rm_ring_file_machine, strengths, &strengths_schema, 0,
                         RM_MACHINE_GROUPS_MAX),
    CYAML_FIELD_MAPPING_PTR("rf", MAYBE, struct rm_ring_file_machine, rf, rf_fields),
    CYAML_FIELD_MAPPING_PTR("disturbances", MAYBE, struct rm_ring_file_machine, disturbances, disturbances_fields),
    CYAML_FIELD_END,
};
