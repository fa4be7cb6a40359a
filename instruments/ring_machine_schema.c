// SPDX-License-Identifier: Apache-2.0
#include "ring_machine.h"
#include "ring_machine_file.h"

enum {
    PLAIN = CYAML_FLAG_DEFAULT,
    WORD = CYAML_FLAG_STRICT,
    MAYBE_WORD = CYAML_FLAG_STRICT | CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    TEXT = CYAML_FLAG_POINTER,
    MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
    PATTERN_LONGEST = 63,
    PATH_LONGEST = 1023,
};

static cyaml_strval_t const planes[] = {{"x", RM_RING_FILE_X}, {"y", RM_RING_FILE_Y}};
static cyaml_strval_t const changes[] = {
    {"gradient", RM_RING_FILE_GRADIENT}, {"skew", RM_RING_FILE_SKEW}, {"sextupole", RM_RING_FILE_SEXTUPOLE}};

static cyaml_schema_field_t const errors_fields[] = {
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("beta_beat", "RMS error of β at the BPMs, relative.", .fallback = "0", RM_RANGE(0, 0.5)), MAYBE,
        struct rm_ring_file_machine_errors, beta_beat),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bpm_gain", "RMS error of the gain of BPMs, relative.", .fallback = "0", RM_RANGE(0, 0.4)), MAYBE,
        struct rm_ring_file_machine_errors, bpm_gain),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bpm_offset_um", "RMS offset of BPMs.", .unit = "µm", .fallback = "0", RM_RANGE(0, 5000)), MAYBE,
        struct rm_ring_file_machine_errors, bpm_offset_um),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bpm_roll_mrad", "RMS roll of BPMs.", .unit = "mrad", .fallback = "0", RM_RANGE(0, 500)), MAYBE,
        struct rm_ring_file_machine_errors, bpm_roll_mrad),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bpm_crosstalk", "RMS share of one plane in the other.", .fallback = "0", RM_RANGE(0, 0.4)), MAYBE,
        struct rm_ring_file_machine_errors, bpm_crosstalk),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("bpm_pincushion_per_mm2", "RMS of the cubic that buttons make of a position.",
                                 .unit = "1/mm²", .fallback = "0", RM_RANGE(0, 0.1)),
                          MAYBE, struct rm_ring_file_machine_errors, bpm_pincushion_per_mm2),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bpm_inverted", "Share of planes whose sign is wrong.", .fallback = "0", RM_RANGE(0, 1)), MAYBE,
        struct rm_ring_file_machine_errors, bpm_inverted),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bpm_swapped", "Share of BPMs whose planes are swapped.", .fallback = "0", RM_RANGE(0, 1)), MAYBE,
        struct rm_ring_file_machine_errors, bpm_swapped),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("bpm_turn_shift", "Share of electronics at turn rate that are a turn early or late.",
                                 .fallback = "0", RM_RANGE(0, 1)),
                          MAYBE, struct rm_ring_file_machine_errors, bpm_turn_shift),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("corrector_gain", "RMS error of the gain of correctors, relative.", .fallback = "0", RM_RANGE(0, 0.4)),
        MAYBE, struct rm_ring_file_machine_errors, corrector_gain),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("corrector_roll_mrad", "RMS roll of correctors.", .unit = "mrad", .fallback = "0", RM_RANGE(0, 500)),
        MAYBE, struct rm_ring_file_machine_errors, corrector_roll_mrad),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("magnet_offset_um", "RMS offset of magnets in both planes; the orbit is steered.",
                                 .unit = "µm", .fallback = "0", RM_RANGE(0, 1000)),
                          MAYBE, struct rm_ring_file_machine_errors, magnet_offset_um),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("magnet_roll_mrad", "RMS roll of magnets.", .unit = "mrad", .fallback = "0", RM_RANGE(0, 10)), MAYBE,
        struct rm_ring_file_machine_errors, magnet_roll_mrad),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("sextupole", "RMS error of sextupoles, relative.", .fallback = "0", RM_RANGE(0, 0.2)),
                          MAYBE, struct rm_ring_file_machine_errors, sextupole),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("skew_per_m", "RMS skew gradient times length, of quadrupoles and sextupoles.",
                                 .unit = "1/m", .fallback = "0", RM_RANGE(0, 0.1)),
                          MAYBE, struct rm_ring_file_machine_errors, skew_per_m),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const filter_fields[] = {
    CYAML_FIELD_FLOAT_PTR(RM_KEY("delay_us", "Between the orbit and what is sent of it.", .unit = "µs", .fallback = "0",
                                 RM_RANGE(0, 1e6)),
                          MAYBE, struct rm_ring_file_machine_filter, delay_us),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("bandwidth_hz", "A first order; 0: none.", .unit = "Hz", .fallback = "0", RM_RANGE(0, 1e9)), MAYBE,
        struct rm_ring_file_machine_filter, bandwidth_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const motion_fields[] = {
    CYAML_FIELD_FLOAT_PTR(RM_KEY("momentum_aperture", "A beam that is off by more of its momentum is lost.",
                                 .fallback = "0.04", RM_RANGE(1e-4, 1)),
                          MAYBE, struct rm_ring_file_machine_motion, momentum_aperture),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("rf_fill_us", "In which the field of the cavities follows what drives it.",
                                 .unit = "µs", .fallback = "15", RM_RANGE(0, 1e6)),
                          MAYBE, struct rm_ring_file_machine_motion, rf_fill_us),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("saturation_um", "Amplitude at mean β at which coherent growth stops.", .unit = "µm",
                                 .fallback = "1000", RM_RANGE(1, 1e5)),
                          MAYBE, struct rm_ring_file_machine_motion, saturation_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("excitation_um", "Amplitude at mean β at which a kicker keeps both tunes; 0: none.",
                                 .unit = "µm", .fallback = "0", RM_RANGE(0, 1000)),
                          MAYBE, struct rm_ring_file_machine_motion, excitation_um),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const correctors_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("elements", "Elements of the lattice, by a pattern of their names.", .example = "\"CS_S0[1-4]_01\""),
        TEXT, struct rm_ring_file_correctors, elements, 1, PATTERN_LONGEST),
    CYAML_FIELD_ENUM(RM_KEY("plane", "Which way they kick.", .example = "x"), WORD, struct rm_ring_file_correctors,
                     plane, planes, CYAML_ARRAY_LEN(planes)),
    CYAML_FIELD_STRING_PTR(RM_KEY("supplies", "Their supplies, one for each element.", .example = "\"c01/1-4\""), TEXT,
                           struct rm_ring_file_correctors, supplies, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT(
        RM_KEY("urad_per_unit", "Kick per unit of the setpoint.", .unit = "µrad", .example = "10", RM_RANGE(-1e6, 1e6)),
        PLAIN, struct rm_ring_file_correctors, urad_per_unit),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("eddy_hz", "Eddy currents of the vacuum chamber, a first order; 0: none.",
                                 .unit = "Hz", .fallback = "0", RM_RANGE(0, 1e9)),
                          MAYBE, struct rm_ring_file_correctors, eddy_hz),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("eddy2_hz", "A second pole of the chamber, for one with a thick wall; 0: none.",
                                 .unit = "Hz", .fallback = "0", RM_RANGE(0, 1e9)),
                          MAYBE, struct rm_ring_file_correctors, eddy2_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const correctors_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_correctors, correctors_fields)};

