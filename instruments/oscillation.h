// SPDX-License-Identifier: Apache-2.0
/** The beam's own motion, from turn to turn: two betatron oscillations and the synchrotron oscillation of a bunch's
 * centroid about the closed orbit.
 *
 *     a_u ← a_u exp(−α_u) exp(2πi (Q_u + ξ_u δ_Q + ξ'_u δ_Q²)) + noise + kicks    u = 1, 2: the normal modes
 *     Q_u = Q_u(strengths of the turn) + Σ D_uv |a_v|²        δ_Q = δ + δ_orbit − δ_look
 *     δ   ← δ (1 − 2 α_s) + (Re V sin(φ_s + φ) + Im V cos(φ_s + φ) − U₀) / E₀ + noise
 *     φ   ← φ + 2π h α_c δ
 *
 * a_u = X_u − i P_u are normalised coordinates in √m: a particle of action J has |a_u|² = 2J. The one-turn map of a
 * mode in these coordinates is a rotation (A. Wolski, Phys. Rev. ST Accel. Beams 9, 024001), so tune, damping and
 * chromaticity are its three numbers. What a BPM sees of them is linear (motion_optics.h). The longitudinal map is that
 * of one cavity (H. Wiedemann, Particle Accelerator Physics, 9.2), nonlinear, with the radiation's damping. The noise
 * keeps each oscillation at its configured RMS σ: per turn and component σ √(1 − e^(−2α)) of a mode, σ √(4 α_s) of δ.
 *
 * δ is counted from the closed orbit, which has the δ_orbit that the RF's frequency asks for; tunes are of the orbit of a
 * look, δ_look. A change of the frequency moves the orbit and not the beam: δ changes by the opposite, and the beam
 * oscillates about the new orbit until it is damped.
 *
 * A recursion has no closed form. But it forgets: after RM_OSCILLATION_MEMORY damping times nothing is left of where it
 * began. All noise is a function of seed and turn, so rm_oscillation_enter, which begins that much earlier, finds the
 * same beam at a turn wherever a run began. To the same bits a run goes on only from a copy of struct
 * rm_oscillation_state (checkpoint).
 */
#ifndef RM_INSTRUMENTS_OSCILLATION_H
#define RM_INSTRUMENTS_OSCILLATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

enum {
    /** Damping times after which a beginning is forgotten. */
    RM_OSCILLATION_MEMORY = 20,
    /** Most periods over which means are kept. */
    RM_OSCILLATION_MEANS_MAX = 8,
};

/** The parts of the motion: what a reading is a weighted sum of. */
enum rm_oscillation_part {
    /** √m: normalised coordinates of mode 1, horizontal without coupling … */
    RM_OSCILLATION_X1,
    RM_OSCILLATION_P1,
    /** … and of mode 2. */
    RM_OSCILLATION_X2,
    RM_OSCILLATION_P2,
    /** Relative momentum, against that of the closed orbit. */
    RM_OSCILLATION_DELTA,
    /** δ². */
    RM_OSCILLATION_SQUARE,
    /** rad of the RF: by so much the bunch is later than the synchronous particle. */
    RM_OSCILLATION_PHASE,

    RM_OSCILLATION_PARTS,
};

/** What the lattice says, as of a look. */
struct rm_oscillation_optics {
    /** [mode] fractional tunes, of the closed orbit. */
    double tune[2];
    /** [mode] chromaticities: change of the tune per δ, and per δ². */
    double chromaticity[2];
    double second_chromaticity[2];
    /** [mode] damping rates of the amplitude, per turn. */
    double damping[2];
    /** [row: x px y py][X1 P1 X2 P2]: coordinates at the start of the lattice. */
    double start[4][4];
    /** x px y py per δ there. */
    double dispersion[4];
    /** δ of the closed orbit of these tunes, against that of the nominal RF frequency. */
    double orbit_delta;
};

/** The longitudinal plane. Without one (a lattice without cavities) δ stays 0. */
struct rm_oscillation_rf {
    bool present;
    /** V/E₀ of all cavities together, and U₀/E₀, per turn. */
    double voltage, loss;
    /** φ_s: a bunch that comes late gains less. */
    double synchronous_rad;
    /** 2π h α_c: phase that a turn adds, per δ. */
    double slip_rad;
    /** Damping rate of the amplitude, per turn. */
    double damping;
    /** Turns in which the cavities' field goes to 1/e of its difference to what drives it; 0: at once. */
    double fill_turns;
    /** A beam whose |δ| exceeds it is lost; 0: none is. */
    double aperture;
};

/** What it is told by a file. */
struct rm_oscillation_config {
    uint64_t seed;
    /** [mode] RMS of X and of P that noise keeps up, √m. */
    double rms[2];
    double delta_rms;
    /** [x px y py] at the start of the lattice: what a kick adds. */
    double kick[4];
    /** Kicks happen at multiples of this turn number; 0: never. */
    uint64_t kick_every_turns;
    /** [mode] amplitude at which growth has stopped, √m. */
    double saturation[2];
    /** [mode] amplitude at which a kicker keeps the mode, √m; 0: there is none. It kicks in phase with the beam, by what
     * damping takes at this amplitude, so that the beam goes on at its own tune, as a tune measurement wants it. */
    double excitation[2];
    /** [mode][of mode] change of the tune per |a|², 1/m. */
    double detuning[2][2];
};

