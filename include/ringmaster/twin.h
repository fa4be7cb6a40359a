// SPDX-License-Identifier: Apache-2.0
/** The digital twin: a lattice brought to life, with strengths and errors of its own.
 *
 * Everything that a physicist asks of a ring is answered here: where particles go, the closed orbit, the one-turn
 * matrix, optics, emittances, and how the orbit answers to correctors. Nothing is global and nothing is cached: each
 * call computes from the strengths as they are. Twins share their lattice and nothing else, so each may live on a
 * thread of its own; one twin is one thread's at a time.
 *
 *     struct rm_twin *twin;
 *     if (rm_twin_make(lattice, &twin, &error) != RM_OK) …
 *     rm_twin_set_polynom(twin, quadrupole, RM_NORMAL, 1, 5.48, &error);
 *     struct rm_optics_summary ring;
 *     if (rm_twin_linopt6(twin, NULL, refpts, count, &ring, optics, &error) != RM_OK) …   // tunes: ring.tune[0…2]
 *     rm_twin_free(twin);
 *
 * ## Points
 * `refpts` are indices of elements, ascending, each ≤ count: a point is the entrance of that element, and `count` the
 * end of the lattice. Arrays of results have a row for each.
 *
 * ## 4D and 6D
 * A twin is 6D when it has a cavity that is on (voltage not 0, pass RFCavityPass), else 4D: δ is then a parameter.
 * rm_twin_enable_6d switches cavities and radiation on, rm_twin_disable_6d off, as AT's enable_6d and disable_6d do.
 *
 * ## Errors
 * RM_E_ARGUMENT for what a call cannot take (an index, a 6D question to a 4D ring), RM_E_CONFIG for a lattice that has
 * no answer (unstable, no closed orbit, all particles lost); the text names the element or plane. A result is never
 * NaN: either the call says RM_OK and all that it wrote is finite, or it says why not. (Only a lost particle is NaN.)
 *
 * Formulas and their sources stand beside the code, in twin/; differences from the Accelerator Toolbox in docs/twin.md.
 */
#ifndef RINGMASTER_TWIN_H
#define RINGMASTER_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>
#include <ringmaster/lattice.h>

struct rm_twin;

enum rm_code rm_twin_make(struct rm_lattice const *lattice, struct rm_twin **twin, struct rm_error *error);

/** A second twin with the same strengths, errors and settings, and turn 0. */
enum rm_code rm_twin_copy(struct rm_twin const *twin, struct rm_twin **copy, struct rm_error *error);
void rm_twin_free(struct rm_twin *twin);

struct rm_lattice const *rm_twin_lattice(struct rm_twin const *twin);

/** Element `index` as this twin has it. */
struct rm_element const *rm_twin_element(struct rm_twin const *twin, uint32_t index);

/* ---- strengths, errors, settings: RM_E_ARGUMENT names the element when it has no such thing, or a value is not finite
 */

enum rm_component { RM_SKEW, RM_NORMAL };

/** polynom_a or polynom_b, coefficient `order` ≤ max_order, m^-(order+1). */
enum rm_code rm_twin_set_polynom(struct rm_twin *twin, uint32_t element, enum rm_component component, uint32_t order,
                                 double value, struct rm_error *error);

/** Kick angles, rad, of a corrector, or of a magnet with a field. */
enum rm_code rm_twin_set_kick(struct rm_twin *twin, uint32_t element, double horizontal_rad, double vertical_rad,
                              struct rm_error *error);

enum rm_code rm_twin_set_cavity(struct rm_twin *twin, uint32_t element, double voltage_v, double frequency_hz,
                                double time_lag_m, struct rm_error *error);

/** Displaces an element by x, y, z (m) and turns it about the beam axis by `roll_rad` (positive from x towards y),
 * about its centre; small angles of yaw and pitch are not meant. Replaces t1, t2, r1, r2. All 0: none. */
