// SPDX-License-Identifier: Apache-2.0
/** The digital twin: a lattice brought to life, with strengths and errors of its own.
 *
 * It answers what a physicist asks of a ring: where particles go, the closed orbit, the one-turn matrix, optics,
 * emittances, and how the orbit answers to correctors. Nothing is global and nothing is cached: each call computes from
 * the strengths as they are. Twins share their lattice and nothing else. So different twins may be used by different
 * threads at once; one twin is used by one thread at a time.
 *
 *     struct rm_twin *twin;
 *     if (rm_twin_make(lattice, &twin, &error) != RM_OK) …
 *     rm_twin_set_polynom(twin, quadrupole, RM_NORMAL, 1, 5.48, &error);
 *     struct rm_optics_summary ring;
 *     if (rm_twin_linopt6(twin, NULL, refpts, count, &ring, optics, &error) != RM_OK) …   // tunes: ring.tune[0…2]
 *     rm_twin_free(twin);
 *
 * ## Points
 * `refpts` are indices of elements, ascending, each ≤ count. A point is the entrance of its element, and `count` is the
 * end of the lattice. Arrays of results have a row for each point. Coordinates are those of lattice.h. Matrices are 6 ×
 * 6, row by row, unless another size is given. The caller owns all arrays.
 *
 * ## 4D and 6D
 * A twin is 6D when it has a cavity that is on (voltage not 0, pass RFCavityPass). Else it is 4D, and δ is a parameter.
 * rm_twin_enable_6d switches cavities and radiation on, rm_twin_disable_6d off, as AT's enable_6d and disable_6d do.
 *
 * ## Errors
 * RM_E_ARGUMENT: the call cannot take an argument (an index, a 6D question to a 4D ring). RM_E_CONFIG: the lattice has
 * no answer (it is unstable, has no closed orbit, loses all particles). The text names the element or the plane. When a
 * call returns RM_OK, all that it wrote is finite. Only the coordinates of a lost particle are NaN.
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
#include <ringmaster/simd.h>

/** A twin. */
struct rm_twin;

/** Makes a twin with the strengths of the design, and turn 0. The lattice must outlive it. */
enum rm_code rm_twin_make(struct rm_lattice const *lattice, struct rm_twin **twin, struct rm_error *error);

/** A second twin with the same strengths, errors and settings, and turn 0. */
enum rm_code rm_twin_copy(struct rm_twin const *twin, struct rm_twin **copy, struct rm_error *error);

/** NULL is allowed. */
void rm_twin_free(struct rm_twin *twin);

/** The lattice that the twin was made of. */
struct rm_lattice const *rm_twin_lattice(struct rm_twin const *twin);

/** Element `index` as this twin has it. Valid as long as the twin; a setting changes it. */
struct rm_element const *rm_twin_element(struct rm_twin const *twin, uint32_t index);

/* ---- strengths, errors, settings
 *
 * RM_E_ARGUMENT names the element when it has no such thing, or when a value is not finite. */

/** Which of the two polynoms of a magnet: polynom_a or polynom_b of struct rm_element. */
enum rm_component { RM_SKEW, RM_NORMAL };

/** Sets coefficient `order` ≤ max_order of polynom_a or polynom_b, in m^-(order+1). */
enum rm_code rm_twin_set_polynom(struct rm_twin *twin, uint32_t element, enum rm_component component, uint32_t order,
                                 double value, struct rm_error *error);

/** Sets the kick angles of a corrector, or of a magnet with a field. */
enum rm_code rm_twin_set_kick(struct rm_twin *twin, uint32_t element, double horizontal_rad, double vertical_rad,
                              struct rm_error *error);

/** Sets voltage, frequency and lag of a cavity. */
enum rm_code rm_twin_set_cavity(struct rm_twin *twin, uint32_t element, double voltage_v, double frequency_hz,
                                double time_lag_m, struct rm_error *error);

/** What rm_twin_set_strengths sets. */
enum rm_strength_kind {
    RM_STRENGTH_NORMAL,
    RM_STRENGTH_SKEW,
    RM_STRENGTH_KICK_HORIZONTAL,
    RM_STRENGTH_KICK_VERTICAL,
    RM_STRENGTH_FREQUENCY,
};

/** One strength of one element. */
struct rm_strength {
    uint32_t element;
    enum rm_strength_kind kind;
    /** Order of a polynom's coefficient. */
    uint32_t order;
    uint32_t reserved;
};

/** Sets many strengths at once: coefficients of polynoms, kicks (rad), frequencies of cavities (Hz). What is not set
 * stays. An error names the first that cannot be set; those before it are then set. */
enum rm_code rm_twin_set_strengths(struct rm_twin *twin, struct rm_strength const *strengths, double const *values,
                                   uint32_t count, struct rm_error *error);

