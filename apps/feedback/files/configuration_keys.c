// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

enum { NAME_LONGEST = 95, /* RM_NAME_BYTES - 1 */ LANE_LONGEST = 15, /* RM_LANE_NAME_BYTES - 1 */ INPUT_LONGEST = 63 };

static char const *const ways[] = {"mode", "corrector", NULL};

static struct rm_key const plant_keys[] = {
    RM_KEY_NUMBER(struct feedback_family_plant, bandwidth_hz, "bandwidth_hz", "First order of the plant; 0: none.",
                  .unit = "Hz", .fallback = "0", RM_BETWEEN(0, 1e9)),
    RM_KEY_NUMBER(struct feedback_family_plant, second_hz, "second_hz", "Second first order of the plant; 0: none.",
                  .unit = "Hz", .fallback = "0", RM_BETWEEN(0, 1e9)),
    RM_KEY_NUMBER(struct feedback_family_plant, delay_s, "delay_us", "Delay of the plant, beyond that of the cycle.",
                  .unit = "µs", .fallback = "0", RM_BETWEEN(0, 1e6), .scale = 1e-6),
    RM_KEYS_END,
};

static struct rm_key const family_keys[] = {
    RM_KEY_TEXT(struct feedback_family, name, "name", "Its name.", .example = "fast", .required = true,
                RM_BETWEEN(1, 31)),
    RM_KEY_TEXTS(struct feedback_family, patterns, pattern_count, "actuators", "Its actuators: names or patterns.",
                 .example = "[\"sr/ps/ch_*\"]", .required = true, RM_BETWEEN(1, FEEDBACK_PATTERNS_MAX)),
    RM_KEY_MAPPING(struct feedback_family, plant, "plant", "From a setpoint to the orbit.", plant_keys),
    RM_KEY_NUMBER(struct feedback_family, tuning.proportional, "proportional", "Proportional gain of its law.",
                  .otherwise = "0", .example = "0.1", RM_BETWEEN(0, 100)),
    RM_KEY_NUMBER(struct feedback_family, tuning.integral_hz, "integral_hz",
                  "Integral gain of its law; a family without a law takes only what is handed over to it.",
                  .unit = "Hz", .otherwise = "0", .example = "100", RM_BETWEEN(0, 1e7)),
    RM_KEY_TRUTH(struct feedback_family, tuning.predicts, "predictor", "The internal model of the delay.",
                 .fallback = "true"),
    RM_KEY_NUMBERS(struct feedback_family, resonators_hz, resonators_named, "resonators",
                   "Frequencies of the resonators that it has, of those below.", .unit = "Hz", .otherwise = "none",
                   .example = "[50]", RM_BETWEEN(0, FEEDBACK_RESONATORS_MAX)),
    RM_KEY_TEXT(struct feedback_family, taker, "unload_to", "The family that its DC goes to.", .otherwise = "none",
                .example = "slow", RM_BETWEEN(1, 31)),
    RM_KEY_NUMBER(struct feedback_family, crossover_hz, "crossover_hz", "How fast it goes there.", .unit = "Hz",
                  .otherwise = "required with `unload_to`", .example = "1", RM_BETWEEN(1e-4, 1e5)),
    RM_KEYS_END,
};

static struct rm_key const resonator_keys[] = {
    RM_KEY_NUMBER(struct feedback_resonator, hz, "hz", "Its frequency.", .unit = "Hz", .example = "50",
                  .required = true, RM_BETWEEN(1e-3, 1e7)),
    RM_KEY_NUMBER(struct feedback_resonator, width_hz, "width_hz", "Its width.", .unit = "Hz",
                  .otherwise = "0.0125 of hz", .example = "0.625", RM_BETWEEN(1e-9, 1e7)),
    RM_KEY_NUMBER(struct feedback_resonator, leak_hz, "leak_hz", "How fast it forgets.", .unit = "Hz",
                  .otherwise = "0.004 of the width", .example = "0.0025", RM_BETWEEN(0, 1e7)),
    RM_KEYS_END,
};

