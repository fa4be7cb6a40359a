// SPDX-License-Identifier: Apache-2.0
/** What the feedback publishes and what people set: its settings, readings, streams, states and enable conditions.
 * Names, units and descriptions stand in names.c; `ringmaster feedback` and the console know them by name. */
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
    /** gain: of the whole loop, 0 to 2; at first 1. */
    FEEDBACK_GAIN,
    /** resonators: 1 on, 0 off. */
    FEEDBACK_RESONATORS,
    /** track: 1, resonators follow the mains' measured frequency. */
    FEEDBACK_TRACK,
    /** rf: 1, the RF frequency takes the dispersive part. */
    FEEDBACK_RF,
    /** unload: 1, families hand over their DC as configured. */
    FEEDBACK_UNLOAD,
    /** shadow: 1, everything is computed and published, and nothing is sent. */
    FEEDBACK_SHADOW,
    /** gate: 1, the loop rides out top-up and whatever else the gate's input reports. */
    FEEDBACK_GATE,
    /** modes: how many are kept per plane and family; 0: all. */
    FEEDBACK_MODES,
    /** tikhonov: relative to the largest singular value. */
    FEEDBACK_TIKHONOV,
    /** golden [row], nm: the wanted orbit, which is approached at `golden_speed` of the configuration. */
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

/** Parameters feedback/NAME that the feedback publishes. */
enum feedback_reading {
    /** state: enum feedback_state. */
    FEEDBACK_STATE,
    /** enable_conditions: bits of enum feedback_enable_condition that are missing now. */
    FEEDBACK_ENABLE_CONDITIONS,
    /** cause: conditions that were missing when the loop last left ON by itself; 0: it has not, or a person ended it.
     */
    FEEDBACK_CAUSE,
    /** cause_turn: the turn at which that was. */
    FEEDBACK_CAUSE_TURN,
    /** cause_number: number of the row or actuator that was the cause, or −1. */
    FEEDBACK_CAUSE_NUMBER,
    /** rms_x, µm: RMS over the rows in use, less the golden orbit. */
    FEEDBACK_RMS_X,
    /** rms_y, µm: the same. */
    FEEDBACK_RMS_Y,
    /** cumulated_x, µm: RMS over the last second's cycles of each row, averaged over rows. */
    FEEDBACK_CUMULATED_X,

    FEEDBACK_CUMULATED_Y,
    /** bpms_used: rows in use. */
    FEEDBACK_USED,
    /** bpms_substituted: rows substituted so far. */
    FEEDBACK_SUBSTITUTED,
    /** saturated: actuators at a limit now. */
    FEEDBACK_SATURATED,
    /** beam: mean of the sum lanes; NaN: not watched. */
    FEEDBACK_BEAM,
    /** mains_hz: the mains' frequency that the resonators have. */
    FEEDBACK_MAINS_HZ,
    /** generation: how often the matrix was solved. */
    FEEDBACK_GENERATION,
    /** solve_ms: how long it took. */
    FEEDBACK_SOLVE_MS,
    /** rf_offset: what the loop wants of the RF actuator, relative to where that stood. */
    FEEDBACK_RF_OFFSET,
    /** shadow_rms: RMS of its setpoints less the other system's. */
    FEEDBACK_SHADOW_RMS,
    /** latency_ns: nominal latency, from the plant model. */
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
    /** Whole cycles to wait after a cycle in which too much was missing. What keeps inputs away often does so in
     * bursts, every other cycle. A loop that answered the cycles between would have twice the delay that its law is
     * for, and would amplify. */
    FEEDBACK_STABLE_CYCLES = 8,
};

enum feedback_state { FEEDBACK_OFF, FEEDBACK_READY, FEEDBACK_ON, FEEDBACK_HOLD, FEEDBACK_FAULT };

/** What must be there for the loop to be on. OFF: a person has not switched it on, and something is missing. READY: a
 * person has not switched it on, and nothing is missing. ON: it acts. HOLD: it is switched on, and all outputs stay as
 * they were. It goes on by itself when the enable condition is back. After a short HOLD for inputs or the gate it goes
 * on as if nothing had been, else softly. FAULT: it is switched on, and has left ON for a reason that a person should
 * look at (`reset`). */
enum feedback_enable_condition {
    /** The matrix is not solved yet; HOLD. */
    FEEDBACK_NO_MATRIX = 1 << 0,
    /** `beam` is below the least, or it fell in one cycle; HOLD. */
    FEEDBACK_NO_BEAM = 1 << 1,
    /** Fewer rows in use than the least; FAULT. */
    FEEDBACK_FEW_BPMS = 1 << 2,
    /** More actuators than allowed are at a limit, for longer than allowed while ON; FAULT. */
    FEEDBACK_SATURATION = 1 << 3,
    /** At the start, the RMS orbit error is above the largest allowed; FAULT. */
    FEEDBACK_LARGE_ERROR = 1 << 4,
    /** Fewer actuators in use than the least; HOLD, and FAULT if they stay away. */
    FEEDBACK_FEW_ACTUATORS = 1 << 5,
    /** The gate's input says so; HOLD. */
    FEEDBACK_GATED = 1 << 6,
    /** Too many inputs missing in one cycle, or in one of the last few; HOLD. */
    FEEDBACK_LATE = 1 << 7,
    /** Vectors do not reach the supplies; HOLD. */
    FEEDBACK_NOT_SENT = 1 << 8,
};

/** Why a row is out, or was not used as it came. */
enum feedback_row_fault {
    FEEDBACK_ROW_MASKED = 1 << 0,
    /** It had no record for more cycles than may be substituted. */
    FEEDBACK_ROW_SILENT = 1 << 1,
    /** Its instrument's status says that it is invalid. */
    FEEDBACK_ROW_INVALID = 1 << 2,
    /** It had the very same value for too many cycles. */
    FEEDBACK_ROW_FROZEN = 1 << 3,
    /** It moved further in one cycle than the beam can, and other rows did not. */
    FEEDBACK_ROW_JUMPED = 1 << 4,
    /** It did not come in this cycle, and was substituted. */
    FEEDBACK_ROW_MISSING = 1 << 5,
};

enum feedback_actuator_fault {
    FEEDBACK_ACTUATOR_MASKED = 1 << 0,
    /** It has tripped, or its chain does not answer: where it stands is unknown. */
    FEEDBACK_ACTUATOR_LOST = 1 << 1,
    /** It was at a limit for longer than allowed: it is out of the matrix until it is back. */
    FEEDBACK_ACTUATOR_SATURATED = 1 << 2,
};

/** Streams feedback/NAME. */
enum feedback_stream {
    /** orbit: rms_x rms_y worst_x worst_y [µm], setpoint_rms_x setpoint_rms_y [unit], missing, saturated, state,
     * excitation; error and output of what is excited. */
    FEEDBACK_ORBIT,
    /** modes_x: errors of the first twelve horizontal modes of the first family, µm. */
    FEEDBACK_MODES_X,
    /** modes_y: the same of the vertical modes. */
    FEEDBACK_MODES_Y,

    FEEDBACK_STREAMS,
};

extern struct rm_setting const feedback_settings[FEEDBACK_SETTINGS];
extern struct rm_reading const feedback_readings[FEEDBACK_READINGS];
extern struct rm_application_stream const feedback_streams[FEEDBACK_STREAMS];

#endif