/** Displaces an element by x, y and z, and turns it by `roll_rad` about the beam axis, positive from x towards y. The
 * rotation is about the element's centre. It replaces t1, t2, r1 and r2; four zeros remove them. Yaw and pitch cannot
 * be set. */
enum rm_code rm_twin_set_misalignment(struct rm_twin *twin, uint32_t element, double x_m, double y_m, double z_m,
                                      double roll_rad, struct rm_error *error);

/** Switches 6D on and off, as AT's enable_6d() and disable_6d() do with their defaults. On: the pass of cavities
 * becomes RFCavityPass, and dipoles, quadrupoles and wigglers radiate classically. Off: the pass of cavities becomes
 * DriftPass, or IdentityPass without length, and no magnet radiates. RM_E_CONFIG names an element that should radiate
 * and whose pass cannot; then nothing has changed. */
enum rm_code rm_twin_enable_6d(struct rm_twin *twin, struct rm_error *error);
void rm_twin_disable_6d(struct rm_twin *twin);

/** Whether a cavity is on. */
bool rm_twin_is_6d(struct rm_twin const *twin);

/** Sets what radiation does in one element. RM_E_ARGUMENT if its pass has no such variant. */
enum rm_code rm_twin_set_radiation(struct rm_twin *twin, uint32_t element, enum rm_radiation radiation,
                                   struct rm_error *error);

/** Seeds the random numbers of the quantum fluctuation. The same seed gives the same particles with any instruction
 * set. */
void rm_twin_seed(struct rm_twin *twin, uint64_t seed);

/* ---- tracking */

/** What to track, and what to keep of it. */
struct rm_tracking {
    /** Number of turns. */
    uint32_t turns;
    /** Points where coordinates are kept, each turn. May be NULL. */
    uint32_t const *refpts;

    uint32_t refpt_count;
    /** [turn][refpt][particle][6] coordinates at the points. NULL: only the end matters. */
    double *out;
    /** [particle] turn of its loss, UINT32_MAX where it was not lost. May be NULL. */
    uint32_t *lost_turn;
    /** [particle] element of its loss. May be NULL. */
    uint32_t *lost_element;
    /** [particle][6] its coordinates at the loss. May be NULL. */
    double *lost_at;

    enum rm_simd simd;
};

/** Tracks `count` particles. particles[i] is the particle at the entrance of element 0, before and after. A particle is
 * lost outside an aperture, beyond 1 m or 1 in a coordinate as in AT, or when a coordinate is not finite. From then on
 * all its coordinates are NaN. The call adds `turns` to the twin's turn counter, which cavities refer to. It returns
 * RM_OK also when all particles are lost. */
enum rm_code rm_twin_track(struct rm_twin *twin, double (*particles)[RM_COORDINATES], uint32_t count,
                           struct rm_tracking const *tracking, struct rm_error *error);

/** The twin's turn counter: turns tracked so far, or what was set. */
uint64_t rm_twin_turn(struct rm_twin const *twin);
void rm_twin_set_turn(struct rm_twin *twin, uint64_t turn);

/* ---- closed orbit and matrices */

/** Where the closed orbit is looked for. Zeros are the defaults. */
struct rm_orbit_options {
    /** 4D: δ of the orbit. */
    double dp;
    /** 6D: added to the cavities' frequency. */
    double rf_offset_hz;
    /** Six coordinates to start from. NULL: the origin, and in 6D the synchronous phase. */
    double const *guess;
    /** Most iterations. 0: 20. */
    uint32_t most_iterations;
    /** Largest coordinate of the last step. 0: 1e-12. */
    double tolerance;
};

/** The closed orbit at the entrance of element 0, and at the points (orbit[i][6], may be NULL). 4D: at fixed δ. 6D: at
 * fixed RF. */
enum rm_code rm_twin_find_orbit(struct rm_twin const *twin, struct rm_orbit_options const *options, double at_start[6],
                                uint32_t const *refpts, uint32_t refpt_count, double (*orbit)[RM_COORDINATES],
                                struct rm_error *error);

/** The one-turn matrix about an orbit, and the matrices from the start to the points: matrices[i], which may be NULL.
 * `at_start` is the orbit at the entrance of element 0; NULL: the closed orbit. The matrices are the exact first
 * derivative of the passes, not a difference of two particles. */
enum rm_code rm_twin_find_m66(struct rm_twin const *twin, struct rm_orbit_options const *options,
                              double const at_start[6], double m66[36], uint32_t const *refpts, uint32_t refpt_count,
                              double (*matrices)[36], struct rm_error *error);

/* ---- optics */

