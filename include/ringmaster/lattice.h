// SPDX-License-Identifier: Apache-2.0
/** A lattice: the elements of a ring, one after the other, as they were designed.
 *
 * The names are the Accelerator Toolbox's, in this project's spelling: what is `PolynomB` there is `polynom_b` here,
 * and element i of a lattice is element i of the file. A lattice is immutable from the moment it is made: any number of
 * threads and twins (twin.h) may share it. What differs from the design, strengths, errors, a beam, belongs to a twin.
 *
 *     struct rm_lattice *lattice;
 *     struct rm_error error;
 *     if (rm_lattice_read("elettra2.mat", NULL, &lattice, &error) != RM_OK) …
 *     for (uint32_t i = 0; i < rm_lattice_count(lattice); ++i)
 *         puts(rm_lattice_element(lattice, i)->name);
 *     rm_lattice_free(lattice);
 *
 * ## Coordinates
 * Of a particle, in this order: x (m), px, y (m), py, δ, ct (m). px and py are transverse momenta over the reference
 * momentum, δ the relative deviation of the momentum, ct the path length by which the particle lags behind the
 * reference particle (positive: late). The reference particle moves at the speed of light unless noted.
 *
 * ## Fields
 * The field of a magnet of curvature h is expanded about the reference orbit, normalised to Bρ:
 *     (By + i Bx) / Bρ = Σ (b_n + i a_n) (x + i y)^n,   n = 0 … max_order
 * in m^-(n+1): b_1 is a quadrupole's K, b_2 half of a sextupole's second derivative. Positive `bending_angle` bends
 * towards negative x. `kick_angle` adds to the dipole part of a magnet that has one.
 */
#ifndef RINGMASTER_LATTICE_H
#define RINGMASTER_LATTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

enum {
    /** Bytes of an element's name, with the terminating zero. */
    RM_ELEMENT_NAME_BYTES = 64,
    /** Most coefficients of a field: max_order is at most 31. */
    RM_POLYNOM_ORDERS = 32,
    /** Coordinates of a particle: see above. */
    RM_COORDINATES = 6,
};

/** What an element is to people: its class in the Accelerator Toolbox. How it is tracked is its pass. */
enum rm_element_kind {
    RM_ELEMENT_MARKER,
    /** A beam position monitor. */
    RM_ELEMENT_MONITOR,

    RM_ELEMENT_DRIFT,
    RM_ELEMENT_DIPOLE,
    RM_ELEMENT_QUADRUPOLE,
    RM_ELEMENT_SEXTUPOLE,
    RM_ELEMENT_OCTUPOLE,
    RM_ELEMENT_MULTIPOLE,
    RM_ELEMENT_THIN_MULTIPOLE,
    RM_ELEMENT_CORRECTOR,
    RM_ELEMENT_CAVITY,
    RM_ELEMENT_MATRIX,
    RM_ELEMENT_APERTURE,
    RM_ELEMENT_SOLENOID,
    RM_ELEMENT_WIGGLER,
    /** Number of kinds. For rm_lattice_find: any kind. */
    RM_ELEMENT_KINDS
};

/** How a particle gets through it: the pass methods of the Accelerator Toolbox, less their radiation variants. */
enum rm_pass {
    RM_PASS_IDENTITY,
    RM_PASS_DRIFT,
    RM_PASS_EXACT_DRIFT,
    /** StrMPoleSymplectic4Pass, …RadPass, …QuantPass. */
    RM_PASS_STR_MPOLE,
    /** BndMPoleSymplectic4Pass, …RadPass, …QuantPass. */
    RM_PASS_BND_MPOLE,
    /** BndMPoleSymplectic4E2Pass, …RadPass. */
    RM_PASS_BND_MPOLE_E2,
    /** BndStrMPoleSymplectic4Pass */
    RM_PASS_BND_STR_MPOLE,

    RM_PASS_QUAD_LINEAR,
    RM_PASS_BEND_LINEAR,
    RM_PASS_CORRECTOR,
    RM_PASS_THIN_MPOLE,
    RM_PASS_RF_CAVITY,
    RM_PASS_MATRIX66,
    RM_PASS_APERTURE,
    RM_PASS_SOLENOID_LINEAR,
    /** GWigSymplecticPass, …RadPass. */
    RM_PASS_GWIG,
    /** Number of passes. */
    RM_PASSES
};