static cyaml_schema_field_t const strengths_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("elements", "Elements of the lattice, by a pattern of their names.", .example = "QF1_S01_01"), TEXT,
        struct rm_ring_file_strengths, elements, 1, PATTERN_LONGEST),
    CYAML_FIELD_ENUM_PTR(RM_KEY("change",
                                "What a supply changes: gradient or sextupole by so much of itself, a skew gradient "
                                "times length in 1/m.",
                                .fallback = "gradient"),
                         MAYBE_WORD, struct rm_ring_file_strengths, change, changes, CYAML_ARRAY_LEN(changes)),
    CYAML_FIELD_STRING_PTR(RM_KEY("supplies", "Their supplies, one for each magnet.", .example = "c02/1"), TEXT,
                           struct rm_ring_file_strengths, supplies, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT(RM_KEY("per_unit", "Change per unit of the setpoint.", .example = "0.01", RM_RANGE(-10, 10)),
                      PLAIN, struct rm_ring_file_strengths, per_unit),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const strengths_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_strengths, strengths_fields)};

static cyaml_schema_field_t const rf_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("supply", "The one that moves the frequency of the cavities.", .example = "c02/2"),
                           TEXT, struct rm_ring_file_rf, supply, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("hz_per_unit", "Frequency per unit of its setpoint.", .unit = "Hz", .fallback = "1",
                                 RM_RANGE(-1e6, 1e6)),
                          MAYBE, struct rm_ring_file_rf, hz_per_unit),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const mains_fields[] = {
    CYAML_FIELD_FLOAT(RM_KEY("hz", "Frequency of the line.", .unit = "Hz", .example = "50", RM_RANGE(0, 1e6)), PLAIN,
                      struct rm_ring_file_mains, hz),
    CYAML_FIELD_FLOAT(
        RM_KEY("orbit_um", "Peak at the BPM that sees most.", .unit = "µm", .example = "20", RM_RANGE(0, 1000)), PLAIN,
        struct rm_ring_file_mains, orbit_um),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("phase_rad", "RMS by which the line's own phase wanders, in seconds.", .unit = "rad",
                                 .fallback = "0", RM_RANGE(0, 100)),
                          MAYBE, struct rm_ring_file_mains, phase_rad),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const mains_schema = {CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_mains, mains_fields)};