/** Linear optics at one point. Modes are sorted as AT's linopt6 does: horizontal, vertical, longitudinal (6D only). */
struct rm_optics {
    /** Place of the point, from the start of the lattice. */
    double s_m;
    /** The closed orbit. */
    double closed_orbit[6];
    /** The matrix from the start of the lattice. */
    double m[36];
    /** The normalising matrix A. In 4D its rows and columns 4 and 5 are 0. */
    double a[36];
    /** The R matrices of the modes. In 4D their rows and columns 4 and 5 are 0. */
    double r[3][36];
    /** Twiss functions of the first two modes. */
    double beta_m[2], alpha[2];
    /** Phase advance of the modes from the start, modulo 2π where points are far apart. */
    double mu_rad[3];
    /** Derivatives of x, px, y and py by δ. */
    double dispersion[4];
    /** Chromatic amplitude functions. 0 unless asked for. */
    double w[2];
    /** Derivatives of alpha and beta by δ. 0 unless asked for. */
    double dalpha[2], dbeta[2];
    /** Derivatives of the phase advance by δ. 0 unless asked for. */
    double dmu_rad[3];
    /** Second derivatives of the orbit by δ at the start. 0 unless asked for. */
    double ddispersion[4];
};

/** Linear optics of the whole ring, per mode. */
struct rm_optics_summary {
    /** Number of modes: 2 in 4D, 3 in 6D. */
    uint32_t modes;
    /** Fractional tunes. */
    double tune[3];
    /** Derivatives of the tunes by δ. 0 unless asked for. */
    double chromaticity[3];
    /** Damping times, in 6D with radiation. Infinite ones are written as 0. */
    double damping_time_s[3];
    /** Damping rates, per turn. */
    double damping_rate[3];
};

/** What is asked for. Zeros are the defaults. */
struct rm_optics_options {
    /** How the closed orbit is looked for. */
    struct rm_orbit_options orbit;
    /** Whether the chromaticity is asked for. It takes closed orbits at δ ± dp_step/2, in 6D by steps of the RF
     * frequency. */
    bool chromaticity;
    /** Whether W, the derivatives by δ and the second order dispersion are asked for, too. */
    bool w;
    /** linopt6 with `w`: derivatives of r by δ at each point. May be NULL. */
    double (*dr)[3][36];
    /** Difference of δ. 0: 3e-6. */
    double dp_step;
};

/** Linear optics by the eigenvectors of the one-turn matrix (A. Wolski, Phys. Rev. ST Accel. Beams 9, 024001). Coupled;
 * 4D or 6D, as the twin is. `options` may be NULL. */
enum rm_code rm_twin_linopt6(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics *optics, struct rm_error *error);

/** Linear optics at one point in the decomposition of D. Sagan and D. Rubin (Phys. Rev. ST Accel. Beams 2, 074001): the
 * fields of AT's linopt4. Matrices are 2 × 2 or 4 × 4, row by row. Members without a comment are as in rm_optics. */
struct rm_optics4 {
    double s_m;
    double closed_orbit[6];
    /** The 4 × 4 matrix from the start of the lattice. */
    double m[16];

    double beta_m[2], alpha[2];
    /** Phase advance from the start, modulo 2π where points are far apart. */
    double mu_rad[2];
    /** γ of the coupling. 1: no coupling. */
    double gamma;
    /** One-turn matrices A and B of the two modes, and the coupling matrix C. */
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
    /** The radiation integrals I1 … I5, in m, 1/m, 1/m², 1/m, 1/m. */
    double i[5];
    /** Energy loss per turn, U0. */
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
    /** Sum of the voltages of all cavities of the ring. */
    double voltage_v;

    double tune[2], chromaticity[2];
};

enum rm_code rm_twin_ring_parameters(struct rm_twin const *twin, struct rm_ring_parameters *parameters,
                                     struct rm_error *error);

/* ---- equilibrium beam */

/** The beam at one point, in the equilibrium of damping and quantum excitation. */
struct rm_envelope {
    /** Place of the point, from the start of the lattice. */
    double s_m;
    /** The beam matrix ⟨z zᵀ⟩. */
    double r66[36];
    /** The betatron part of the beam matrix, 4 × 4. */
    double r44[16];
    /** The matrix from the start of the lattice. */
    double m66[36];

    double closed_orbit[6];
    /** Projected emittances, m rad: √det of the 2 × 2 blocks of the betatron part. */
    double emit_xy[2];
    /** Eigen-emittances, m rad: moduli of the eigenvalues of R66 · S. */
    double emit_xyz[3];
    /** Emittances of the modes, m rad, by AT's formula, which lets the longitudinal mode leak into the others (its
     * 1109). */
    double mode_emittance[3];
};

/** The equilibrium beam of the whole ring, per mode. */
struct rm_envelope_summary {
    double tune[3];
    /** Damping rates, per turn. */
    double damping_rate[3];

