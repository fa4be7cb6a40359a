// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_key.h"
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
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bandwidth_hz", "First order of the plant; 0: none.", .unit = "Hz", .fallback = "0", RM_RANGE(0, 1e9)),
        MAYBE, struct feedback_file_plant, bandwidth_hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("second_hz", "Second first order of the plant; 0: none.", .unit = "Hz",
                                 .fallback = "0", RM_RANGE(0, 1e9)),
                          MAYBE, struct feedback_file_plant, second_hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("delay_us", "Delay of the plant, beyond that of the cycle.", .unit = "µs",
                                 .fallback = "0", RM_RANGE(0, 1e6)),
                          MAYBE, struct feedback_file_plant, delay_us),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const family_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("name", "Its name.", .example = "fast"), TEXT, struct feedback_file_family, name, 1,
                           31),
    CYAML_FIELD_SEQUENCE(RM_KEY("actuators", "Its actuators: names or patterns.", .example = "[\"sr/ps/ch_*\"]"), TEXT,
                         struct feedback_file_family, actuators, &name_schema, 1, FEEDBACK_PATTERNS_MAX),
    CYAML_FIELD_MAPPING(RM_KEY("plant", "From a setpoint to the orbit."), CYAML_FLAG_OPTIONAL,
                        struct feedback_file_family, plant, plant_fields),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("proportional", "Proportional gain of its law.", .otherwise = "0", .example = "0.1", RM_RANGE(0, 100)),
        MAYBE, struct feedback_file_family, proportional),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("integral_hz", "Integral gain of its law; a family without a law takes only what is handed over to it.",
               .unit = "Hz", .otherwise = "0", .example = "100", RM_RANGE(0, 1e7)),
        MAYBE, struct feedback_file_family, integral_hz),
    CYAML_FIELD_ENUM_PTR(RM_KEY("predictor", "The internal model of the delay.", .fallback = "true"), MAYBE_WORD,
                         struct feedback_file_family, predictor, answers, CYAML_ARRAY_LEN(answers)),
    CYAML_FIELD_SEQUENCE(RM_KEY("resonators", "Frequencies of the resonators that it has, of those below.",
                                .unit = "Hz", .otherwise = "none", .example = "[50]"),
                         MAYBE, struct feedback_file_family, resonators, &number_schema, 0, FEEDBACK_RESONATORS_MAX),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("unload_to", "The family that its DC goes to.", .otherwise = "none", .example = "slow"), MAYBE,
        struct feedback_file_family, unload_to, 1, 31),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("crossover_hz", "How fast it goes there.", .unit = "Hz",
                                 .otherwise = "required with `unload_to`", .example = "1", RM_RANGE(1e-4, 1e5)),
                          MAYBE, struct feedback_file_family, crossover_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const family_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct feedback_file_family, family_fields)};

static cyaml_schema_field_t const resonator_fields[] = {
    CYAML_FIELD_FLOAT_PTR(RM_KEY("hz", "Its frequency.", .unit = "Hz", .example = "50", RM_RANGE(1e-3, 1e7)), TEXT,
                          struct feedback_file_resonator, hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("width_hz", "Its width.", .unit = "Hz", .otherwise = "0.0125 of hz",
                                 .example = "0.625", RM_RANGE(1e-9, 1e7)),
                          MAYBE, struct feedback_file_resonator, width_hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("leak_hz", "How fast it forgets.", .unit = "Hz", .otherwise = "0.004 of the width",
                                 .example = "0.0025", RM_RANGE(0, 1e7)),
                          MAYBE, struct feedback_file_resonator, leak_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const resonator_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct feedback_file_resonator, resonator_fields)};