static cyaml_schema_field_t const ground_fields[] = {
    CYAML_FIELD_FLOAT(RM_KEY("rms_nm", "RMS motion of each magnet.", .unit = "nm", .example = "50", RM_RANGE(0, 1e5)),
                      PLAIN, struct rm_ring_file_ground, rms_nm),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("corner_hz", "Above it the amplitude falls with 1/f².", .unit = "Hz", .fallback = "10",
                                 RM_RANGE(1e-3, 1000)),
                          MAYBE, struct rm_ring_file_ground, corner_hz),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const steps_fields[] = {
    CYAML_FIELD_FLOAT(RM_KEY("urad", "Kick of the dipole.", .unit = "µrad", .example = "1", RM_RANGE(0, 100)), PLAIN,
                      struct rm_ring_file_steps, urad),
    CYAML_FIELD_FLOAT(RM_KEY("every_s", "From one step to the next.", .unit = "s", .example = "5", RM_RANGE(1e-3, 1e6)),
                      PLAIN, struct rm_ring_file_steps, every_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const insertion_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("at", "The element next to which it kicks.", .example = "CS_S01_01"), TEXT,
                           struct rm_ring_file_insertion, at, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT(RM_KEY("urad", "Its kick.", .unit = "µrad", .example = "5", RM_RANGE(-100, 100)), PLAIN,
                      struct rm_ring_file_insertion, urad),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("ramp_s", "How long it takes to get there; `every_s` at most.", .unit = "s",
                                 .fallback = "2", RM_RANGE(0, 1e6)),
                          MAYBE, struct rm_ring_file_insertion, ramp_s),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("every_s", "From one ramp to the next.", .unit = "s", .fallback = "20", RM_RANGE(1e-3, 1e6)), MAYBE,
        struct rm_ring_file_insertion, every_s),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const topup_fields[] = {
    CYAML_FIELD_FLOAT(RM_KEY("urad", "Kick at an injection.", .unit = "µrad", .example = "10", RM_RANGE(-1000, 1000)),
                      PLAIN, struct rm_ring_file_topup, urad),
    CYAML_FIELD_FLOAT(
        RM_KEY("every_s", "From one injection to the next.", .unit = "s", .example = "60", RM_RANGE(1e-3, 1e6)), PLAIN,
        struct rm_ring_file_topup, every_s),
    CYAML_FIELD_UINT_PTR(RM_KEY("turns", "How long the kick lasts.", .unit = "turns", .fallback = "2000"), MAYBE,
                         struct rm_ring_file_topup, turns),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const disturbances_fields[] = {
    CYAML_FIELD_SEQUENCE(RM_KEY("mains", "Lines of the mains, in all quadrupoles.", .otherwise = "none"), MAYBE,
                         struct rm_ring_file_disturbances, mains, &mains_schema, 0, RM_MACHINE_MAINS_MAX),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("mains_wander", "By this share the frequency of all lines wanders.",
                                 .fallback = "0.001", RM_RANGE(0, 0.1)),
                          MAYBE, struct rm_ring_file_disturbances, mains_wander),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("ground", "Each magnet moves by itself.", .otherwise = "none"), MAYBE,
                            struct rm_ring_file_disturbances, ground, ground_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("steps", "A dipole changes its kick at times.", .otherwise = "none"), MAYBE,
                            struct rm_ring_file_disturbances, steps, steps_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("insertion", "An insertion device, there and back.", .otherwise = "none"), MAYBE,
                            struct rm_ring_file_disturbances, insertion, insertion_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("topup", "Injections.", .otherwise = "none"), MAYBE,
                            struct rm_ring_file_disturbances, topup, topup_fields),
    CYAML_FIELD_END,
};

static cyaml_schema_field_t const aperture_fields[] = {
    CYAML_FIELD_STRING_PTR(
        RM_KEY("elements", "Elements of the lattice, by a pattern of their names.", .example = "\"CS_S0[1-4]_01\""),
        TEXT, struct rm_ring_file_aperture, elements, 1, PATTERN_LONGEST),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("x_mm", "Half width of the chamber there.", .unit = "mm", .otherwise = "the chamber's",
                                 .example = "8", RM_RANGE(0.01, 1000)),
                          MAYBE, struct rm_ring_file_aperture, x_mm),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("y_mm", "Half height of the chamber there.", .unit = "mm",
                                 .otherwise = "the chamber's", .example = "3", RM_RANGE(0.01, 1000)),
                          MAYBE, struct rm_ring_file_aperture, y_mm),
    CYAML_FIELD_END,
};

