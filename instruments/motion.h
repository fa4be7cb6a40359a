// SPDX-License-Identifier: Apache-2.0
/** What the whole ring has in common at one turn: the beam's oscillations, the mains, the drift.
 *
 * Every quantity is a column; what an instrument reads is a weighted sum of the columns (lane_model.h). The columns are
 * functions of the turn alone: phases are 64-bit fractions of a revolution multiplied by the turn number, exact over
 * the whole range of turns, evaluated anew for every block and rotated inside it.
 */
#ifndef RM_INSTRUMENTS_MOTION_H
#define RM_INSTRUMENTS_MOTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

/** The beam as a person describes it; ranges are checked where it is read (ring_config.h). */
struct rm_beam_config {
    /** Revolutions per second; ties turns to the mains' hertz. */
    double turn_rate_hz;
    /** Betatron oscillations per turn, fractional part, 0–0.5. */
    double tune_x;
    /** The same, vertically. */
    double tune_y;
    /** Synchrotron oscillations per turn, 0–0.5. */
    double synchrotron_tune;
    /** Steadily driven amplitude at mean beta. */
    double betatron_um;
    /** Slow relative modulation of that amplitude, 0–1. */
    double betatron_modulation;
    /** Frequency of the modulation. */
    double modulation_hz;
    /** Amplitude that a kick adds; 0: no kicks. */
    double kick_um;
    /** Kicks happen at multiples of this turn number. */
    double kick_every_turns;
    /** Turns in which a kick's oscillation falls to 1/e. */
    double damping_turns;
    /** Amplitude of the energy oscillation at mean dispersion. */
    double synchrotron_um;
    /** Amplitude at 50 Hz; half of it at 100 Hz. */
    double mains_um;
    /** Amplitude of the slow drift. */
    double drift_um;
    /** Period of the drift. */
    double drift_period_s;
    /** RMS of the closed orbit. */
    double orbit_um;
    /** RMS of the white noise of a position at turn rate. */
    double noise_um;
    /** Mean of a BPM's sum signal. */
    double sum_counts;
    /** Mean counts of a loss monitor's channel per turn. */
    double loss_counts;

    uint64_t seed;
};

enum rm_motion_column {
    /** nm: horizontal betatron oscillation at mean beta, in phase … */
    RM_MOTION_X_COSINE,
    /** … and a quarter period behind. */
    RM_MOTION_X_SINE,
    /** nm: the same, vertically. */
    RM_MOTION_Y_COSINE,

    RM_MOTION_Y_SINE,
    /** Energy oscillation, of amplitude 1. */
    RM_MOTION_SYNCHROTRON_COSINE,

    RM_MOTION_SYNCHROTRON_SINE,
    /** δ² of a machine's beam, else 0. */
    RM_MOTION_DELTA_SQUARE,
    /** 50 Hz of amplitude 1 with 100 Hz of amplitude 1/2. */
    RM_MOTION_MAINS,
    /** Slow drift of amplitude 1. */
    RM_MOTION_DRIFT,
    /** 1 at a kick, falling with its oscillation's energy: what scrapes the beam. */
    RM_MOTION_KICK,
    /** Of the cavities' field, how far its size is off, relative, and its phase in rad; 0 without a machine. */
    RM_MOTION_RF_AMPLITUDE,
    RM_MOTION_RF_PHASE,

    RM_MOTION_COLUMNS,
};

/** Turns in a block: so few that rotating a phasor in double precision stays exact to far below 1 nm, so many that the
 * sines at its start cost nothing. A power of two. */
enum { RM_MOTION_BLOCK = 64 };

struct rm_motion {
    struct rm_beam_config config;
    /** The last kick that was asked for and lies before the block below, and the next one; turn RM_TURN_NONE: none. */
    struct rm_motion_kick {
        rm_turn turn;
        double nm[2];
    } last_kick, next_kick;
    /** First turn of the block below, or RM_TURN_NONE. */
    rm_turn block;
    /** Betatron and energy oscillation come from oscillation.h; here they are 0. */
    bool still;

    float column[RM_MOTION_BLOCK][RM_MOTION_COLUMNS];
};

void rm_motion_init(struct rm_motion *motion, struct rm_beam_config const *config);

/** Kicks the beam at a turn, which is the first whose readings show it: adds an oscillation of these amplitudes at mean
 * β. The rest of an earlier kick of this sort ends then. If the turn is past, later readings are as if the beam had been
 * kicked then. A second kick within the same RM_MOTION_BLOCK turns may change what is read of turns before the first. */
void rm_motion_kick_at(struct rm_motion *motion, rm_turn kick, double x_nm, double y_nm);

/** The amplitude in nm of kicks that are asked for: kick_um, or 100 µm where that is 0. */
double rm_motion_kick_nm(struct rm_beam_config const *config);

/** Columns of `turn`: RM_MOTION_COLUMNS floats, valid until the next call. Some 10 ns per turn when turns come in
 * order. */
float const *rm_motion_turn(struct rm_motion *motion, rm_turn turn);

#endif