/** What synchrotron radiation does in an element. Only passes with a radiation variant in AT take another than NONE. */
enum rm_radiation {
    RM_RADIATION_NONE,
    /** The mean energy loss: the RadPass of a method. */
    RM_RADIATION_CLASSICAL,
    /** The mean energy loss and its quantum fluctuation: the QuantPass. The random numbers are the twin's own. */
    RM_RADIATION_QUANTUM,
};

/** One harmonic of a wiggler's field: the six numbers of a column of AT's By or Bx. The amplitude is relative to
 * `peak_field_t`; kx, ky and kz are in units of 2π/λ. */
struct rm_wiggler_harmonic {
    double number;
    double amplitude;
    double kx, ky, kz;
    double phase_rad;
};

/** What the wiggler pass needs beside the length. */
struct rm_wiggler {
    /** Period λ of the field. */
    double period_m;
    /** Peak field: AT's Bmax. */
    double peak_field_t;
    /** Steps of the integrator per period. */
    uint32_t steps_per_period;
    /** Order of the integrator: 2 or 4. */
    uint32_t method;
    /** Harmonics of the vertical and of the horizontal field. */
    uint32_t by_count, bx_count;

    struct rm_wiggler_harmonic const *by, *bx;
};

/** An element. Pointers may be NULL where so said; what they point to belongs to the lattice or the twin. */
struct rm_element {
    /** Name of the element or of its family: AT's FamName. */
    char name[RM_ELEMENT_NAME_BYTES];

    enum rm_element_kind kind;
    enum rm_pass pass;
    enum rm_radiation radiation;
    /** Harmonic number of a cavity: AT's HarmNumber. */
    uint32_t harmonic_number;

    double length_m;
    /** Steps of the integrator: AT's NumIntSteps. At least 1 where the pass integrates. */
    uint32_t steps;
    /** Highest order of the polynoms: AT's MaxOrder. */
    uint32_t max_order;
    /** max_order + 1 skew components a_n, in m^-(n+1). NULL where the pass has no field. */
    double *polynom_a;
    /** max_order + 1 normal components b_n, in m^-(n+1). NULL where the pass has no field. */
    double *polynom_b;
    /** Kick, horizontal and vertical: AT's KickAngle. */
    double kick_angle_rad[2];

    /** Angle of the whole dipole: AT's BendingAngle. */
    double bending_angle_rad;
    /** Angles of the pole faces: AT's EntranceAngle and ExitAngle. */
    double entrance_angle_rad, exit_angle_rad;
    /** Full gap of a dipole, for its fringe field: AT's FullGap. */
    double full_gap_m;
    /** Fringe field integrals of a dipole at entrance and exit: AT's FringeInt1 and FringeInt2. */
    double fringe_int[2];
    /** Fringe field of a dipole at entrance and exit: 0 none, 1 legacy (the default), 2 SOLEIL, 3 ThomX. AT's
     * FringeBendEntrance and FringeBendExit. */
    uint32_t fringe_bend[2];
    /** Fringe field of a quadrupole at entrance and exit: 0 none, 1 Lee-Whiting, 2 with `fringe_integrals`. AT's
     * FringeQuadEntrance and FringeQuadExit. */
    uint32_t fringe_quad[2];
    /** Ten numbers, or NULL: AT's fringeIntM0 (5) and fringeIntP0 (5). */
    double *fringe_integrals;
    /** Curvature of the pole faces at entrance and exit, 1/m: AT's H1 and H2. For the E2 pass. */
    double curvature_1, curvature_2;

    /** Reference orbit of the BndStrMPole pass: AT's X0ref and RefDZ. */
    double reference_x_m, reference_ct_m;

    /** Voltage and frequency of a cavity. */
    double voltage_v, frequency_hz;
    /** Lag of a cavity, as a path: AT's TimeLag. */
    double time_lag_m;
    /** Lag of a cavity, as a phase: AT's PhaseLag. */
    double phase_lag_rad;

    /** K of the solenoid pass: Bz/Bρ, 1/m. */
    double solenoid_strength;

    /** Six numbers each, or NULL: added to the coordinates at entrance and exit. */
    double *t1, *t2;
    /** 36 numbers each, or NULL: matrices at entrance and exit, row by row. */
    double *r1, *r2;
    /** xmin, xmax, ymin, ymax (m), or NULL. */
    double *rectangle_aperture;
    /** Half axes x and y (m), or NULL. */
    double *elliptic_aperture;
    /** 36 numbers, row by row: M66 of the matrix pass. Else NULL. */
    double *matrix;
    /** The field of the wiggler pass. Else NULL. */
    struct rm_wiggler *wiggler;
};