static struct rm_key const rf_keys[] = {
    RM_KEY_TEXT(struct feedback_rf_configuration, actuator, "actuator", "The one that moves the frequency of the RF.",
                .example = "sr/rf/frequency", .required = true, RM_BETWEEN(1, NAME_LONGEST)),
    RM_KEY_NUMBER(struct feedback_rf_configuration, hz, "hz", "How often it looks.", .unit = "Hz", .fallback = "10",
                  RM_BETWEEN(1e-3, 1e5)),
    RM_KEY_NUMBER(struct feedback_rf_configuration, gain, "gain", "Share that is corrected per look.",
                  .fallback = "0.3", RM_BETWEEN(0, 2)),
    RM_KEY_NUMBER(struct feedback_rf_configuration, slew, "slew", "In the actuator's unit per second.", .fallback = "1",
                  RM_BETWEEN(1e-9, 1e9)),
    RM_KEYS_END,
};

static struct rm_key const beam_keys[] = {
    RM_KEY_TEXTS(struct feedback_beam_condition, lane, lanes, "lanes", "Lanes of the inputs whose mean tells of beam.",
                 .example = "[sum]", .required = true, RM_BETWEEN(1, 4)),
    RM_KEY_NUMBER(struct feedback_beam_condition, least, "least", "Less is no beam, in the lanes' unit.",
                  .fallback = "0", RM_BETWEEN(0, 1e18)),
    RM_KEY_NUMBER(struct feedback_beam_condition, drop, "drop",
                  "The beam is lost when this share is gone from one cycle to the next.", .fallback = "0.5",
                  RM_BETWEEN(0, 1)),
    RM_KEY_NUMBER(struct feedback_beam_condition, rearm_s, "rearm_s",
                  "After a loss of no more than this the loop goes on by itself; 0: never.", .unit = "s",
                  .fallback = "0", RM_BETWEEN(0, 3600)),
    RM_KEYS_END,
};

static struct rm_key const enable_conditions_keys[] = {
    RM_KEY_MAPPING(struct feedback_enable_limits, beam, "beam", "There is beam.", beam_keys, .otherwise = "none"),
    RM_KEY_NUMBER(struct feedback_enable_limits, bpms, "bpms", "Least share of BPM readings in use.", .fallback = "0.9",
                  RM_BETWEEN(0, 1)),
    RM_KEY_NUMBER(struct feedback_enable_limits, actuators, "actuators", "Least share of actuators in use.",
                  .fallback = "0.9", RM_BETWEEN(0, 1)),
    RM_KEY_WHOLE(struct feedback_enable_limits, saturated, "saturated", "So many actuators may stand at a limit.",
                 .fallback = "4"),
    RM_KEY_NUMBER(struct feedback_enable_limits, saturated_s, "saturated_s", "More of them for so long.", .unit = "s",
                  .fallback = "0.5", RM_BETWEEN(0, 1e6)),
    RM_KEY_NUMBER(struct feedback_enable_limits, initial_error_um, "initial_error_um",
                  "Largest RMS error to begin with.", .unit = "µm", .fallback = "500", RM_BETWEEN(0, 1e9)),
    RM_KEY_NUMBER(struct feedback_enable_limits, missing, "missing", "Share of inputs missing in one cycle that holds.",
                  .fallback = "0.3", RM_BETWEEN(0, 1)),
    RM_KEYS_END,
};

static struct rm_key const watch_keys[] = {
    RM_KEY_WHOLE(struct feedback_watch_configuration, missing_cycles, "missing_cycles",
                 "So long a missing reading is substituted by its last error.", .unit = "cycles", .fallback = "3"),
    RM_KEY_WHOLE(struct feedback_watch_configuration, frozen_cycles, "frozen_cycles",
                 "The very same value for so long: out; 0: never.", .unit = "cycles", .fallback = "10"),
    RM_KEY_NUMBER(struct feedback_watch_configuration, jump_um, "jump_um",
                  "Further in one cycle, and others did not: out.", .unit = "µm", .fallback = "500",
                  RM_BETWEEN(1e-3, 1e9)),
    RM_KEY_WHOLE(struct feedback_watch_configuration, invalid_status, "invalid_status",
                 "Bits of the instrument's status that must be 0.", .fallback = "0", RM_BETWEEN(0, 65535)),
    RM_KEY_NUMBER(struct feedback_watch_configuration, return_s, "return_s", "Good for so long: back in.", .unit = "s",
                  .fallback = "1", RM_BETWEEN(0, 1e6)),
    RM_KEYS_END,
};

