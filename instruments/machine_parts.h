// SPDX-License-Identifier: Apache-2.0
/** What a living machine is made of (machine.h), for its own files.
 *
 * Everything that moves the orbit is a *column*: a number that changes with time (a corrector's current behind its
 * vacuum chamber, a mains line's sine, the displacement of one quadrupole) with the kicks that a unit of it makes in
 * the lattice. The background turns each column into an orbit, by the response of the lattice to those kicks; the fast
 * part adds the orbits up. So a column has no orbit of its own that could be wrong.
 */
#ifndef RM_INSTRUMENTS_MACHINE_PARTS_H
#define RM_INSTRUMENTS_MACHINE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <ringmaster/twin.h>

#include "machine.h"
#include "machine_orbit.h"
#include "motion_optics.h"

enum {
    /** Number of dipoles whose kicks step. */
    RM_MACHINE_STEPPERS = 8,
    /** Most orbits by which a BPM's filter may delay. */
    RM_MACHINE_HISTORY = 64,
    /** Most pieces of memory that rm_machine_keep is given. */
    RM_MACHINE_KEPT_MAX = 8,
    /** Knobs before those of the magnets. */
    RM_MACHINE_KNOBS_FIRST = 10,
    /** The knob of a magnet that has none. */
    RM_MACHINE_KNOBS_NONE = 0x7FFFFFFF,
};

enum rm_machine_first_knob {
    RM_MACHINE_MAINS,
    RM_MACHINE_GROUND,
    RM_MACHINE_STEPS,
    RM_MACHINE_INSERTION,
    RM_MACHINE_TOPUP,
    RM_MACHINE_BEAM,
    RM_MACHINE_RF_VOLTAGE,
    RM_MACHINE_RF_PHASE,
    RM_MACHINE_GROWTH_X,
    RM_MACHINE_GROWTH_Y,
};

/** One term of the kicks that a unit of a column makes. A column has a run of terms. */
struct rm_machine_term {
    uint32_t steerer;
    double rad;
};

struct rm_machine_column {
    /** The column's run of terms. */
    uint32_t first, count;
};

/** A corrector's or the RF's supply as a column. */
struct rm_machine_lever {
    uint32_t supply;
    /** Group of the corrector; RM_MACHINE_GROUPS_MAX: none, it is the RF. */
    uint32_t group;
    /** Current behind the chamber, and between its two poles. */
    double filtered, between;
};

/** An element whose gradient is changed: of each quadrupole, by its knob; and by supplies. */
struct rm_machine_magnet {
    uint32_t element;
    /** That of its name; RM_MACHINE_KNOBS_NONE of a bend. */
    uint32_t knob;
    /** polynom_b[1] with its error. */
    double gradient;
    /** Of a bend, 1/m: one current makes its gradient and its angle. */
    double curvature;
};

/** A field of an element that supplies change, other than a gradient. */
struct rm_machine_winding {
    uint32_t element;
    enum rm_component component;
    /** The coefficient of the polynom, with its error, and by how much a change of 1 moves it. */
    double base, per_change;
};

/** A supply that changes the field of one magnet. */
struct rm_machine_strength {
    /** Its run of rm_machine.piece. */
    uint32_t first, count;
    uint32_t supply;
    enum rm_machine_change change;
    double per_unit;
};

/** One BPM's errors: reading = m · p(orbit) + offset. Buttons at 45° in a round chamber of radius b read, as difference
 * over sum, p(x, y) = (x − c (x³ − 3 x y²), y − c (y³ − 3 x² y)), c = 1/b², up to the fifth order: the image charge of
 * a beam at r, θ is ∝ 1 + 2 Σ (r/b)ⁿ cos n(φ − θ) at φ (R. E. Shafer, Beam position monitoring, AIP Conf. Proc. 249,
 * 601, 1992). Electronics correct it; c is what they leave. */
struct rm_machine_bpm {
    double m[4];
    double offset_m[2];
    /** c, in m⁻². */
    double pincushion_per_m2;
};

/** A whole magnet, all of whose pieces stand on one yoke, and its errors. */
struct rm_machine_yoke {
    /** Its pieces are elements of one kind in [first, end). */
    uint32_t first, end;
    double offset_m[2];
    double roll_rad;
    /** Relative error of a sextupole's strength. */
    double sextupole;
    /** Skew gradient times length. */
    double skew_per_m;
};

/** The orbit at the apertures: base + matrix · (columns − then). */
struct rm_aperture_model {
    struct rm_orbit_matrix matrix;
    float *base;
    double *then;
};