static cyaml_schema_field_t const rf_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("actuator", "The one that moves the frequency of the RF.", .example = "sr/rf/frequency"), TEXT,
        struct feedback_file_rf, actuator, 1, NAME_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("hz", "How often it looks.", .unit = "Hz", .fallback = "10", RM_RANGE(1e-3, 1e5)),
                          MAYBE, struct feedback_file_rf, hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("gain", "Share that is corrected per look.", .fallback = "0.3", RM_RANGE(0, 2)), MAYBE,
                          struct feedback_file_rf, gain),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("slew", "In the actuator's unit per second.", .fallback = "1", RM_RANGE(1e-9, 1e9)),
                          MAYBE, struct feedback_file_rf, slew),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const beam_fields[] = {
    CYAML_FIELD_SEQUENCE(RM_KEY("lanes", "Lanes of the inputs whose mean tells of beam.", .example = "[sum]"), TEXT,
                         struct feedback_file_beam, lanes, &lane_schema, 1, 4),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("least", "Less is no beam, in the lanes' unit.", .fallback = "0", RM_RANGE(0, 1e18)),
                          MAYBE, struct feedback_file_beam, least),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("drop", "The beam is lost when this share is gone from one cycle to the next.",
                                 .fallback = "0.5", RM_RANGE(0, 1)),
                          MAYBE, struct feedback_file_beam, drop),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("rearm_s", "After a loss of no more than this the loop goes on by itself; 0: never.",
                                 .unit = "s", .fallback = "0", RM_RANGE(0, 3600)),
                          MAYBE, struct feedback_file_beam, rearm_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const enable_conditions_fields[] = {
    CYAML_FIELD_MAPPING_PTR(RM_KEY("beam", "There is beam.", .otherwise = "none"), MAYBE,
                            struct feedback_file_enable_conditions, beam, beam_fields),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("bpms", "Least share of BPM readings in use.", .fallback = "0.9", RM_RANGE(0, 1)),
                          MAYBE, struct feedback_file_enable_conditions, bpms),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("actuators", "Least share of actuators in use.", .fallback = "0.9", RM_RANGE(0, 1)),
                          MAYBE, struct feedback_file_enable_conditions, actuators),
    CYAML_FIELD_UINT_PTR(RM_KEY("saturated", "So many actuators may stand at a limit.", .fallback = "4"), MAYBE,
                         struct feedback_file_enable_conditions, saturated),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("saturated_s", "More of them for so long.", .unit = "s", .fallback = "0.5", RM_RANGE(0, 1e6)), MAYBE,
        struct feedback_file_enable_conditions, saturated_s),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("initial_error_um", "Largest RMS error to begin with.", .unit = "µm",
                                 .fallback = "500", RM_RANGE(0, 1e9)),
                          MAYBE, struct feedback_file_enable_conditions, initial_error_um),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("missing", "Share of inputs missing in one cycle that holds.", .fallback = "0.3", RM_RANGE(0, 1)), MAYBE,
        struct feedback_file_enable_conditions, missing),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const watch_fields[] = {
    CYAML_FIELD_UINT_PTR(RM_KEY("missing_cycles", "So long a missing reading is substituted by its last error.",
                                .unit = "cycles", .fallback = "3"),
                         MAYBE, struct feedback_file_watch, missing_cycles),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("frozen_cycles", "The very same value for so long: out; 0: never.", .unit = "cycles", .fallback = "10"),
        MAYBE, struct feedback_file_watch, frozen_cycles),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("jump_um", "Further in one cycle, and others did not: out.", .unit = "µm",
                                 .fallback = "500", RM_RANGE(1e-3, 1e9)),
                          MAYBE, struct feedback_file_watch, jump_um),
    CYAML_FIELD_UINT_PTR(RM_KEY("invalid_status", "Bits of the instrument's status that must be 0.", .fallback = "0",
                                RM_RANGE(0, 65535)),
                         MAYBE, struct feedback_file_watch, invalid_status),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("return_s", "Good for so long: back in.", .unit = "s", .fallback = "1", RM_RANGE(0, 1e6)), MAYBE,
        struct feedback_file_watch, return_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const gate_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("input", "Which stream tells of injections.", .example = "timing/turn"), TEXT,
                           struct feedback_file_gate, input, 1, INPUT_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("lane", "Which lane of it.", .example = "flags"), TEXT, struct feedback_file_gate,
                           lane, 1, LANE_LONGEST),
    CYAML_FIELD_UINT_PTR(RM_KEY("bit", "Which bit of it.", .fallback = "0", RM_RANGE(0, 31)), MAYBE,
                         struct feedback_file_gate, bit),
    CYAML_FIELD_UINT_PTR(RM_KEY("cycles", "So long the loop holds from each rise of the bit.", .unit = "cycles",
                                .fallback = "30", RM_RANGE(1, 4294967295.0)),
                         MAYBE, struct feedback_file_gate, cycles),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const table_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("input", "Which stream.", .example = "id01/raw"), TEXT, struct feedback_file_table,
                           input, 1, INPUT_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("lane", "Which lane of it.", .example = "gap"), TEXT, struct feedback_file_table,
                           lane, 1, LANE_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("table", "File of setpoints by what the lane says.", .example = "id01.csv"), TEXT,
                           struct feedback_file_table, table, 1, PATH_LONGEST),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const table_schema = {CYAML_VALUE_MAPPING(PLAIN, struct feedback_file_table, table_fields)};