static struct rm_key const gate_keys[] = {
    RM_KEY_TEXT(struct feedback_gate_configuration, input, "input", "Which stream tells of injections.",
                .example = "timing/turn", .required = true, RM_BETWEEN(1, INPUT_LONGEST)),
    RM_KEY_TEXT(struct feedback_gate_configuration, lane, "lane", "Which lane of it.", .example = "flags",
                .required = true, RM_BETWEEN(1, LANE_LONGEST)),
    RM_KEY_WHOLE(struct feedback_gate_configuration, bit, "bit", "Which bit of it.", .fallback = "0",
                 RM_BETWEEN(0, 31)),
    RM_KEY_WHOLE(struct feedback_gate_configuration, cycles, "cycles",
                 "So long the loop holds from each rise of the bit.", .unit = "cycles", .fallback = "30",
                 RM_BETWEEN(1, 4294967295.0)),
    RM_KEYS_END,
};

static struct rm_key const table_keys[] = {
    RM_KEY_TEXT(struct feedback_table, input, "input", "Which stream.", .example = "id01/raw", .required = true,
                RM_BETWEEN(1, INPUT_LONGEST)),
    RM_KEY_TEXT(struct feedback_table, lane, "lane", "Which lane of it.", .example = "gap", .required = true,
                RM_BETWEEN(1, LANE_LONGEST)),
    RM_KEY_TEXT(struct feedback_table, path, "table", "File of setpoints by what the lane says.", .example = "id01.csv",
                .required = true),
    RM_KEYS_END,
};

static struct rm_key const shadow_keys[] = {
    RM_KEY_TEXTS(struct feedback_shadow, input, inputs, "inputs", "Streams of the other system's setpoints.",
                 .example = "[\"fofb*/raw\"]", .required = true, RM_BETWEEN(1, FEEDBACK_PATTERNS_MAX)),
    RM_KEYS_END,
};

static char const *const planes[] = {"x", "y", NULL};

static struct rm_key const correctors_keys[] = {
    RM_KEY_TEXT(struct feedback_lattice_correctors, elements, "elements", "Elements of the lattice, by a pattern.",
                .example = "\"CF_*\"", .required = true),
    RM_KEY_WORD(struct feedback_lattice_correctors, plane, "plane", "Which way they kick.", .example = "x",
                .required = true, .words = planes),
    RM_KEY_TEXT(struct feedback_lattice_correctors, actuators, "actuators",
                "Their actuators: names, or ranges of numbers.", .example = "\"sr/ps/cfx_[01-72]\"", .required = true),
    RM_KEY_NUMBER(struct feedback_lattice_correctors, urad_per_unit, "urad_per_unit", "Kick per unit of the setpoint.",
                  .unit = "µrad", .fallback = "1"),
    RM_KEYS_END,
};

static struct rm_key const lattice_rf_keys[] = {
    RM_KEY_TEXT(struct feedback_lattice_rf, actuator, "actuator", "The one that moves the frequency.",
                .example = "sr/rf/frequency", .required = true, RM_BETWEEN(1, NAME_LONGEST)),
    RM_KEY_NUMBER(struct feedback_lattice_rf, hz_per_unit, "hz_per_unit", "Frequency per unit of its setpoint.",
                  .unit = "Hz", .fallback = "1"),
    RM_KEYS_END,
};

static struct rm_key const lattice_keys[] = {
    RM_KEY_TEXT(struct feedback_lattice, bpms, "bpms", "Elements that are BPMs, by a pattern.", .fallback = "*BPM*"),
    RM_KEY_TEXT(struct feedback_lattice, rows, "rows", "Their readings, x and y of the first, x and y of the second.",
                .otherwise = "those of the server's instruments", .example = "\"bpm[01-84]/{x1,y1,x2,y2}\""),
    RM_KEY_MAPPINGS(struct feedback_lattice, correctors, correctors_count, "correctors",
                    "Which element is which actuator.", correctors_keys, .required = true,
                    RM_BETWEEN(1, FEEDBACK_PATTERNS_MAX)),
    RM_KEY_MAPPING(struct feedback_lattice, rf, "rf", "Which actuator is the frequency of the RF.", lattice_rf_keys,
                   .otherwise = "none"),
    RM_KEYS_END,
};

