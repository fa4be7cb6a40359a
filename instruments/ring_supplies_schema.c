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
    {"trip", RM_CHAIN_FAULT_TRIP},
    {"saturate", RM_CHAIN_FAULT_SATURATE},
    {"stuck", RM_CHAIN_FAULT_STUCK},
    {"deaf", RM_CHAIN_FAULT_DEAF},
    {"silent", RM_CHAIN_FAULT_SILENT},
    {"other_id", RM_CHAIN_FAULT_OTHER_ID},
    {"power_cycle", RM_CHAIN_FAULT_POWER_CYCLE},
};

static cyaml_schema_field_t const ripple_fields[] = {
    CYAML_FIELD_FLOAT(RM_KEY("hz", "Its frequency.", .unit = "Hz", .example = "50", RM_RANGE(0, 1e7)), PLAIN,
                      struct rm_ring_file_ripple, hz),
    CYAML_FIELD_FLOAT(
        RM_KEY("amplitude", "Its amplitude, in the setpoint's unit.", .example = "1e-4", RM_RANGE(0, 1e9)), PLAIN,
        struct rm_ring_file_ripple, amplitude),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const ripple_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_ripple, ripple_fields)};

static cyaml_schema_value_t const number_schema = {CYAML_VALUE_FLOAT(PLAIN, double)};

static cyaml_schema_field_t const supply_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("supplies",
                                  "Which: chains, \"c*/1-4\" of each, or names of supplies; patterns may be.",
                                  .example = "\"c*\""),
                           TEXT, struct rm_ring_file_supply, supplies, 1, SUPPLY_LONGEST),
    CYAML_FIELD_SEQUENCE(RM_KEY("range", "What it can, in the setpoint's unit; around 0.",
                                .otherwise = "its limits, and 0", .example = "[-10, 10]"),
                         MAYBE, struct rm_ring_file_supply, range, &number_schema, 2, 2),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("resolution",
                                 "Setpoints are rounded to multiples of it, in the setpoint's unit; 0: none.",
                                 .fallback = "0", RM_RANGE(0, 1e9), .late = true),
                          MAYBE, struct rm_ring_file_supply, resolution),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("delay_us", "On the way along the chain.", .unit = "µs", .fallback = "0",
                                 RM_RANGE(0, 1e6), .late = true),
                          MAYBE, struct rm_ring_file_supply, delay_us),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("regulation_hz", "Ticks of its own regulation; 0: at once.", .unit = "Hz",
                                 .fallback = "0", RM_RANGE(0, 1e7), .late = true),
                          MAYBE, struct rm_ring_file_supply, regulation_hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("drift_ppm", "Its regulation's rate is off by so much at most.", .unit = "10⁻⁶",
                                 .fallback = "0", RM_RANGE(0, 1000), .late = true),
                          MAYBE, struct rm_ring_file_supply, drift_ppm),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("bandwidth_hz", "It follows as a first order of this bandwidth; 0: at once.",
                                 .unit = "Hz", .fallback = "0", RM_RANGE(0, 1e9), .late = true),
                          MAYBE, struct rm_ring_file_supply, bandwidth_hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("slew", "Most that it changes, in the setpoint's unit per second.", .otherwise = "any",
                                 .example = "5000", RM_RANGE(1e-9, INFINITY)),
                          MAYBE, struct rm_ring_file_supply, slew),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("noise", "RMS, in what it says of its current only, in the setpoint's unit.",
                                 .fallback = "0", RM_RANGE(0, 1e9), .late = true),
                          MAYBE, struct rm_ring_file_supply, noise),
    CYAML_FIELD_SEQUENCE(RM_KEY("ripple", "In its current.", .otherwise = "none"), MAYBE, struct rm_ring_file_supply,
                         ripple, &ripple_schema, 0, RM_SUPPLY_RIPPLES_MAX),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("initial", "Its current at the start, in the setpoint's unit.", .fallback = "0",
                                 RM_RANGE(-INFINITY, INFINITY), .late = true),
                          MAYBE, struct rm_ring_file_supply, initial),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("safe", "Where `stop: ramp` leads, in the setpoint's unit.",
                                 .otherwise = "the configuration's", .example = "0"),
                          MAYBE, struct rm_ring_file_supply, safe),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("safe_slew", "How fast it goes there, in the setpoint's unit per second.",
                                 .otherwise = "the configuration's", .example = "5", RM_RANGE(1e-9, INFINITY)),
                          MAYBE, struct rm_ring_file_supply, safe_slew),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_supply_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_supply, supply_fields)};