static cyaml_schema_field_t const shadow_fields[] = {
    CYAML_FIELD_SEQUENCE(RM_KEY("inputs", "Streams of the other system's setpoints.", .example = "[\"fofb*/raw\"]"),
                         TEXT, struct feedback_file_shadow, inputs, &input_schema, 1, FEEDBACK_PATTERNS_MAX),
    CYAML_FIELD_END,
};

static cyaml_strval_t const planes[] = {{"x", FEEDBACK_FILE_X}, {"y", FEEDBACK_FILE_Y}};

static cyaml_schema_field_t const correctors_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("elements", "Elements of the lattice, by a pattern.", .example = "\"CF_*\""), TEXT,
                           struct feedback_file_correctors, elements, 1, PATH_LONGEST),
    CYAML_FIELD_ENUM(RM_KEY("plane", "Which way they kick.", .example = "x"), CYAML_FLAG_STRICT,
                     struct feedback_file_correctors, plane, planes, CYAML_ARRAY_LEN(planes)),
    CYAML_FIELD_STRING_PTR(
        RM_KEY("actuators", "Their actuators: names, or ranges of numbers.", .example = "\"sr/ps/cfx_[01-72]\""), TEXT,
        struct feedback_file_correctors, actuators, 1, PATH_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("urad_per_unit", "Kick per unit of the setpoint.", .unit = "µrad", .fallback = "1"),
                          MAYBE, struct feedback_file_correctors, urad_per_unit),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const correctors_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct feedback_file_correctors, correctors_fields)};