enum rm_code rm_twin_set_misalignment(struct rm_twin *twin, uint32_t element, double x_m, double y_m, double z_m,
                                      double roll_rad, struct rm_error *error);

/** As AT's enable_6d() and disable_6d() with their defaults. On: cavities (their pass becomes RFCavityPass) and the
 * classical radiation of dipoles, quadrupoles and wigglers; off: cavities (DriftPass, or IdentityPass without length)
 * and the radiation of every magnet. RM_E_CONFIG names an element of those that should radiate and whose pass cannot;
 * then nothing has changed. */
enum rm_code rm_twin_enable_6d(struct rm_twin *twin, struct rm_error *error);
void rm_twin_disable_6d(struct rm_twin *twin);
bool rm_twin_is_6d(struct rm_twin const *twin);

/** Of one element, if its pass knows of radiation. */
enum rm_code rm_twin_set_radiation(struct rm_twin *twin, uint32_t element, enum rm_radiation radiation,
                                   struct rm_error *error);

/** Of the quantum fluctuation; the same seed gives the same particles with any instruction set. */
void rm_twin_seed(struct rm_twin *twin, uint64_t seed);

/* ---- tracking */

enum rm_twin_simd { RM_TWIN_SIMD_BEST, RM_TWIN_SIMD_SCALAR, RM_TWIN_SIMD_AVX2, RM_TWIN_SIMD_AVX512 };

struct rm_tracking {
    uint32_t turns;
    /** Where to look, each turn; may be NULL. */
    uint32_t const *refpts;

    uint32_t refpt_count;
    /** [turn][refpt][particle][6], or NULL: only the end matters. */
    double *out;
    /** [particle] turn of its loss, UINT32_MAX: not lost; or NULL. */
    uint32_t *lost_turn;
    /** [particle] element of its loss; or NULL. */
    uint32_t *lost_element;
    /** [particle][6] its coordinates there; or NULL. */
    double *lost_at;

    enum rm_twin_simd simd;
};

/** Tracks `count` particles, particles[i][6] in and out. A particle is lost outside an aperture, beyond 1 m or 1 in a
 * coordinate as in AT, or when a coordinate is not finite; from then on all its coordinates are NaN. Adds `turns` to
 * the twin's turn counter, which cavities refer to. RM_OK also when all are lost. */
enum rm_code rm_twin_track(struct rm_twin *twin, double (*particles)[RM_COORDINATES], uint32_t count,
                           struct rm_tracking const *tracking, struct rm_error *error);

/** Turns tracked so far; and set. */
uint64_t rm_twin_turn(struct rm_twin const *twin);
void rm_twin_set_turn(struct rm_twin *twin, uint64_t turn);

/* ---- closed orbit and matrices */

struct rm_orbit_options {
    /** 4D: δ. */
    double dp;
    /** 6D: added to the cavities' frequency. */
    double rf_offset_hz;
    /** 6, where to start; NULL: the origin (6D: at the synchronous phase). */
    double const *guess;
    /** 0: 20 */
    uint32_t most_iterations;
    /** Of the last step, largest coordinate; 0: 1e-12 */
    double tolerance;
};

/** The closed orbit at the entrance of element 0, and at the points (orbit[i][6], may be NULL). 4D: at fixed δ. 6D: at
 * fixed RF. */
enum rm_code rm_twin_find_orbit(struct rm_twin const *twin, struct rm_orbit_options const *options, double at_start[6],
                                uint32_t const *refpts, uint32_t refpt_count, double (*orbit)[RM_COORDINATES],
                                struct rm_error *error);

/** The one-turn matrix about an orbit (NULL: the closed one), row by row, and those from the start to the points
 * (matrices[i][36], may be NULL). The exact first derivative of the passes, not a difference. */
enum rm_code rm_twin_find_m66(struct rm_twin const *twin, struct rm_orbit_options const *options,
                              double const at_start[6], double m66[36], uint32_t const *refpts, uint32_t refpt_count,
                              double (*matrices)[36], struct rm_error *error);

