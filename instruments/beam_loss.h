// SPDX-License-Identifier: Apache-2.0
/** How a stored beam is lost at apertures: by its orbit, its oscillation, its energy, and slowly by its lifetime.
 *
 * A bunch is a Gaussian of emittances ε and energy spread σ_δ about a centroid that oscillates. At aperture i, in plane
 * u, a particle at the head of its oscillation is at
 *
 *     |u_co + D δ| + √(β_u) A_u + ξ,      ξ normal, of RMS σ = √(ε_u β_u + (D σ_δ)²)
 *
 * where u_co is the closed orbit, A_u (√m) the amplitude of the centroid and δ its relative momentum. The amplitude of a
 * particle whose centroid's is A is Rice distributed, and for A ≫ √ε a normal number about A (S. O. Rice, Bell System
 * Technical Journal 24 (1945) 46, 3.10); for a beam at rest its tail is that of H. Wiedemann, Particle Accelerator
 * Physics, 8.1.4 (quantum lifetime), within a factor. So the share of the bunch that is beyond the half aperture a is
 *
 *     F = ½ erfc(z / √2),     z = (a − |u_co + D δ| − √(β_u) A_u) / σ
 *
 * with the least z of all apertures and planes, which is where it is lost; against the momentum aperture,
 * z = (δ_max − |δ|) / σ_δ. Of what is beyond, a turn takes the share of betatron phases at which it touches the wall,
 * arccos(g / (√β A + σ)) / π with the gap g = a − |u_co + D δ|, but a twentieth at least. What was cut away grows again
 * with the damping time, so a beam that stands at a wall has a short lifetime.
 *
 * A turn at which nothing is near costs three comparisons, with the smallest acceptance. Optics at the apertures are
 * those of the lattice as it was made. One thread.
 */
#ifndef RM_INSTRUMENTS_BEAM_LOSS_H
#define RM_INSTRUMENTS_BEAM_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

/** One place of the chamber. */
struct rm_loss_aperture {
    /** From the start of the lattice. */
    double s_m;
    /** [plane] half width, and its centre. */
    double half_m[2], centre_m[2];
    double beta_m[2];
    double dispersion_m[2];
};

struct rm_beam_loss_config {
    /** The beam at the start, and when it is filled. */
    double current_ma;
    /** In which the current falls to 1/e; 0: it does not. */
    double lifetime_turns;
    /** [plane] emittance of a bunch, m rad. */
    double emittance_m[2];
    double energy_spread;
    /** |δ| beyond which particles are lost; 0: at no δ. */
    double momentum_aperture;
    /** In which what was cut away grows again. */
    double damping_turns;
};

/** All that changes; a copy is a checkpoint. */
struct rm_beam_loss_state {
    double current_ma;
    /** Share of a whole bunch that is cut away and has not grown again. */
    double cut;
    /** Injected charge on its way to a wall, and to which aperture. */
    double stray_ma;
    uint32_t stray_place;
    /** Share of the beam that was lost at once since it was filled. */
    double lost_share;
    /** The turn at which that exceeded RM_LOSS_TRIPS_AT; RM_TURN_NONE: it has not. */
    rm_turn lost_turn;
    /** Until this turn nothing is looked at anew, as long as A² and δ² do not grow beyond these. */
    rm_turn quiet_until;
    double seen[3];

    /* what the last turn has lost */
    /** … of the beam, at aperture `place`; and of injected charge, at `stray_place`. */
    double lost_ma, stray_lost_ma;
    uint32_t place;
};

/** The share of a beam whose loss is an event, and trips interlocks. */
static double const RM_LOSS_TRIPS_AT = 0.01;

struct rm_beam_loss {
    struct rm_beam_loss_config config;
    struct rm_loss_aperture *aperture;
    uint32_t count;
    /** [aperture] what follows of it in each plane: the closed orbit, √β and σ of a bunch. */
    struct rm_loss_wall {
        double orbit_m[2];
        double root[2], size_m[2];
    } * wall;
    /** [plane] A² below which nothing is near, while |δ| is below limit_delta. */
    double limit[2];
    double limit_delta;
    struct rm_beam_loss_state state;
};

/** Makes the beam, of all its current, on an orbit of 0. `aperture` is copied. RM_E_NO_SPACE; RM_E_CONFIG: there is no
 * aperture. */
enum rm_code rm_beam_loss_make(struct rm_beam_loss_config const *config, struct rm_loss_aperture const *aperture,
                               uint32_t count, struct rm_beam_loss *loss, struct rm_error *error);
void rm_beam_loss_free(struct rm_beam_loss *loss);

/** The closed orbit at the apertures, `turns` after the last time. Lifetime and damping act in this time, too. */
void rm_beam_loss_set_orbit(struct rm_beam_loss *loss, float const *x_m, float const *y_m, uint64_t turns);

/** The general path of rm_beam_loss_turn. */
void rm_beam_loss_look(struct rm_beam_loss *loss, rm_turn turn, double const amplitude2_m[2], double delta);

/** A turn: A² of both planes (m, |a|² of oscillation.h) and δ. What it has lost is in the state. */
static inline void rm_beam_loss_turn(struct rm_beam_loss *loss, rm_turn turn, double const amplitude2_m[2],
                                     double delta) {
    bool const near = amplitude2_m[0] > loss->limit[0] || amplitude2_m[1] > loss->limit[1] ||
                      delta > loss->limit_delta || -delta > loss->limit_delta;
    if (near || loss->state.lost_ma + loss->state.stray_ma + loss->state.stray_lost_ma != 0)
        rm_beam_loss_look(loss, turn, amplitude2_m, delta);
}

/** Adds charge that oscillates with amplitude A (√m); what is beyond an aperture, or all where the kicker misfires, is
 * lost in the next turns. Returns what is captured. */
double rm_beam_loss_inject(struct rm_beam_loss *loss, double ma, double const amplitude_m[2], bool misfires);

/** There is a beam of this current again, or none; it was not lost by itself. */
void rm_beam_loss_fill(struct rm_beam_loss *loss, double ma);

/** All of it is lost at this turn, where the dispersion is largest against the aperture. */
void rm_beam_loss_all(struct rm_beam_loss *loss, rm_turn turn);

#endif