/** Where the chamber is narrow (machine_apertures.c). */
struct rm_machine_apertures {
    uint32_t count;
    struct rm_loss_aperture *at;
    /** [aperture] element, ascending. */
    uint32_t *element;
    struct rm_machine_bunch bunch;
    /** The background's: as for the BPMs, and what it made of that last, some looks ago. */
    double *response;
    double (*orbit)[RM_COORDINATES];
    struct rm_aperture_model latest;
    uint32_t looks;
    /** The stepping thread's: [padded] x of all, then y; and [fast columns] now − then. */
    float *now, *weight;
};

/** What sextupoles that stand off their design make of squares of the orbit (machine_products.c). */
struct rm_products_model {
    /** Number of blocks in use. */
    uint32_t blocks;
    /** [block][fast column][lane] the orbit at the sextupoles of a unit of each column. */
    float *place;
    /** The orbit that a square at a lane makes, m per m². */
    struct rm_orbit_matrix orbit;
};

/** The sextupoles that have supplies. */
struct rm_machine_products {
    uint32_t count;
    /** Their windings, by elements. */
    uint32_t *winding;
    /** The stepping thread's: squares at all lanes, m². */
    float *kick;
};

/** What the background found, and the fast part uses until the next one. */
struct rm_machine_model {
    struct rm_orbit_matrix fast, ground;
    /** The same of the apertures; empty where there are none. */
    struct rm_aperture_model aperture;
    /** [padded] the orbit, less the ground's part at that time. */
    float *base;
    /** [columns] the values about which the orbit is linear. */
    double *then;
    struct rm_products_model products;
    /** The beam's own motion. */
    struct rm_motion_optics motion;
};

/** The ground: the orbit of all magnets' motion at three knots of time, the last of which is being computed. */
struct rm_machine_ground {
    double knot_s;
    /** Number of knots after which nothing is left of a motion. */
    double memory;
    /** Number of the knot `from`, which is at knot · knot_s. */
    uint64_t knot;
    /** Orbits at the knots from, to and next. */
    float *orbit[3];
    /** [columns] displacements in m at the three knots. */
    float *place[3];
    /** [columns] states of the two first orders. */
    double *state[2];
    /** Pole and drive of both first orders, for an RMS of 1. */
    double pole, drive;
    /** Number of columns, and of those that are in `next` already. */
    uint32_t column, known;
};

/** All other disturbances, as functions of time. */
struct rm_machine_events {
    /** Number of the step that happened last. */
    uint64_t step;
    /** When the last injection was that an event asked for, in s; negative: never. */
    double injected_s;
    /** Sum of all steps of each dipole, rad. */
    double stepped[RM_MACHINE_STEPPERS];

    double mains_phase[RM_MACHINE_MAINS_MAX];
    double wander_phase[3];
};

/** The beam's own motion, as the fast part has it. */
struct rm_machine_motion {
    struct rm_oscillation oscillation;
    /** [mode] the tunes' shift by knobs, less all that the look had in it already. */
    double base_shift[2];
    /** Knobs as they are in `base_shift`. */
    uint64_t knob_changes;
    /** Number of models taken so far, and that of `base_shift`. */
    uint64_t models, known_models;
    /** [mode] the tunes as they were set last; by how much the last look moved them, and when. */
    double tune[2], tune_rest[2], tune_rest_since;
    /** δ of the closed orbit, as the tunes were set last. */
    double tune_delta;
    /** What there is of the beam, of the configured current; negative: nothing says so. */
    double stored;
    /** The RF has tripped. */
    bool rf_off;
    /** There is no beam, by the knob or because no closed orbit was found. */
    bool away;
    /** [mode] mean of √β over the BPMs, √m; and mean of |D|, m. */
    double mean_root[2], mean_dispersion_m;
    /** [mode][of mode] change of the tune per |a|², 1/m. */
    double detuning[2][2];
};

struct rm_machine {
    struct rm_ring_machine const *config;
    double turn_rate_hz;
    struct rm_lattice *lattice;
    /** The background has found an orbit, from which it seeks the next. */
    bool has_start;
    /** The fast part has made a step. */
    bool stepped;
    /** The background is a thread. */
    bool started;
    /** Tells the background to end. */
    atomic_bool stop;
    /** The background found no closed orbit. */
    atomic_bool lost;

    /* the background's */
    struct rm_twin *twin;
    /** Elements of the BPMs, ascending, as rm_twin_response wants points. */
    uint32_t *bpm_element;

    uint32_t bpm_count, steerer_count;
    /** [BPM of the instruments] index in bpm_element: some are read twice. */
    uint32_t *bpm_of;

    struct rm_steerer *steerer;
    /** [element] kicks of the design. */
    double (*base_kick)[2];
    /** [element] kicks. */
    double (*kick)[2];
    /** [2][bpm][steerer + 1]. */
    double *response;

    double (*orbit)[RM_COORDINATES];
    double at_start[RM_COORDINATES];
    /** [columns] values. */
    double *column_now;