static cyaml_schema_field_t const chain_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "A chain, an entry of the configuration, a pattern, or all.", .example = "c"),
                           TEXT, struct rm_ring_file_chain, name, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("timeout_ms", "When no setpoint has come for so long they have stopped; 0: never.",
                                 .unit = "ms", .otherwise = "the configuration's timeout_us, else 100",
                                 .example = "100", RM_RANGE(0, 1e9)),
                          MAYBE, struct rm_ring_file_chain, timeout_ms),
    CYAML_FIELD_ENUM_PTR(
        RM_KEY("stop", "What the chain does then: stay, or go to its safe values.", .fallback = "hold", .late = true),
        MAYBE_WORD, struct rm_ring_file_chain, stop, stops, CYAML_ARRAY_LEN(stops)),
    CYAML_FIELD_BOOL_PTR(RM_KEY("mirror",
                                "Answers go to the broadcast MAC, so that two servers on its network hear them.",
                                .fallback = "false"),
                         MAYBE, struct rm_ring_file_chain, mirror),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_chain_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_chain, chain_fields)};

static cyaml_schema_field_t const fault_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("chain", "Whom it befalls: a chain, an entry, a pattern, or all.", .example = "all"),
                           TEXT, struct rm_ring_file_chain_fault, chain, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_ENUM(RM_KEY("fault", "What happens.", .example = "trip"), WORD, struct rm_ring_file_chain_fault, fault,
                     fault_kinds, CYAML_ARRAY_LEN(fault_kinds)),
    CYAML_FIELD_UINT_PTR(RM_KEY("supply", "Number of the supply in the chain. Of trip, saturate, stuck and deaf.",
                                .otherwise = "all", .example = "1", RM_RANGE(1, RM_CHAIN_SUPPLIES_MAX)),
                         MAYBE, struct rm_ring_file_chain_fault, supply),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("from_s", "When it begins, since the start of the run.", .unit = "s", .fallback = "0",
                                 RM_RANGE(0, INFINITY)),
                          MAYBE, struct rm_ring_file_chain_fault, from_s),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("for_s", "How long it lasts.", .unit = "s", .otherwise = "to the end", .example = "10",
                                 RM_RANGE(0, INFINITY), .above = true),
                          MAYBE, struct rm_ring_file_chain_fault, for_s),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("probability", "Of each answer. Of silent and other_id.", .fallback = "1",
                                 RM_RANGE(0, 1), .late = true, .apart = true),
                          MAYBE, struct rm_ring_file_chain_fault, probability),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("limit", "It can no more than that, either way, in the setpoint's unit. Of saturate.",
                                 .otherwise = "required of saturate", .example = "5", RM_RANGE(0, INFINITY),
                                 .apart = true),
                          MAYBE, struct rm_ring_file_chain_fault, limit),
    CYAML_FIELD_UINT_PTR(RM_KEY("id", "Of the chain for which it answers. Of other_id.",
                                .otherwise = "required of other_id", .example = "2", .apart = true),
                         MAYBE, struct rm_ring_file_chain_fault, id),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const rm_ring_chain_fault_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_chain_fault, fault_fields)};

static cyaml_schema_field_t const response_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("supply", "Which: one, such as \"c01/1\".", .example = "c01/1"), TEXT,
                           struct rm_ring_file_response, supply, 1, SUPPLY_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("instrument", "Which instrument sees it.", .example = "bpm01"), TEXT,
                           struct rm_ring_file_response, instrument, 1, RM_VIRTUAL_NAME_BYTES - 1),
    CYAML_FIELD_STRING_PTR(RM_KEY("lane", "Which lane of it.", .example = "x1"), TEXT, struct rm_ring_file_response,
                           lane, 1, LANE_LONGEST),
    CYAML_FIELD_FLOAT(RM_KEY("per_unit", "In the lane's unit per unit of the setpoint.", .example = "20000"), PLAIN,
                      struct rm_ring_file_response, per_unit),
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