/* ---- optics */

/** At one point. Modes are sorted as AT's linopt6 does: horizontal, vertical, longitudinal (6D only). */
struct rm_optics {
    double s_m;
    double closed_orbit[6];
    /** From the start of the lattice. */
    double m[36];
    /** The normalising matrix A, 6 × 6; 4D: rows and columns 4 and 5 are 0. */
    double a[36];
    /** The R matrices of the modes, likewise. */
    double r[3][36];

    double beta_m[2], alpha[2];
    /** Phase advance from the start, modulo 2π where points are far apart. */
    double mu_rad[3];
    /** x, px, y, py per δ. */
    double dispersion[4];
    /** Chromatic amplitude functions; 0 unless asked for. */
    double w[2];
    /** Derivatives per δ; 0 unless asked for. */
    double dalpha[2], dbeta[2];
    /** Likewise. */
    double dmu_rad[3];
    /** Second derivative of the orbit by δ at the start; 0 unless asked for. */
    double ddispersion[4];
};

struct rm_optics_summary {
    /** 2 or 3 */
    uint32_t modes;
    /** Fractional. */
    double tune[3];
    /** 0 unless asked for. */
    double chromaticity[3];
    /** 6D with radiation; else infinite is written as 0. */
    double damping_time_s[3];
    /** Per turn. */
    double damping_rate[3];
};

struct rm_optics_options {
    struct rm_orbit_options orbit;
    /** Chromaticity, which takes orbits at δ ± dp_step/2 (6D: RF steps). */
    bool chromaticity;
    /** Also W, derivatives and second order dispersion. */
    bool w;
    /** linopt6, with `w`: derivatives of r per δ at each point; or NULL. */
    double (*dr)[3][36];
    /** 0: 3e-6 */
    double dp_step;
};

/** Linear optics by the eigenvectors of the one-turn matrix (A. Wolski, Phys. Rev. ST Accel. Beams 9, 024001), coupled,
 * 4D or 6D as the twin is. `options` may be NULL. */
enum rm_code rm_twin_linopt6(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics *optics, struct rm_error *error);

/** At one point, in the decomposition of D. Sagan and D. Rubin (Phys. Rev. ST Accel. Beams 2, 074001): the fields of
 * AT's linopt4. 2 × 2 and 4 × 4 matrices row by row. */
struct rm_optics4 {
    double s_m;
    double closed_orbit[6];
    /** From the start of the lattice. */
    double m[16];

    double beta_m[2], alpha[2];
    /** Phase advance from the start, modulo 2π where points are far apart. */
    double mu_rad[2];
    /** Of the coupling; 1: none. */
    double gamma;
    /** One-turn matrices of the modes, and the coupling. */
    double a[4], b[4], c[4];
    /** x, px, y, py per δ. */
    double dispersion[4];
    /** As in struct rm_optics, when asked for. */
    double w[2];

    double dalpha[2], dbeta[2];
    double dmu_rad[2];
    double ddispersion[4];
};

/** AT's linopt4: coupled optics of a 4D ring. */
enum rm_code rm_twin_linopt4(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics4 *optics, struct rm_error *error);

/** AT's linopt2: the same of a 4D ring as if it had no coupling; gamma is 1 and c is 0. */
enum rm_code rm_twin_linopt2(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics4 *optics, struct rm_error *error);

/** Radiation integrals and what follows from them, of the whole ring (AT's get_radiation_integrals and
 * radiation_parameters). Without voltage the synchrotron tune, phase and bunch length are 0. */
struct rm_ring_parameters {
    /** I1 … I5. */
    double i[5];
    /** Per turn, U0. */
    double energy_loss_ev;

    double momentum_compaction;
    double slip_factor;
    double emittance_x_m;
    double energy_spread;
    double bunch_length_m;
    double damping_time_s[3];
    double damping_partition[3];
    double synchrotron_tune;
    double synchronous_phase_rad;
    double revolution_frequency_hz;
    /** Of all cavities of the ring. */
    double voltage_v;

