// SPDX-License-Identifier: Apache-2.0
/** What the feedback tells and is told: its settings, readings, streams, states, enable_conditions. Names, units and
 * descriptions stand in names.c; `ringmaster feedback` and the console know them by name. */
#ifndef FEEDBACK_NAMES_H
#define FEEDBACK_NAMES_H

#include <ringmaster/application.h>

/** Parameters feedback/NAME that people set; `loop` and `excite` are permissions. Those marked [row] have an element
 * per row of the response matrix, those marked [actuator] one per column. */
enum feedback_setting {
    /** loop: 0 off, 1 on, 2 hold. */
    FEEDBACK_LOOP,
    /** reset: another value leaves the state FAULT. */
    FEEDBACK_RESET,
    /** gain: of the whole loop, 0 to 2; 1. */
    FEEDBACK_GAIN,
    /** resonators: 1 on, 0 off. */
    FEEDBACK_RESONATORS,
    /** track: 1, resonators follow the mains' measured frequency. */
    FEEDBACK_TRACK,
    /** rf: 1, the RF frequency takes the dispersive part. */
    FEEDBACK_RF,
    /** unload: 1, families hand over their DC as configured. */
    FEEDBACK_UNLOAD,
    /** shadow: 1, everything is computed and told, nothing is sent. */
    FEEDBACK_SHADOW,
    /** gate: 1, top-up and what else the gate's input tells of is ridden out. */
    FEEDBACK_GATE,
    /** modes: so many per plane and family; 0: all. */
    FEEDBACK_MODES,
    /** tikhonov: relative to the largest singular value. */
    FEEDBACK_TIKHONOV,
    /** golden [row], nm: the wanted orbit; approached at `golden_speed` of the configuration. */
    FEEDBACK_GOLDEN,
    /** bpm_mask [row]: 1 used, 0 out. */
    FEEDBACK_BPM_MASK,
    /** actuator_mask [actuator]. */
    FEEDBACK_ACTUATOR_MASK,
    /** excite: enum feedback_excitation. */
    FEEDBACK_EXCITE,
    /** excite_at: 0 a mode's error, 1 an actuator. */
    FEEDBACK_EXCITE_AT,
    /** excite_number: of the mode (families and planes one after the other, as reading `singular`), or of the
     * actuator. */
    FEEDBACK_EXCITE_NUMBER,
    /** excite_amplitude: nm of the mode's error, or the actuator's unit. */
    FEEDBACK_EXCITE_AMPLITUDE,
    /** excite_low, Hz: the sine's frequency; of a multi-sine the lowest. */
    FEEDBACK_EXCITE_LOW,
    /** excite_high, Hz: of a multi-sine the highest. */
    FEEDBACK_EXCITE_HIGH,

    FEEDBACK_SETTINGS,
};

enum feedback_excitation {
    FEEDBACK_QUIET,
    FEEDBACK_SINE,
    /** 32 lines, evenly spaced in the logarithm, of one amplitude and Schroeder's phases. */
    FEEDBACK_MULTI_SINE,
    /** ± amplitude, of 2^15 − 1 cycles. */
    FEEDBACK_PRBS,

    FEEDBACK_CONSTANT,
};

/** Parameters feedback/NAME that it tells. */
enum feedback_reading {
    /** state: enum feedback_state. */
    FEEDBACK_STATE,
    /** enable_conditions: bits of enum feedback_enable_condition that are missing now. */
    FEEDBACK_ENABLE_CONDITIONS,
    /** cause: those that were missing when it last left ON by itself; 0: nobody has, or a person. */
    FEEDBACK_CAUSE,
    /** cause_turn */
    FEEDBACK_CAUSE_TURN,
    /** cause_number: of the row or actuator that it was, or −1. */
    FEEDBACK_CAUSE_NUMBER,
    /** rms_x, µm: of the rows in use, less golden. */
    FEEDBACK_RMS_X,
    /** rms_y */
    FEEDBACK_RMS_Y,
    /** cumulated_x, µm: RMS over the last second's cycles of each row, averaged over rows. */
    FEEDBACK_CUMULATED_X,