    double damping_time_s[3];
    /** Eigen-emittances, m rad. */
    double mode_emittance[3];

    double mode_matrix[3][36];
    double energy_spread;
    double bunch_length_m;
    /** Energy loss per turn of the whole ring, from the energy balance without damping. */
    double energy_loss_ev;
};

/** The equilibrium beam, for a 6D twin with radiation: the diffusion along the ring, and the beam matrix that
 * reproduces itself (K. Ohmi, K. Hirata, K. Oide, Phys. Rev. E 49, 751, 1994). */
enum rm_code rm_twin_ohmi_envelope(struct rm_twin const *twin, struct rm_orbit_options const *options,
                                   uint32_t const *refpts, uint32_t refpt_count, struct rm_envelope_summary *ring,
                                   struct rm_envelope *envelope, struct rm_error *error);

/** Both of one ring, and the orbit to begin the next search at. */
struct rm_ring_state {
    struct rm_optics_summary optics;
    struct rm_envelope_summary envelope;
    /** The closed orbit at the entrance of element 0. */
    double orbit_at_start[6];
};

/** rm_twin_linopt6 and rm_twin_ohmi_envelope of one closed orbit, whose last turn serves both. The results are those
 * of the two calls. With the orbit before as `options->orbit.guess` the search takes two turns where little moved.
 * `optics` and `envelope` have `refpt_count` entries each. */
enum rm_code rm_twin_optics_and_envelope(struct rm_twin const *twin, struct rm_optics_options const *options,
                                         uint32_t const *refpts, uint32_t refpt_count, struct rm_ring_state *state,
                                         struct rm_optics *optics, struct rm_envelope *envelope,
                                         struct rm_error *error);

/* ---- response of the orbit */

/** A transverse plane. */
enum rm_plane { RM_HORIZONTAL, RM_VERTICAL };

/** A corrector of the orbit: the kick of one element in one plane. */
struct rm_steerer {
    uint32_t element;
    enum rm_plane plane;
};

/** How a response is computed. Zeros are the defaults. */
struct rm_response_options {
    /** How the closed orbit is looked for. */
    struct rm_orbit_options orbit;
    /** rm_twin_response_tracked: the kick, which is applied with both signs. 0: 1e-7. */
    double kick_rad;
    /** rm_twin_response_tracked: the step of the RF frequency. 0: 1. */
    double rf_step_hz;
};

/** The orbit response matrix at the points: matrix[plane][point][steerer], 2 · refpt_count · (steerer_count + 1)
 * numbers, in m/rad. The last column is that of the RF frequency, in m/Hz; in 4D the dispersion, in m per δ. It comes
 * from the one-turn matrix: (I − M66)⁻¹ carried around the ring. 4D or 6D, as the twin is. */
enum rm_code rm_twin_response(struct rm_twin const *twin, struct rm_response_options const *options,
                              uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                              uint32_t steerer_count, double *matrix, struct rm_error *error);

/** The same matrix from closed orbits with changed kicks: it includes what is nonlinear. */
enum rm_code rm_twin_response_tracked(struct rm_twin const *twin, struct rm_response_options const *options,
                                      uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                                      uint32_t steerer_count, double *matrix, struct rm_error *error);

/** The derivative of rm_twin_response's matrix by the polynom coefficient of order 1 of one magnet, for LOCO. RM_NORMAL
 * is the magnet's quadrupole strength, RM_SKEW the field of its tilt. It has the same shape, per m^-2. */
enum rm_code rm_twin_response_derivative(struct rm_twin const *twin, struct rm_response_options const *options,
                                         uint32_t const *refpts, uint32_t refpt_count,
                                         struct rm_steerer const *steerers, uint32_t steerer_count, uint32_t magnet,
                                         enum rm_component component, double *matrix, struct rm_error *error);

/** The derivatives of rm_twin_response's matrix by the quadrupole fields of many magnets, per m^-2, each as a product:
 * of left[magnet][plane][point][6] and right[magnet][6][steerer + 1]. They are those of
 * rm_twin_response_derivative at a closed orbit that stays where it is: what a changed field does to an orbit outside
 * of the magnet's centre, and that orbit in other magnets, is left out. left: 12 · magnet_count · refpt_count numbers;
 * right: 6 · magnet_count · (steerer_count + 1). */
enum rm_code rm_twin_response_factors(struct rm_twin const *twin, struct rm_response_options const *options,
                                      uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                                      uint32_t steerer_count, uint32_t const *magnets, uint32_t magnet_count,
                                      enum rm_component component, double *left, double *right, struct rm_error *error);

/* ---- for callers in other languages */

/** Bytes of a struct of these headers by its name ("rm_optics"). 0: there is none. A caller that does not know the
 * structs from the compiler can check that the library agrees. */
size_t rm_twin_size_of(char const *name);

#endif