    double tune[2], chromaticity[2];
};

enum rm_code rm_twin_ring_parameters(struct rm_twin const *twin, struct rm_ring_parameters *parameters,
                                     struct rm_error *error);

/* ---- equilibrium beam */

/** At one point: the equilibrium of damping and quantum excitation. */
struct rm_envelope {
    double s_m;
    /** The beam matrix ⟨z zᵀ⟩. */
    double r66[36];
    /** Its betatron part. */
    double r44[16];
    /** From the start of the lattice. */
    double m66[36];

    double closed_orbit[6];
    /** Projected emittances, m rad: √det of the betatron part's 2 × 2 blocks. */
    double emit_xy[2];
    /** Eigen-emittances: moduli of the eigenvalues of R66 · S, m rad. */
    double emit_xyz[3];
    /** By AT's formula, which lets the longitudinal mode leak into the others (its 1109). */
    double mode_emittance[3];
};

struct rm_envelope_summary {
    double tune[3];
    /** Per turn. */
    double damping_rate[3];

    double damping_time_s[3];
    /** Eigen-emittances, m rad. */
    double mode_emittance[3];

    double mode_matrix[3][36];
    double energy_spread;
    double bunch_length_m;
    /** Per turn of the whole ring, from the damping-free energy balance. */
    double energy_loss_ev;
};

/** K. Ohmi, K. Hirata, K. Oide, Phys. Rev. E 49, 751 (1994): diffusion along the ring, and the beam matrix that
 * reproduces itself. For a 6D twin with radiation. */
enum rm_code rm_twin_ohmi_envelope(struct rm_twin const *twin, struct rm_orbit_options const *options,
                                   uint32_t const *refpts, uint32_t refpt_count, struct rm_envelope_summary *ring,
                                   struct rm_envelope *envelope, struct rm_error *error);

/* ---- response of the orbit */

enum rm_plane { RM_HORIZONTAL, RM_VERTICAL };

/** A knob of the orbit. */
struct rm_steerer {
    uint32_t element;
    enum rm_plane plane;
};

struct rm_response_options {
    struct rm_orbit_options orbit;
    /** By tracking: half the difference of ± this; 0: 1e-7 */
    double kick_rad;
    /** By tracking; 0: 1 */
    double rf_step_hz;
};

/** The orbit response matrix at the points: matrix[plane][point][steerer], 2 · refpt_count · (steerer_count + 1)
 * numbers, m/rad; the last column is the RF frequency's, m/Hz (4D: the dispersion's, m per δ). From the one-turn
 * matrix: (I − M66)⁻¹ carried around the ring; 4D or 6D as the twin is. */
enum rm_code rm_twin_response(struct rm_twin const *twin, struct rm_response_options const *options,
                              uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                              uint32_t steerer_count, double *matrix, struct rm_error *error);

/** The same by closed orbits of changed kicks: the nonlinear truth. */
enum rm_code rm_twin_response_tracked(struct rm_twin const *twin, struct rm_response_options const *options,
                                      uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                                      uint32_t steerer_count, double *matrix, struct rm_error *error);

/** The derivative of rm_twin_response's matrix with respect to polynom component `order` = 1 of one magnet
 * (RM_NORMAL: its quadrupole strength, RM_SKEW: its tilt's field), for LOCO; the same shape, per m^-2. */
enum rm_code rm_twin_response_derivative(struct rm_twin const *twin, struct rm_response_options const *options,
                                         uint32_t const *refpts, uint32_t refpt_count,
                                         struct rm_steerer const *steerers, uint32_t steerer_count, uint32_t magnet,
                                         enum rm_component component, double *matrix, struct rm_error *error);

/* ---- for callers in other languages */

/** Bytes of a struct of these headers by its name ("rm_optics"), 0 if there is none: whoever has been told of the
 * structs in another way than by the compiler can see that the library agrees. */
size_t rm_twin_size_of(char const *name);

#endif
