// SPDX-License-Identifier: Apache-2.0
#include "configuration_file.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
    NAME_LONGEST = 95, /* RM_NAME_BYTES - 1 */
    LANE_LONGEST = 15, /* RM_LANE_NAME_BYTES - 1 */
    INPUT_LONGEST = 63,
    PATH_LONGEST = 4095,
};

static cyaml_strval_t const ways[] = {{"mode", FEEDBACK_PER_MODE}, {"corrector", FEEDBACK_PER_CORRECTOR}};

/* Words of their own: libcyaml's truth values take whatever it does not know for true. */
static cyaml_strval_t const answers[] = {{"false", false}, {"true", true}};

static cyaml_schema_value_t const name_schema = {CYAML_VALUE_STRING(TEXT, char, 1, NAME_LONGEST)};
static cyaml_schema_value_t const input_schema = {CYAML_VALUE_STRING(TEXT, char, 1, INPUT_LONGEST)};
static cyaml_schema_value_t const lane_schema = {CYAML_VALUE_STRING(TEXT, char, 1, LANE_LONGEST)};
static cyaml_schema_value_t const number_schema = {CYAML_VALUE_FLOAT(PLAIN, double)};

static cyaml_schema_field_t const plant_fields[] = {
    CYAML_FIELD_FLOAT_PTR("bandwidth_hz", MAYBE, struct feedback_file_plant, bandwidth_hz),
    CYAML_FIELD_FLOAT_PTR("second_hz", MAYBE, struct feedback_file_plant, second_hz),
    CYAML_FIELD_FLOAT_PTR("delay_us", MAYBE, struct feedback_file_plant, delay_us),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const family_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct feedback_file_family, name, 1, 31),
    CYAML_FIELD_SEQUENCE("actuators", TEXT, struct feedback_file_family, actuators, &name_schema, 1,
                         FEEDBACK_PATTERNS_MAX),
    CYAML_FIELD_MAPPING("plant", CYAML_FLAG_OPTIONAL, struct feedback_file_family, plant, plant_fields),
    CYAML_FIELD_FLOAT_PTR("proportional", MAYBE, struct feedback_file_family, proportional),
    CYAML_FIELD_FLOAT_PTR("integral_hz", MAYBE, struct feedback_file_family, integral_hz),
    CYAML_FIELD_ENUM_PTR("predictor", MAYBE_WORD, struct feedback_file_family, predictor, answers,
                         CYAML_ARRAY_LEN(answers)),
    CYAML_FIELD_SEQUENCE("resonators", MAYBE, struct feedback_file_family, resonators, &number_schema, 0,
                         FEEDBACK_RESONATORS_MAX),
    CYAML_FIELD_STRING_PTR("unload_to", MAYBE, struct feedback_file_family, unload_to, 1, 31),
    CYAML_FIELD_FLOAT_PTR("crossover_hz", MAYBE, struct feedback_file_family, crossover_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const family_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct feedback_file_family, family_fields)};

static cyaml_schema_field_t const resonator_fields[] = {
    CYAML_FIELD_FLOAT_PTR("hz", TEXT, struct feedback_file_resonator, hz),
    CYAML_FIELD_FLOAT_PTR("width_hz", MAYBE, struct feedback_file_resonator, width_hz),
    CYAML_FIELD_FLOAT_PTR("leak_hz", MAYBE, struct feedback_file_resonator, leak_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const resonator_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct feedback_file_resonator, resonator_fields)};