struct rm_key const feedback_keys[] = {
    RM_KEY_TEXT(struct feedback_configuration, matrix_file, "matrix", "The response matrix, a file.",
                .example = "response.csv", .required = true),
    RM_KEY_TEXT(struct feedback_configuration, golden_file, "golden", "The wanted orbit, a file of NAME,nm.",
                .otherwise = "0", .example = "golden.csv", .apart = true),
    RM_KEY_TEXT(struct feedback_configuration, weights_file, "weights",
                "Weights of rows and columns, a file of NAME,weight.", .otherwise = "1", .example = "weights.csv",
                .apart = true),
    RM_KEY_NUMBER(struct feedback_configuration, golden_speed_um_s, "golden_speed",
                  "How fast another golden orbit is approached.", .unit = "µm/s", .fallback = "100",
                  RM_BETWEEN(1e-6, 1e9)),
    RM_KEY_TRUTH(struct feedback_configuration, coupled, "coupled",
                 "One matrix of both planes, instead of one for each.", .fallback = "false"),
    RM_KEY_WORD(struct feedback_configuration, per, "per", "A controller per mode or per corrector.",
                .fallback = "mode", .words = ways),
    RM_KEY_WHOLE(struct feedback_configuration, modes, "modes", "So many singular values per plane and family; 0: all.",
                 .fallback = "0"),
    RM_KEY_NUMBER(struct feedback_configuration, tikhonov, "tikhonov", "Regularisation, of the largest singular value.",
                  .fallback = "0.01", RM_BETWEEN(0, 1)),
    RM_KEY_MAPPINGS(struct feedback_configuration, family, family_count, "families", "Correctors of one kind each.",
                    family_keys, .example = "{name: slow, actuators: [\"sr/ps/cs_*\"]}", .required = true,
                    RM_BETWEEN(1, FEEDBACK_FAMILIES_MAX)),
    RM_KEY_MAPPINGS(struct feedback_configuration, resonator, resonator_count, "resonators",
                    "Lines that families take away.", resonator_keys, .otherwise = "none",
                    RM_BETWEEN(0, FEEDBACK_RESONATORS_MAX)),
    RM_KEY_NUMBER(struct feedback_configuration, mains_hz, "mains_hz",
                  "The line whose phasors tell the mains' frequency.", .unit = "Hz",
                  .otherwise = "the first resonator's, or 50", .example = "50", RM_BETWEEN(1e-3, 1e7)),
    RM_KEY_MAPPING(struct feedback_configuration, rf, "rf", "The frequency of the RF corrects, too.", rf_keys,
                   .otherwise = "none"),
    RM_KEY_MAPPING(struct feedback_configuration, enable_conditions, "enable_conditions",
                   "What must hold for the loop to be on.", enable_conditions_keys, .fallback = "{}"),
    RM_KEY_MAPPING(struct feedback_configuration, watch, "watch", "What puts a reading out of use.", watch_keys,
                   .fallback = "{}"),
    RM_KEY_MAPPING(struct feedback_configuration, gate, "gate", "Injections that the loop holds in.", gate_keys,
                   .otherwise = "none"),
    RM_KEY_MAPPINGS(struct feedback_configuration, table, table_count, "feed_forward",
                    "Setpoints added by what a lane says, such as a gap.", table_keys, .otherwise = "none",
                    .apart = true, RM_BETWEEN(0, FEEDBACK_TABLES_MAX)),
    RM_KEY_MAPPING(struct feedback_configuration, shadow, "shadow", "Another system's setpoints, to compare with.",
                   shadow_keys, .otherwise = "none"),
    RM_KEY_NUMBER(struct feedback_configuration, soft_start_s, "soft_start_s", "In which the gain rises from 0.",
                  .unit = "s", .fallback = "1", RM_BETWEEN(0, 1e6)),
    RM_KEY_MAPPING(struct feedback_configuration, lattice, "lattice",
                   "Which element of the design is what: of `ringmaster feedback matrix twin`.", lattice_keys,
                   .otherwise = "none"),
    RM_KEYS_END,
};