/** What a lattice says of the whole ring. */
struct rm_lattice_facts {
    char name[RM_ELEMENT_NAME_BYTES];
    /** Name of the particle, as AT has it: "relativistic", "electron", … */
    char particle[RM_ELEMENT_NAME_BYTES];
    /** Rest energy. 0: the particle moves at the speed of light. */
    double rest_energy_ev;
    /** Charge in units of e: -1 for electrons. */
    double charge_e;
    /** Total energy of the reference particle. */
    double energy_ev;
    /** How many times these elements follow each other in the ring. */
    uint32_t periodicity;
    /** Harmonic number of the whole ring. 0 without a cavity. */
    uint32_t harmonic_number;
};

/** A lattice. Immutable: any number of threads may use it. */
struct rm_lattice;

/** What a file leaves open to the reader. */
struct rm_lattice_source {
    /** .mat: name of the variable that holds the lattice. NULL: the only one that can be a lattice, or RING. */
    char const *variable;
    /** .madx: name of the sequence to USE. NULL: the one that the file uses. */
    char const *sequence;
};

/** Reads a lattice from a file: `.mat` (MATLAB v5 to v7), `.m` (as pyAT and MATLAB's atwritem write it), `.madx`,
 * `.seq` or `.lat` (MAD-X). `source` may be NULL. Elements are completed as pyAT completes them: class, pass and
 * polynoms that a file leaves out. What a file calls (MAD-X's CALL) is looked for beside it.
 *
 * RM_E_NOT_FOUND: there is no such file. RM_E_CONFIG: it is no lattice, or it has something that would act on the beam
 * and is not tracked (a pass, FieldScaling). The text has the line or the element at fault, what was expected there,
 * and what to do. */
enum rm_code rm_lattice_read(char const *path, struct rm_lattice_source const *source, struct rm_lattice **lattice,
                             struct rm_error *error);

/** The same of a file's content, which may lie in memory alone. The ending of `path` gives the format, and errors begin
 * with it; no file is read, except by a MAD-X CALL. */
enum rm_code rm_lattice_parse(char const *path, char const *bytes, size_t count, struct rm_lattice_source const *source,
                              struct rm_lattice **lattice, struct rm_error *error);

/** Writes `.mat` (v5), which pyAT and MATLAB read back to the same elements. */
enum rm_code rm_lattice_write_mat(struct rm_lattice const *lattice, char const *path, struct rm_error *error);

/** Makes a lattice of `count` elements, at least one, deeply copied. Refuses what no twin could track: a pass without
 * what it needs (RM_E_CONFIG, with the element's name and index), numbers that are not finite, lengths below 0 for what
 * integrates. */
enum rm_code rm_lattice_make(struct rm_lattice_facts const *info, struct rm_element const *elements, uint32_t count,
                             struct rm_lattice **lattice, struct rm_error *error);

/** Frees a lattice that no twin uses any more. NULL is allowed. */
void rm_lattice_free(struct rm_lattice *lattice);

/** What the lattice says of the whole ring, and the number of its elements. Valid as long as the lattice. */
struct rm_lattice_facts const *rm_lattice_info(struct rm_lattice const *lattice);
uint32_t rm_lattice_count(struct rm_lattice const *lattice);

/** Element `index` < count. Valid as long as the lattice. */
struct rm_element const *rm_lattice_element(struct rm_lattice const *lattice, uint32_t index);

/** Length of the elements, which are one period of the ring; and the place s of the entrance of element `index` ≤
 * count, from the entrance of element 0. */
double rm_lattice_length_m(struct rm_lattice const *lattice);
double rm_lattice_s_m(struct rm_lattice const *lattice, uint32_t index);

/** Indices of the elements whose name matches `pattern` (`*` and `?`, NULL for all) and whose kind is `kind`
 * (RM_ELEMENT_KINDS for any), in order; writes at most `most` of them and returns how many there are. */
uint32_t rm_lattice_find(struct rm_lattice const *lattice, char const *pattern, enum rm_element_kind kind,
                         uint32_t *indices, uint32_t most);

/** The Accelerator Toolbox's name of a pass with its radiation ("StrMPoleSymplectic4RadPass"), and back. The name is
 * constant; NULL, or false, where there is no such pass. */
char const *rm_pass_name(enum rm_pass pass, enum rm_radiation radiation);
bool rm_pass_by_name(char const *name, enum rm_pass *pass, enum rm_radiation *radiation);

/** The Accelerator Toolbox's class name of a kind: "Quadrupole". Constant. */
char const *rm_element_kind_name(enum rm_element_kind kind);

#endif