    struct rm_optics_points points;
    struct rm_machine_model *build;
    struct rm_machine_model model[3];

    /* said by the background */
    _Atomic(struct rm_machine_model *) ready, spare;
    _Atomic double refresh_s, tune[2], rms_m[2];
    _Atomic uint64_t refreshes, failures;
    pthread_t thread;
    double period_s;

    /* made once */
    struct rm_machine_column *column;
    /** All columns, and those of the fast part; the ground's columns come last. */
    uint32_t column_count, fast_count;

    struct rm_machine_term *term;
    uint32_t term_count;
    /** Columns [0, lever_count) are levers. */
    struct rm_machine_lever *lever;

    uint32_t lever_count;
    /** Column of the RF, or −1. */
    int32_t rf_column;

    uint32_t mains_column, step_column, insertion_column, topup_column, ground_column;
    /** The first quadrupole_count are quadrupoles, all that there are; behind them those bends that have supplies. */
    struct rm_machine_magnet *magnet;
    uint32_t magnet_count, quadrupole_count;
    struct rm_machine_winding *winding;
    uint32_t winding_count, piece_count;
    /** Indices of magnets, or of windings: the pieces of what each strength changes. */
    uint32_t *piece;
    struct rm_machine_yoke *yoke;
    uint32_t yoke_count;
    /** The first gradient_count change gradients. */
    struct rm_machine_strength *strength;
    uint32_t strength_count, gradient_count;
    /** [gradient_count] relative changes, as the fast part set them last. */
    double *strength_now;
    struct rm_machine_bpm *bpm;
    struct rm_machine_bpm_optics *optics;
    double design_beat;
    /** The longitudinal plane, and the damping of a lattice whose matrix has none, per turn. */
    struct rm_oscillation_rf rf;
    double slow_damping[2];
    /** Hz of the cavities' frequency per δ. */
    double rf_hz_per_delta;
    char const **knob_name;
    uint32_t knob_count;
    _Atomic double *knob;

    /* set from any thread */
    _Atomic uint64_t fills;
    _Atomic double current_ma;
    struct rm_machine_apertures apertures;
    struct rm_machine_products products;
    /** What others have that a checkpoint keeps. */
    struct rm_machine_kept {
        void *at;
        size_t bytes;
    } kept[RM_MACHINE_KEPT_MAX];
    uint32_t kept_count;
    _Atomic uint64_t knob_changes;

    /* the fast part's */
    struct rm_machine_motion motion;
    double time;
    uint64_t steps;
    struct rm_machine_model *active;
    struct rm_machine_ground ground;
    struct rm_machine_events events;
    /** [columns] values. */
    double *now;
    /** [fast_count] now − then. */
    float *weight;
    /** [padded] x of all BPMs, then y. */
    float *true_orbit;
    /** [padded] what is still to be blended away … */
    float *rest;
    /** … and since when, in s. */
    double rest_since;
    /** [padded] orbit that the BPMs' filter lets through now. */
    float *late;
    /** [padded] orbit behind the BPMs' filter. */
    float *seen;

    float *history[RM_MACHINE_HISTORY];
    double history_time[RM_MACHINE_HISTORY];

    /* from the fast part to the background: a sequence lock */
    _Atomic uint64_t now_sequence;
    /** [columns] values. */
    _Atomic double *now_shared;
    /** [strength_count] changes. */
    _Atomic double *strength_shared;
};

/* machine_lattice.c: the lattice, its BPMs, steerers, magnets and columns. */
enum rm_code rm_machine_find(struct rm_machine *machine, struct rm_error *error);

/** The end of the magnet that begins with element `first`: its pieces are of one kind and touch, with nothing between
 * them but what has no length. */
uint32_t rm_machine_magnet_end(struct rm_lattice const *lattice, uint32_t first);

/** All elements that match, in an array of its own; a kind of RM_ELEMENT_KINDS is any. */
uint32_t *rm_machine_elements(struct rm_lattice const *lattice, char const *pattern, enum rm_element_kind kind,
                              uint32_t *count);

/* machine_strengths.c: supplies that change fields of magnets. */
bool rm_machine_strengths_allocate(struct rm_machine *machine);
void rm_machine_strengths_free(struct rm_machine *machine);
struct rm_machine_magnet *rm_machine_magnet_at(struct rm_machine *machine, uint32_t element);
/** Relative change of a magnet's gradient by its knob. */
double rm_machine_magnet_knob(struct rm_machine const *machine, uint32_t magnet);
/** The strengths of all groups, those of gradients first, after the quadrupoles are known. */
enum rm_code rm_machine_strengths_find(struct rm_machine *machine, struct rm_error *error);
/** The fields are now those without currents: from here on they change. */
void rm_machine_strengths_begin(struct rm_machine *machine);
/** Sets all fields of the twin as knobs and currents are. */
enum rm_code rm_machine_strengths_set(struct rm_machine *machine, struct rm_error *error);

