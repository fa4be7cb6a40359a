// SPDX-License-Identifier: Apache-2.0
/** A living machine: the closed orbit of a lattice under everything that moves it, at the BPMs of a virtual ring.
 *
 *     currents of supplies ─▶ eddy currents ─▶ kicks ─┐
 *     magnets' strengths, changed while it runs ──────┼─▶ lattice with errors ─▶ orbit ─▶ BPMs with errors ─▶ lanes
 *     mains, ground, steps, insertion devices, … ─────┘
 *
 * ## Fast and true at once
 * Between two looks of the background the orbit is linear about a closed orbit that the background found:
 *
 *     x(t) = x₀ + R (k(t) − k₀) + D d(t)
 *
 * R being the response of the lattice with its errors *as it stands now* about x₀, k the kicks, d the disturbances
 * (each with the orbit that a unit of it makes, from the same lattice). The background takes kicks and strengths as
 * they are, finds the nonlinear closed orbit and R and D about it, and hands them over; the change is blended in over
 * `blend_ms`. So the matrix is never fixed: moving a quadrupole, or a large corrector through a sextupole, changes R.
 *
 * A sextupole whose supply stands off its design adds what the square of x − x₀ makes in the field that the supply has
 * changed (machine_products.c).
 *
 * ## What a controller must not know
 * The lattice here has gradient errors (`beta_beat`), its magnets stand beside the axis and are rolled, sextupoles are
 * off and have skew windings. The BPMs have gains, rolls, offsets, crosstalk and a pin-cushion, the correctors gains
 * and rolls, and hidden kicks that steer the orbit; the supplies have delays. All is drawn from `seed`, and only
 * rm_truth_write tells.
 *
 * All is a function of the configuration, the seed, the time, and the setpoints and parameters that were set: in
 * simulated time (rm_machine_refresh called by hand) it is the same to the bit.
 */
#ifndef RM_INSTRUMENTS_MACHINE_H
#define RM_INSTRUMENTS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "beam_loss.h"
#include "motion.h"
#include "oscillation.h"
#include "ring_machine.h"

struct rm_machine;

/** Knobs: what people change while the machine runs. Indices are those of rm_machine_knob_name. "mains", "ground",
 * "steps", "insertion" and "topup" are factors of the configured disturbances: 1 as configured, 0 none. "beam" is 1; 0
 * is a lost beam. "rf_voltage" is the cavities' voltage over the configured one, "rf_phase" their phase in degrees,
 * "growth_x" and "growth_y" the growth of the two modes per turn. Then comes one knob per magnet whose strength can be changed, by its element's name: the relative
 * change of its gradient. */
uint32_t rm_machine_knobs(struct rm_machine const *machine);
char const *rm_machine_knob_name(struct rm_machine const *machine, uint32_t knob);

/** Makes the machine, finds its closed orbit and its response; it takes a second or so. `config` stays in use.
 * RM_E_CONFIG: elements that the lattice does not have, or not as many as there are BPMs and supplies; or a lattice
 * that is not stable with its errors. */
enum rm_code rm_machine_make(struct rm_ring_machine const *config, double turn_rate_hz, struct rm_machine **machine,
                             struct rm_error *error);
void rm_machine_free(struct rm_machine *machine);

double rm_machine_knob(struct rm_machine const *machine, uint32_t knob);

/** Sets a knob, from any thread. It takes effect at the next refresh (strengths) or step (factors). */
void rm_machine_set(struct rm_machine *machine, uint32_t knob, double value);

/** Makes one step of the fast part; one thread calls it. The orbit is that at `time`, in s since the beginning; time
 * never goes back. `current` are all supplies' true currents at that time, in their order. */
void rm_machine_step(struct rm_machine *machine, double time, double const *current);

/** Reading of BPM `bpm` (in rm_ring_machine's order), in nm, with its errors but without noise, of a beam at (x, y). */
void rm_machine_see(struct rm_machine const *machine, uint32_t bpm, double x_m, double y_m, double *x_nm, double *y_nm);

/** Readings of BPM `bpm` (in rm_ring_machine's order), in nm, with its errors but without noise, as of the last step. */
void rm_machine_read(struct rm_machine const *machine, uint32_t bpm, double *x_nm, double *y_nm);
/** What it reads at a turn without a beam: noise, white from turn to turn. */
void rm_machine_read_nothing(struct rm_machine const *machine, uint32_t bpm, rm_turn turn, double *x_nm, double *y_nm);
/** The beam's relative intensity. */
double rm_machine_beam(struct rm_machine const *machine);

/** Runs the background once: finds nonlinear orbit, response and disturbances' orbits, and hands them over. The thread
 * of rm_machine_start calls it; in simulated time the caller does. */
enum rm_code rm_machine_refresh(struct rm_machine *machine, struct rm_error *error);
enum rm_code rm_machine_start(struct rm_machine *machine, double period_s, struct rm_error *error);
void rm_machine_stop(struct rm_machine *machine);

/** Optics of the lattice with its errors, at a BPM, as it was made. */
struct rm_machine_bpm_optics {
    double beta_m[2];
    /** Phase from the start of the lattice. */
    double phase_rad[2];

