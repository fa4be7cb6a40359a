// SPDX-License-Identifier: Apache-2.0
#include "ring_supplies_file.h"

#include "ring_file.h"
#include "ring_supplies.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    MAYBE_WORD = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
    SUPPLY_LONGEST = RM_CONFIG_SUPPLY_NAME_BYTES - 1, /* "c01/40", "sr/ps/ch_s01_01" */
    LANE_LONGEST = 24,
};

static cyaml_strval_t const stops[] = {{"hold", RM_RING_FILE_HOLD}, {"ramp", RM_RING_FILE_RAMP}};

static cyaml_strval_t const fault_kinds[] = {
    {"trip", RM_CHAIN_FAULT_TRIP}, {"saturate", RM_CHAIN_FAULT_SATURATE}, {"stuck", RM_CHAIN_FAULT_STUCK},
    {"deaf", RM_CHAIN_FAULT_DEAF}, {"silent", RM_CHAIN_FAULT_SILENT},     {"other_id", RM_CHAIN_FAULT_OTHER_ID},
};

static cyaml_schema_field_t const ripple_fields[] = {
    CYAML_FIELD_FLOAT("hz", PLAIN, struct rm_ring_file_ripple, hz),
    CYAML_FIELD_FLOAT("amplitude", PLAIN, struct rm_ring_file_ripple, amplitude),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const ripple_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_ripple, ripple_fields)};

static cyaml_schema_value_t const number_schema = {CYAML_VALUE_FLOAT(PLAIN, double)};

static cyaml_schema_field_t const supply_fields[] = {
    CYAML_FIELD_STRING_PTR("supplies", TEXT, struct rm_ring_file_supply, supplies, 1, SUPPLY_LONGEST),
    CYAML_FIELD_SEQUENCE("range", MAYBE, struct rm_ring_file_supply, range, &number_schema, 2, 2),
    CYAML_FIELD_FLOAT_PTR("resolution", MAYBE, struct rm_ring_file_supply, resolution),
    CYAML_FIELD_FLOAT_PTR("delay_us", MAYBE, struct rm_ring_file_supply, delay_us),
    CYAML_FIELD_FLOAT_PTR("regulation_hz", MAYBE, struct rm_ring_file_supply, regulation_hz),
    CYAML_FIELD_FLOAT_PTR("drift_ppm", MAYBE, struct rm_ring_file_supply, drift_ppm),
    CYAML_FIELD_FLOAT_PTR("bandwidth_hz", MAYBE, struct rm_ring_file_supply, bandwidth_hz),
    CYAML_FIELD_FLOAT_PTR("slew", MAYBE, struct rm_ring_file_supply, slew),
    CYAML_FIELD_FLOAT_PTR("noise", MAYBE, struct rm_ring_file_supply, noise),
    CYAML_FIELD_SEQUENCE("ripple", MAYBE, struct rm_ring_file_supply, ripple, &ripple_schema, 0, RM_SUPPLY_RIPPLES_MAX),
    CYAML_FIELD_FLOAT_PTR("initial", MAYBE, struct rm_ring_file_supply, initial),
    CYAML_FIELD_FLOAT_PTR("safe", MAYBE, struct rm_ring_file_supply, safe),
    CYAML_FIELD_FLOAT_PTR("safe_slew", MAYBE, struct rm_ring_file_supply, safe_slew),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_supply_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_supply, supply_fields)};

static cyaml_schema_field_t const chain_fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct rm_ring_file_chain, name, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_FLOAT_PTR("timeout_ms", MAYBE, struct rm_ring_file_chain, timeout_ms),
    CYAML_FIELD_ENUM_PTR("stop", MAYBE_WORD, struct rm_ring_file_chain, stop, stops, CYAML_ARRAY_LEN(stops)),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_chain_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_chain, chain_fields)};

static cyaml_schema_field_t const fault_fields[] = {
    CYAML_FIELD_STRING_PTR("chain", TEXT, struct rm_ring_file_chain_fault, chain, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_ENUM("fault", WORD, struct rm_ring_file_chain_fault, fault, fault_kinds, CYAML_ARRAY_LEN(fault_kinds)),
    CYAML_FIELD_UINT_PTR("supply", MAYBE, struct rm_ring_file_chain_fault, supply),
    CYAML_FIELD_FLOAT_PTR("from_s", MAYBE, struct rm_ring_file_chain_fault, from_s),
    CYAML_FIELD_FLOAT_PTR("for_s", MAYBE, struct rm_ring_file_chain_fault, for_s),
    CYAML_FIELD_FLOAT_PTR("probability", MAYBE, struct rm_ring_file_chain_fault, probability),
    CYAML_FIELD_FLOAT_PTR("limit", MAYBE, struct rm_ring_file_chain_fault, limit),
    CYAML_FIELD_UINT_PTR("id", MAYBE, struct rm_ring_file_chain_fault, id),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_chain_fault_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_chain_fault, fault_fields)};

static cyaml_schema_field_t const response_fields[] = {
    CYAML_FIELD_STRING_PTR("supply", TEXT, struct rm_ring_file_response, supply, 1, SUPPLY_LONGEST),
    CYAML_FIELD_STRING_PTR("instrument", TEXT, struct rm_ring_file_response, instrument, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR("lane", TEXT, struct rm_ring_file_response, lane, 1, LANE_LONGEST),
    CYAML_FIELD_FLOAT("per_unit", PLAIN, struct rm_ring_file_response, per_unit),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_response_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_response, response_fields)};

char const *rm_ring_chain_fault_name(enum rm_chain_fault_kind kind) {
    for (size_t f = 0; f < CYAML_ARRAY_LEN(fault_kinds); ++f)
        if (fault_kinds[f].val == (int64_t)kind)
            return fault_kinds[f].str;
    return "unknown";
}