static cyaml_schema_field_t const lattice_rf_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("actuator", "The one that moves the frequency.", .example = "sr/rf/frequency"), TEXT,
                           struct feedback_file_lattice_rf, actuator, 1, NAME_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("hz_per_unit", "Frequency per unit of its setpoint.", .unit = "Hz", .fallback = "1"),
                          MAYBE, struct feedback_file_lattice_rf, hz_per_unit),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const lattice_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("bpms", "Elements that are BPMs, by a pattern.", .fallback = "*BPM*"), MAYBE,
                           struct feedback_file_lattice, bpms, 1, PATH_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("rows", "Their readings, x and y of the first, x and y of the second.",
                                  .otherwise = "those of the server's instruments",
                                  .example = "\"bpm[01-84]/{x1,y1,x2,y2}\""),
                           MAYBE, struct feedback_file_lattice, rows, 1, PATH_LONGEST),
    CYAML_FIELD_SEQUENCE(RM_KEY("correctors", "Which element is which actuator."), TEXT, struct feedback_file_lattice,
                         correctors, &correctors_schema, 1, FEEDBACK_PATTERNS_MAX),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("rf", "Which actuator is the frequency of the RF.", .otherwise = "none"), MAYBE,
                            struct feedback_file_lattice, rf, lattice_rf_fields),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("matrix", "The response matrix, a file.", .example = "response.csv"), TEXT,
                           struct feedback_file, matrix, 1, PATH_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("golden", "The wanted orbit, a file of NAME,nm.", .otherwise = "0",
                                  .example = "golden.csv", .apart = true),
                           MAYBE, struct feedback_file, golden, 1, PATH_LONGEST),
    CYAML_FIELD_STRING_PTR(RM_KEY("weights", "Weights of rows and columns, a file of NAME,weight.", .otherwise = "1",
                                  .example = "weights.csv", .apart = true),
                           MAYBE, struct feedback_file, weights, 1, PATH_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("golden_speed", "How fast another golden orbit is approached.", .unit = "µm/s",
                                 .fallback = "100", RM_RANGE(1e-6, 1e9)),
                          MAYBE, struct feedback_file, golden_speed),
    CYAML_FIELD_ENUM_PTR(RM_KEY("coupled", "One matrix of both planes, instead of one for each.", .fallback = "false"),
                         MAYBE_WORD, struct feedback_file, coupled, answers, CYAML_ARRAY_LEN(answers)),
    CYAML_FIELD_ENUM_PTR(RM_KEY("per", "A controller per mode or per corrector.", .fallback = "mode"), MAYBE_WORD,
                         struct feedback_file, per, ways, CYAML_ARRAY_LEN(ways)),
    CYAML_FIELD_UINT_PTR(RM_KEY("modes", "So many singular values per plane and family; 0: all.", .fallback = "0"),
                         MAYBE, struct feedback_file, modes),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("tikhonov", "Regularisation, of the largest singular value.", .fallback = "0.01", RM_RANGE(0, 1)), MAYBE,
        struct feedback_file, tikhonov),
    CYAML_FIELD_SEQUENCE(
        RM_KEY("families", "Correctors of one kind each.", .example = "{name: slow, actuators: [\"sr/ps/cs_*\"]}"),
        TEXT, struct feedback_file, families, &family_schema, 1, FEEDBACK_FAMILIES_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("resonators", "Lines that families take away.", .otherwise = "none"), MAYBE,
                         struct feedback_file, resonators, &resonator_schema, 0, FEEDBACK_RESONATORS_MAX),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("mains_hz", "The line whose phasors tell the mains' frequency.", .unit = "Hz",
                                 .otherwise = "the first resonator's, or 50", .example = "50", RM_RANGE(1e-3, 1e7)),
                          MAYBE, struct feedback_file, mains_hz),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("rf", "The frequency of the RF corrects, too.", .otherwise = "none"), MAYBE,
                            struct feedback_file, rf, rf_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("enable_conditions", "What must hold for the loop to be on.", .fallback = "{}"),
                            MAYBE, struct feedback_file, enable_conditions, enable_conditions_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("watch", "What puts a reading out of use.", .fallback = "{}"), MAYBE,
                            struct feedback_file, watch, watch_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("gate", "Injections that the loop holds in.", .otherwise = "none"), MAYBE,
                            struct feedback_file, gate, gate_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("feed_forward", "Setpoints added by what a lane says, such as a gap.",
                                .otherwise = "none", .apart = true),
                         MAYBE, struct feedback_file, feed_forward, &table_schema, 0, FEEDBACK_TABLES_MAX),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("shadow", "Another system's setpoints, to compare with.", .otherwise = "none"),
                            MAYBE, struct feedback_file, shadow, shadow_fields),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("soft_start_s", "In which the gain rises from 0.", .unit = "s", .fallback = "1", RM_RANGE(0, 1e6)),
        MAYBE, struct feedback_file, soft_start_s),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("lattice",
                                   "Which element of the design is what: of `ringmaster feedback matrix twin`.",
                                   .otherwise = "none"),
                            MAYBE, struct feedback_file, lattice, lattice_fields),
    CYAML_FIELD_END,
};

cyaml_schema_value_t const feedback_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct feedback_file, fields)};