    double dispersion_m;
};

struct rm_machine_bpm_optics rm_machine_optics(struct rm_machine const *machine, uint32_t bpm);

/* ── where the beam is lost: beam_loss.h ── */

/** A bunch in equilibrium. */
struct rm_machine_bunch {
    /** [plane], m rad. */
    double emittance_m[2];
    double energy_spread;
    double damping_turns;
};

struct rm_machine_bunch rm_machine_bunch(struct rm_machine const *machine);

/** The places at which the beam is lost; none where the file has no chamber. Valid as long as the machine. */
uint32_t rm_machine_aperture_count(struct rm_machine const *machine);
struct rm_loss_aperture const *rm_machine_aperture_list(struct rm_machine const *machine);
double rm_machine_length_m(struct rm_machine const *machine);

/** The closed orbit at them as of the last step, in m: x of all, then y. Only the stepping thread may call it. Valid
 * until the next call. */
float const *rm_machine_aperture_orbit(struct rm_machine *machine);

/** There is an injection at `time`, whose bump leaks as that of the top-up (disturbances.topup), if there is one. */
void rm_machine_inject(struct rm_machine *machine, double time);

/** True when the top-up injects between two steps, at `before` and at `time`. */
bool rm_machine_tops_up(struct rm_machine const *machine, double time, double before);

/** Makes checkpoints keep a piece of memory that belongs to the caller, and outlives the machine's use; up to 8. */
void rm_machine_keep(struct rm_machine *machine, void *at, size_t bytes);

/** Says how much of the beam is there, of the configured current; 0: it is lost. The stepping thread calls it, and is
 * told how often the knob "beam" was set. */
void rm_machine_store(struct rm_machine *machine, double share);
uint64_t rm_machine_fills(struct rm_machine const *machine);
uint32_t rm_machine_beam_knob(void);

/** State of the machine; from any thread. */
struct rm_machine_report {
    /** Fractional tunes, found at the last look. */
    double tune[2];
    /** RMS of the true orbit at the BPMs, at the last step. */
    double orbit_rms_m[2];
    /** Stored current in mA; NaN: it is not known, because no beam can be lost. */
    double current_ma;
    /** RMS of the beta beat that was drawn. */
    double beta_beat;
    /** Seconds that the last look took. */
    double refresh_s;

    uint64_t refreshes;
    /** Looks that found no closed orbit: the beam is lost until one finds it again. */
    uint64_t failures;
};

struct rm_machine_report rm_machine_says(struct rm_machine const *machine);

/** True position of the beam at a BPM, at the last step. Only the stepping thread may call it. */
void rm_machine_true_orbit(struct rm_machine const *machine, uint32_t bpm, double *x_m, double *y_m);

/* ── the beam's own motion: oscillation.h, one step for each turn ── */

/** Sets the amplitudes of the motion, and its kicks, as a ring's file says them, and finds how the tunes change with
 * amplitude; before the background is started. Before that the beam is at rest. */
enum rm_code rm_machine_excite(struct rm_machine *machine, struct rm_beam_config const *beam, struct rm_error *error);

/** The motion, which the stepping thread steps turn by turn. */
struct rm_oscillation *rm_machine_oscillation(struct rm_machine *machine);

/** Sets tunes, cavities and growth to what magnets and knobs are now, for the turns to come. `strength` are the
 * currents of the supplies that change gradients (rm_machine_strength_supply). The stepping thread calls it every
 * RM_MACHINE_STRENGTH_TURNS. */
void rm_machine_set_strengths(struct rm_machine *machine, double const *strength);

enum { RM_MACHINE_STRENGTH_TURNS = 8 };

/** Kicks the beam at the start of the lattice in the next turn, by an oscillation of these amplitudes at the mean √β of
 * the BPMs; the stepping thread calls it. */
void rm_machine_kick(struct rm_machine *machine, double x_m, double y_m);

/** Takes the voltage off the cavities between two turns, or puts it on again; the stepping thread calls it. */
void rm_machine_trip_rf(struct rm_machine *machine, bool off);

/** Number of supplies that change gradients, and the index of each among all supplies. */
uint32_t rm_machine_strengths(struct rm_machine const *machine);
uint32_t rm_machine_strength_supply(struct rm_machine const *machine, uint32_t strength);

/** What BPM `bpm` reads of the motion, with its errors: m per unit of each part, as of the look that was taken last. */
void rm_machine_bpm_weights(struct rm_machine const *machine, uint32_t bpm, double weight[2][RM_OSCILLATION_PHASE]);

/** Number of looks taken so far: when it has changed, what BPMs see has. */
uint64_t rm_machine_looks_taken(struct rm_machine const *machine);

/** Means over the BPMs: √β of both planes in √m, |D| in m. */
void rm_machine_scales(struct rm_machine const *machine, double mean_root[2], double *mean_dispersion_m);

/** For tests and reports: the true response now, nm per unit of current, at BPM readings (x of all BPMs, then y) by
 * supplies: [2 · bpms · supplies]. No program publishes it. */
void rm_machine_response(struct rm_machine const *machine, double *response);

#endif