static cyaml_schema_field_t const rf_fields[] = {
    CYAML_FIELD_STRING_PTR("actuator", TEXT, struct feedback_file_rf, actuator, 1, NAME_LONGEST),
    CYAML_FIELD_FLOAT_PTR("hz", MAYBE, struct feedback_file_rf, hz),
    CYAML_FIELD_FLOAT_PTR("gain", MAYBE, struct feedback_file_rf, gain),
    CYAML_FIELD_FLOAT_PTR("slew", MAYBE, struct feedback_file_rf, slew),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const beam_fields[] = {
    CYAML_FIELD_SEQUENCE("lanes", TEXT, struct feedback_file_beam, lanes, &lane_schema, 1, 4),
    CYAML_FIELD_FLOAT_PTR("least", MAYBE, struct feedback_file_beam, least),
    CYAML_FIELD_FLOAT_PTR("drop", MAYBE, struct feedback_file_beam, drop),
    CYAML_FIELD_FLOAT_PTR("rearm_s", MAYBE, struct feedback_file_beam, rearm_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const enable_conditions_fields[] = {
    CYAML_FIELD_MAPPING_PTR("beam", MAYBE, struct feedback_file_enable_conditions, beam, beam_fields),
    CYAML_FIELD_FLOAT_PTR("bpms", MAYBE, struct feedback_file_enable_conditions, bpms),
    CYAML_FIELD_FLOAT_PTR("actuators", MAYBE, struct feedback_file_enable_conditions, actuators),
    CYAML_FIELD_UINT_PTR("saturated", MAYBE, struct feedback_file_enable_conditions, saturated),
    CYAML_FIELD_FLOAT_PTR("saturated_s", MAYBE, struct feedback_file_enable_conditions, saturated_s),
    CYAML_FIELD_FLOAT_PTR("initial_error_um", MAYBE, struct feedback_file_enable_conditions, initial_error_um),
    CYAML_FIELD_FLOAT_PTR("missing", MAYBE, struct feedback_file_enable_conditions, missing),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const watch_fields[] = {
    CYAML_FIELD_UINT_PTR("missing_cycles", MAYBE, struct feedback_file_watch, missing_cycles),
    CYAML_FIELD_UINT_PTR("frozen_cycles", MAYBE, struct feedback_file_watch, frozen_cycles),
    CYAML_FIELD_FLOAT_PTR("jump_um", MAYBE, struct feedback_file_watch, jump_um),
    CYAML_FIELD_UINT_PTR("invalid_status", MAYBE, struct feedback_file_watch, invalid_status),
    CYAML_FIELD_FLOAT_PTR("return_s", MAYBE, struct feedback_file_watch, return_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const gate_fields[] = {
    CYAML_FIELD_STRING_PTR("input", TEXT, struct feedback_file_gate, input, 1, INPUT_LONGEST),
    CYAML_FIELD_STRING_PTR("lane", TEXT, struct feedback_file_gate, lane, 1, LANE_LONGEST),
    CYAML_FIELD_UINT_PTR("bit", MAYBE, struct feedback_file_gate, bit),
    CYAML_FIELD_UINT_PTR("cycles", MAYBE, struct feedback_file_gate, cycles),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const table_fields[] = {
    CYAML_FIELD_STRING_PTR("input", TEXT, struct feedback_file_table, input, 1, INPUT_LONGEST),
    CYAML_FIELD_STRING_PTR("lane", TEXT, struct feedback_file_table, lane, 1, LANE_LONGEST),
    CYAML_FIELD_STRING_PTR("table", TEXT, struct feedback_file_table, table, 1, PATH_LONGEST),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const table_schema = {CYAML_VALUE_MAPPING(PLAIN, struct feedback_file_table, table_fields)};

static cyaml_schema_field_t const shadow_fields[] = {
    CYAML_FIELD_SEQUENCE("inputs", TEXT, struct feedback_file_shadow, inputs, &input_schema, 1, FEEDBACK_PATTERNS_MAX),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const fields[] = {
    CYAML_FIELD_STRING_PTR("matrix", TEXT, struct feedback_file, matrix, 1, PATH_LONGEST),
    CYAML_FIELD_STRING_PTR("golden", MAYBE, struct feedback_file, golden, 1, PATH_LONGEST),
    CYAML_FIELD_STRING_PTR("weights", MAYBE, struct feedback_file, weights, 1, PATH_LONGEST),
    CYAML_FIELD_FLOAT_PTR("golden_speed", MAYBE, struct feedback_file, golden_speed),
    CYAML_FIELD_ENUM_PTR("coupled", MAYBE_WORD, struct feedback_file, coupled, answers, CYAML_ARRAY_LEN(answers)),
    CYAML_FIELD_ENUM_PTR("per", MAYBE_WORD, struct feedback_file, per, ways, CYAML_ARRAY_LEN(ways)),
    CYAML_FIELD_UINT_PTR("modes", MAYBE, struct feedback_file, modes),
    CYAML_FIELD_FLOAT_PTR("tikhonov", MAYBE, struct feedback_file, tikhonov),
    CYAML_FIELD_SEQUENCE("families", TEXT, struct feedback_file, families, &family_schema, 1, FEEDBACK_FAMILIES_MAX),
    CYAML_FIELD_SEQUENCE("resonators", MAYBE, struct feedback_file, resonators, &resonator_schema, 0,
                         FEEDBACK_RESONATORS_MAX),
    CYAML_FIELD_FLOAT_PTR("mains_hz", MAYBE, struct feedback_file, mains_hz),
    CYAML_FIELD_MAPPING_PTR("rf", MAYBE, struct feedback_file, rf, rf_fields),
    CYAML_FIELD_MAPPING_PTR("enable_conditions", MAYBE, struct feedback_file, enable_conditions,
                            enable_conditions_fields),
    CYAML_FIELD_MAPPING_PTR("watch", MAYBE, struct feedback_file, watch, watch_fields),
    CYAML_FIELD_MAPPING_PTR("gate", MAYBE, struct feedback_file, gate, gate_fields),
    CYAML_FIELD_SEQUENCE("feed_forward", MAYBE, struct feedback_file, feed_forward, &table_schema, 0,
                         FEEDBACK_TABLES_MAX),
    CYAML_FIELD_MAPPING_PTR("shadow", MAYBE, struct feedback_file, shadow, shadow_fields),
    CYAML_FIELD_FLOAT_PTR("soft_start_s", MAYBE, struct feedback_file, soft_start_s),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const feedback_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct feedback_file, fields)};