    FEEDBACK_CUMULATED_Y,
    /** bpms_used: rows in use. */
    FEEDBACK_USED,
    /** bpms_substituted: so far. */
    FEEDBACK_SUBSTITUTED,
    /** saturated: actuators at a limit now. */
    FEEDBACK_SATURATED,
    /** beam: mean of the sum lanes; NaN: not watched. */
    FEEDBACK_BEAM,
    /** mains_hz: as the resonators have it. */
    FEEDBACK_MAINS_HZ,
    /** generation: how often the matrix was solved. */
    FEEDBACK_GENERATION,
    /** solve_ms: how long it took. */
    FEEDBACK_SOLVE_MS,
    /** rf_offset: what it wants of the RF actuator beyond where that stood. */
    FEEDBACK_RF_OFFSET,
    /** shadow_rms: of its setpoints less the other system's. */
    FEEDBACK_SHADOW_RMS,
    /** latency_ns: nominal, of the plant model. */
    FEEDBACK_LATENCY_NS,
    /** bpm_state [row]: bits of enum feedback_row_fault. */
    FEEDBACK_ROW_STATE,
    /** actuator_state [actuator]: bits of enum feedback_actuator_fault. */
    FEEDBACK_ACTUATOR_STATE,
    /** singular [channel], nm per unit: of each mode, family after family, x before y. */
    FEEDBACK_SINGULAR,

    FEEDBACK_READINGS,
};

enum {
    /** Whole cycles before the loop goes on after one of which too much was missing. What keeps inputs away often does
     * so in bursts, every other cycle: a loop that answered those between would have twice the delay that its law is
     * for, and amplify. */
    FEEDBACK_STABLE_CYCLES = 8,
};

enum feedback_state { FEEDBACK_OFF, FEEDBACK_READY, FEEDBACK_ON, FEEDBACK_HOLD, FEEDBACK_FAULT };

/** What must be there to be on. OFF: nobody wants it on, and something is missing. READY: nobody wants it on. ON.
 * HOLD: wanted on, all outputs as they were; goes on by itself when the enable condition is back: as if nothing had
 * been where inputs, or the gate, were what it waited for, and not for long; else softly. FAULT: wanted on, and
 * left it for a reason that a person should look at (`reset`). */
enum feedback_enable_condition {
    /** The matrix is not solved yet; HOLD. */
    FEEDBACK_NO_MATRIX = 1 << 0,
    /** `beam` below the least, or it fell in one cycle; HOLD. */
    FEEDBACK_NO_BEAM = 1 << 1,
    /** Fewer rows in use than the least; FAULT. */
    FEEDBACK_FEW_BPMS = 1 << 2,
    /** More actuators at a limit, for longer while ON, than allowed; FAULT. */
    FEEDBACK_SATURATION = 1 << 3,
    /** At the start: RMS orbit error above the largest; FAULT. */
    FEEDBACK_LARGE_ERROR = 1 << 4,
    /** Fewer actuators in use than the least; HOLD, and FAULT if they stay away. */
    FEEDBACK_FEW_ACTUATORS = 1 << 5,
    /** The gate's input says so; HOLD. */
    FEEDBACK_GATED = 1 << 6,
    /** Too many inputs missing in one cycle, or in one of the last few; HOLD. */
    FEEDBACK_LATE = 1 << 7,
    /** Rows do not reach the supplies; HOLD. */
    FEEDBACK_NOT_SENT = 1 << 8,
};

/** Why a row is out, or was not used as it came. */
enum feedback_row_fault {
    FEEDBACK_ROW_MASKED = 1 << 0,
    /** No record for more cycles than may be substituted. */
    FEEDBACK_ROW_SILENT = 1 << 1,
    /** Its instrument's status says so. */
    FEEDBACK_ROW_INVALID = 1 << 2,
    /** The very same value for too many cycles. */
    FEEDBACK_ROW_FROZEN = 1 << 3,
    /** Further in one cycle than the beam goes, and others did not. */
    FEEDBACK_ROW_JUMPED = 1 << 4,
    /** Not there in this cycle: substituted. */
    FEEDBACK_ROW_MISSING = 1 << 5,
};

enum feedback_actuator_fault {
    FEEDBACK_ACTUATOR_MASKED = 1 << 0,
    /** Tripped, or its chain does not answer: nobody knows where it stands. */
    FEEDBACK_ACTUATOR_LOST = 1 << 1,
    /** At a limit for longer than allowed: out of the matrix until it is back. */
    FEEDBACK_ACTUATOR_SATURATED = 1 << 2,
};

/** Streams feedback/NAME. */
enum feedback_stream {
    /** orbit: rms_x rms_y worst_x worst_y [µm], setpoint_rms_x setpoint_rms_y [unit], missing, saturated, state,
     * excitation, error, output: of what is excited. */
    FEEDBACK_ORBIT,
    /** modes_x: errors of the first twelve horizontal modes of the first family, µm. */
    FEEDBACK_MODES_X,
    /** modes_y */
    FEEDBACK_MODES_Y,

    FEEDBACK_STREAMS,
};

extern struct rm_setting const feedback_settings[FEEDBACK_SETTINGS];
extern struct rm_reading const feedback_readings[FEEDBACK_READINGS];
extern struct rm_application_stream const feedback_streams[FEEDBACK_STREAMS];

#endif