/* machine_errors.c: errors that are never published. */
double rm_machine_draw(uint64_t key);
void rm_machine_draw_bpms(struct rm_machine *machine);
enum rm_code rm_machine_beat(struct rm_machine *machine, struct rm_error *error);
/** Keeps the optics at the BPMs, of the twin as it is. */
enum rm_code rm_machine_keep_optics(struct rm_machine *machine, struct rm_error *error);

/* machine_magnets.c */
/** Draws the errors of all magnets. False: there is no memory. */
bool rm_machine_draw_yokes(struct rm_machine *machine);
/** Puts the errors into the twin, step by step, and steers the orbit at each. */
enum rm_code rm_machine_misalign(struct rm_machine *machine, struct rm_error *error);

/* machine_chambers.c */
/** Sets the columns of levers, from the currents that the supplies have after `passed` seconds. */
void rm_machine_pass_chambers(struct rm_machine *machine, double passed, double const *current);

/* machine_steering.c */
/** Changes the hidden kicks of all correctors by what brings the orbit at the BPMs nearer to 0. */
enum rm_code rm_machine_steer(struct rm_machine *machine, struct rm_error *error);

/* machine_apertures.c */
/** Finds the apertures, after the first look. */
enum rm_code rm_machine_apertures_make(struct rm_machine *machine, struct rm_error *error);
void rm_machine_apertures_free(struct rm_machine *machine);
void rm_machine_aperture_model_free(struct rm_aperture_model *model);
/** Orbit and response at the apertures, as the lattice is now or was some looks ago, into a model. */
enum rm_code rm_machine_apertures_fill(struct rm_machine *machine, struct rm_machine_model *model,
                                       struct rm_error *error);

/* machine_products.c */
/** Finds the sextupoles, after the strengths. RM_E_NO_SPACE. */
enum rm_code rm_machine_products_make(struct rm_machine *machine, struct rm_error *error);
void rm_machine_products_free(struct rm_machine *machine);
/** False: there is no memory. */
bool rm_products_model_make(struct rm_machine const *machine, struct rm_products_model *model);
void rm_products_model_free(struct rm_products_model *model);
/** Number of floats of rm_products_model.place. */
size_t rm_products_model_places(struct rm_machine const *machine);
/** Those that stand off their design now, after a look, into a model. */
enum rm_code rm_machine_products_fill(struct rm_machine *machine, struct rm_machine_model *model,
                                      struct rm_error *error);
/** Adds their orbit, with the weights as they are. */
void rm_machine_add_products(struct rm_machine *machine, struct rm_machine_model const *model, float *orbit);

/* machine_refresh.c */
enum rm_code rm_machine_model_make(struct rm_machine *machine, struct rm_machine_model *model, struct rm_error *error);
void rm_machine_model_free(struct rm_machine_model *model);
/** The response to all steerers, and the orbit, with kicks and strengths as they are. */
enum rm_code rm_machine_look(struct rm_machine *machine, struct rm_error *error);

/** The orbit (m) at a BPM's row of a unit of a column, from the last look. */
double rm_machine_column_orbit(struct rm_machine const *machine, uint32_t column, uint32_t row);

/** The same of one row of any response to all steerers, and to the RF after them: [steerer_count + 1]. */
double rm_machine_column_of(struct rm_machine const *machine, double const *response, uint32_t column);

/* machine_motion.c */
/** Begins with the beam at rest, as the first look has it. */
void rm_machine_begin_motion(struct rm_machine *machine);
/** A model was taken: the motion goes on with its optics. */
void rm_machine_take_motion_optics(struct rm_machine *machine);
/** The RF's frequency is that of its column now: orbit and beam differ by what it has changed. */
void rm_machine_move_orbit(struct rm_machine *machine);

/* machine_detuning.c: RM_E_NO_SPACE. */
enum rm_code rm_machine_find_detuning(struct rm_machine *machine, struct rm_error *error);

/* machine_disturbances.c */
bool rm_machine_ground_make(struct rm_machine *machine);
void rm_machine_ground_free(struct rm_machine_ground *ground);
/** Scales the mains' columns to their orbits at the worst BPM. */
void rm_machine_scale_mains(struct rm_machine *machine);
/** Sets all columns of disturbances for `time`. */
void rm_machine_disturb(struct rm_machine *machine, double time);
/** Adds the ground's orbit at `time`. */
void rm_machine_move_ground(struct rm_machine *machine, double time);
void rm_machine_add_ground(struct rm_machine const *machine, double time, float *orbit);

#endif