static cyaml_schema_value_t const aperture_schema = {
    CYAML_VALUE_MAPPING(PLAIN, struct rm_ring_file_aperture, aperture_fields)};

static cyaml_schema_field_t const chamber_fields[] = {
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("x_mm", "Half width of the vacuum chamber.", .unit = "mm", .fallback = "13.5", RM_RANGE(0.01, 1000)),
        MAYBE, struct rm_ring_file_chamber, x_mm),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("y_mm", "Half height of the vacuum chamber.", .unit = "mm", .fallback = "13.5", RM_RANGE(0.01, 1000)),
        MAYBE, struct rm_ring_file_chamber, y_mm),
    CYAML_FIELD_SEQUENCE(RM_KEY("apertures", "Where it is narrower.", .otherwise = "as the lattice has them"), MAYBE,
                         struct rm_ring_file_chamber, apertures, &aperture_schema, 0, RM_MACHINE_APERTURES_MAX),
    CYAML_FIELD_END,
};

cyaml_schema_field_t const rm_ring_machine_fields[] = {
    CYAML_FIELD_STRING_PTR(RM_KEY("lattice", "A lattice that we ship, or a file.", .example = "elettra2_like"), TEXT,
                           struct rm_ring_file_machine, lattice, 1, PATH_LONGEST),
    CYAML_FIELD_UINT_PTR(
        RM_KEY("seed", "Of its errors and disturbances.", .otherwise = "the ring's seed", .example = "1"), MAYBE,
        struct rm_ring_file_machine, seed),
    CYAML_FIELD_STRING_PTR(RM_KEY("bpms", "Its BPMs, by patterns of their names.", .fallback = "BPM*"), MAYBE,
                           struct rm_ring_file_machine, bpms, 1, PATTERN_LONGEST),
    CYAML_FIELD_UINT_PTR(RM_KEY("step_turns", "From one step of the orbit to the next.", .unit = "turns",
                                .fallback = "120", RM_RANGE(1, 1000000)),
                         MAYBE, struct rm_ring_file_machine, step_turns),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("refresh_ms", "From one look at the nonlinear orbit to the next.", .unit = "ms",
                                 .fallback = "200", RM_RANGE(1, 1e6)),
                          MAYBE, struct rm_ring_file_machine, refresh_ms),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("blend_ms", "In which what a look changes is blended in.", .unit = "ms",
                                 .fallback = "20", RM_RANGE(0, 1e5)),
                          MAYBE, struct rm_ring_file_machine, blend_ms),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("chamber", "At what the beam is lost.", .fallback = "{}"), MAYBE,
                            struct rm_ring_file_machine, chamber, chamber_fields),
    CYAML_FIELD_FLOAT_PTR(
        RM_KEY("current_ma", "Stored beam at the start.", .unit = "mA", .fallback = "400", RM_RANGE(1e-3, 1e4)), MAYBE,
        struct rm_ring_file_machine, current_ma),
    CYAML_FIELD_FLOAT_PTR(RM_KEY("lifetime_h", "In which it falls to 1/e; 0: it does not.", .unit = "h",
                                 .fallback = "10", RM_RANGE(0, 1e6)),
                          MAYBE, struct rm_ring_file_machine, lifetime_h),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("filter", "What the electronics of BPMs do.", .fallback = "{}"), MAYBE,
                            struct rm_ring_file_machine, filter, filter_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("motion", "How the beam moves about its orbit.", .fallback = "{}"), MAYBE,
                            struct rm_ring_file_machine, motion, motion_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("errors", "What is not as designed, drawn from the seed.", .fallback = "{}"), MAYBE,
                            struct rm_ring_file_machine, errors, errors_fields),
    CYAML_FIELD_SEQUENCE(RM_KEY("correctors", "Groups of correctors.", .otherwise = "none"), MAYBE,
                         struct rm_ring_file_machine, correctors, &correctors_schema, 0, RM_MACHINE_GROUPS_MAX),
    CYAML_FIELD_SEQUENCE(RM_KEY("strengths", "Groups of magnets whose fields have supplies.", .otherwise = "none"),
                         MAYBE, struct rm_ring_file_machine, strengths, &strengths_schema, 0, RM_MACHINE_GROUPS_MAX),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("rf", "The frequency of the cavities has a supply.", .otherwise = "none"), MAYBE,
                            struct rm_ring_file_machine, rf, rf_fields),
    CYAML_FIELD_MAPPING_PTR(RM_KEY("disturbances", "What moves by itself.", .otherwise = "none"), MAYBE,
                            struct rm_ring_file_machine, disturbances, disturbances_fields),
    CYAML_FIELD_END,
};