/** All that changes from turn to turn. */
struct rm_oscillation_state {
    /** The last turn that was made. */
    rm_turn turn;
    /** [part]; all 0 where the beam is lost. */
    double part[RM_OSCILLATION_PARTS];
    /** The cavities' field over the nominal one, real and imaginary. */
    double field[2];
    bool lost;
    rm_turn lost_turn;
    /** δ of the closed orbit, against that of the nominal RF frequency. */
    double orbit_delta;
    /** [part] sums over all turns. */
    double sum[RM_OSCILLATION_PARTS];
    struct rm_oscillation_mean {
        uint64_t period;
        /** Turns until it is complete. */
        uint64_t left;
        /** [part] the sums when it began. */
        double from[RM_OSCILLATION_PARTS];
        /** [part] the last complete one. */
        double value[RM_OSCILLATION_PARTS];
    } mean[RM_OSCILLATION_MEANS_MAX];
    uint32_t mean_count;
};

struct rm_oscillation {
    struct rm_oscillation_config config;
    struct rm_oscillation_rf rf;
    struct rm_oscillation_optics optics;
    struct rm_oscillation_state state;

    /* what is set while it runs */
    /** [mode] how far the tunes are from those of the optics, for δ = 0. */
    double shift[2];
    /** [mode] growth per turn, against the damping: positive where the beam is unstable. */
    double growth[2];
    /** What drives the cavities, over the nominal field, real and imaginary. */
    double drive[2];

    /* made of these */
    /** [mode] cosine and sine of the rotation of a turn, shrunk by the damping. */
    double step[2][2];
    /** [mode] RMS of a turn's noise, √m. */
    double noise[2];
    /** [mode] kick of a turn that keeps up the excitation, √m. */
    double excite[2];

    double delta_noise;
    /** Share of the way to the drive that the field goes in a turn. */
    double fill;
    double sine, cosine; /**< of φ_s */
    uint64_t until_kick; /**< turns; of the regular ones */
    /** [x px y py] at the start of the lattice: what the next turn begins with more. */
    double next_kick[4];
};

/** Sets it up, with the beam at rest before turn 0, the nominal field, and no means. */
void rm_oscillation_make(struct rm_oscillation *oscillation, struct rm_oscillation_config const *config,
                         struct rm_oscillation_rf const *rf, struct rm_oscillation_optics const *optics);

/** Other optics, from the next turn on; X and P stay what they are. */
void rm_oscillation_set_optics(struct rm_oscillation *oscillation, struct rm_oscillation_optics const *optics);

/** Other tunes, from the next turn on. */
void rm_oscillation_set_shift(struct rm_oscillation *oscillation, double const shift[2]);

/** The tune of mode `u` on a closed orbit of that δ, without the shift. */
double rm_oscillation_orbit_tune(struct rm_oscillation const *oscillation, int u, double orbit_delta);

/** The closed orbit has another δ, from the next turn on; the beam keeps its energy. To be called between two turns. */
void rm_oscillation_move_orbit(struct rm_oscillation *oscillation, double orbit_delta);

/** Keeps means over the turns up to each multiple of `period`, as an instrument reads that averages. Returns their
 * number. At most RM_OSCILLATION_MEANS_MAX different periods; others share the last. */
uint32_t rm_oscillation_average(struct rm_oscillation *oscillation, uint64_t period);

/** Makes the beam what it is at `turn`, beginning anew long enough before. Costs some milliseconds. */
void rm_oscillation_enter(struct rm_oscillation *oscillation, rm_turn turn);

/** Makes the next turn. */
void rm_oscillation_step(struct rm_oscillation *oscillation);

/** X and P of a mode, of coordinates x px y py about the orbit at the start of the lattice. By the symplectic form: of
 * z = Σ X A_X + P A_P, X is [z, A_P] and P is [A_X, z]. */
void rm_oscillation_normalise(struct rm_oscillation_optics const *optics, double const z[4], unsigned mode,
                              double xp[2]);

/** Adds coordinates x px y py at the start of the lattice to the beam's, and δ and the phase of the RF: what an injection
 * or a kicker does. Of x and px what belongs to δ by dispersion is no oscillation. To be called between two turns. */
void rm_oscillation_displace(struct rm_oscillation *oscillation, double const at_start[4], double delta,
                             double phase_rad);

/** Adds such coordinates to the beam of the next turn, which is the first that is read with them: a kicker at the start of
 * the lattice. */
void rm_oscillation_kick_next(struct rm_oscillation *oscillation, double const at_start[4]);

/** A beam that was lost is there again, at rest. */
void rm_oscillation_refill(struct rm_oscillation *oscillation);
void rm_oscillation_lose(struct rm_oscillation *oscillation);

/** |a_u|, √m: times √β it is the amplitude of the mode at a place. */
double rm_oscillation_amplitude(struct rm_oscillation const *oscillation, unsigned mode);

#endif
