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

enum {
    RM_MACHINE_STEPPERS = 8,    /**< dipole kicks that steps come from */
    RM_MACHINE_HISTORY = 64,    /**< orbits that a BPM's filter may delay by */
    RM_MACHINE_KNOBS_FIRST = 6, /**< before the magnets' */
};

enum rm_machine_knob {
    RM_MACHINE_MAINS,
    RM_MACHINE_GROUND,
    RM_MACHINE_STEPS,
    RM_MACHINE_INSERTION,
    RM_MACHINE_TOPUP,
    RM_MACHINE_BEAM,
};

/** Kicks of a unit of a column: a run of terms. */
struct rm_machine_term {
    uint32_t steerer;
    double rad;
};

struct rm_machine_column {
    uint32_t first, count; /**< of terms */
};

/** A corrector's or the RF's supply as a column. */
struct rm_machine_lever {
    uint32_t supply;
    uint32_t group;  /**< RM_MACHINE_GROUPS_MAX: none, it is the RF's */
    double filtered; /**< its current behind the chamber */
};

/** Magnets of one name, and what changes their gradient. */
struct rm_machine_magnet {
    uint32_t element;
    uint32_t knob;
    double gradient; /**< polynom_b[1], with its error */
};

struct rm_machine_strength {
    uint32_t magnet;
    uint32_t supply;
    double per_unit;
};

/** One BPM's errors: reading = m · orbit + offset. */
struct rm_machine_bpm {
    double m[4];
    double offset_m[2];
};

/** What the background found, and the fast part uses until the next one. */
struct rm_machine_model {
    struct rm_orbit_matrix fast, ground;
    float *base;  /**< [padded] the orbit less what the ground's columns were then */
    double *then; /**< [columns] about which it is linear */
};

/** The ground: the orbit of all magnets' motion at three knots of time, the last of which is being computed. */
struct rm_machine_ground {
    double knot_s;
    double memory;          /**< knots after which nothing is left of a motion */
    uint64_t knot;          /**< `from` is at knot · knot_s */
    float *orbit[3];        /**< from, to, next */
    float *place[3];        /**< [columns] displacements, m */
    double *state[2];       /**< [columns] of the two first orders */
    double pole, drive;     /**< of both, for an RMS of 1 */
    uint32_t column, known; /**< how many there are, and how many are in `next` */
};

/** Everything else that disturbs, as a function of time. */
struct rm_machine_events {
    uint64_t step;                       /**< that happened last */
    double stepped[RM_MACHINE_STEPPERS]; /**< sums of all steps, rad */
    double mains_phase[RM_MACHINE_MAINS_MAX];
    double wander_phase[3];
};

struct rm_machine {
    struct rm_ring_machine const *config;
    double turn_rate_hz;
    struct rm_lattice *lattice;
    bool has_start;   /**< the background has found an orbit, from which it seeks the next */
    bool stepped;     /**< the fast part has, once at least */
    bool started;     /**< the background is a thread */
    atomic_bool stop; /**< it is to end */
    atomic_bool lost; /**< it found no closed orbit */

    /* the background's */
    struct rm_twin *twin;
    uint32_t *bpm_element; /**< ascending, as rm_twin_response wants points */
    uint32_t bpm_count, steerer_count;
    uint32_t *bpm_of; /**< [BPM of the instruments] which of these: some are read twice */
    struct rm_steerer *steerer;
    double (*base_kick)[2]; /**< [element] of the design */
    double (*kick)[2];      /**< [element] */
    double *response;       /**< [2][bpm][steerer + 1] */
    double (*orbit)[RM_COORDINATES];
    double at_start[RM_COORDINATES];
    double *column_now; /**< [columns] */
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
    uint32_t column_count, fast_count; /**< the ground's stand last */
    struct rm_machine_term *term;
    uint32_t term_count;
    struct rm_machine_lever *lever; /**< columns [0, lever_count) */
    uint32_t lever_count;
    int32_t rf_column; /**< or −1 */
    uint32_t mains_column, step_column, insertion_column, topup_column, ground_column;
    struct rm_machine_magnet *magnet;
    uint32_t magnet_count;
    struct rm_machine_strength *strength;
    uint32_t strength_count;
    struct rm_machine_bpm *bpm;
    struct rm_machine_optics *optics;
    double design_beat;
    char const **knob_name;
    uint32_t knob_count;
    _Atomic double *knob;

    /* the fast part's */
    double time;
    uint64_t steps;
    struct rm_machine_model *active;
    struct rm_machine_ground ground;
    struct rm_machine_events events;
    double *now;       /**< [columns] */
    float *weight;     /**< [fast_count] now − then */
    float *true_orbit; /**< [padded] x of all BPMs, then y */
    float *rest;       /**< [padded] what is still to blend away … */
    double rest_since; /**< … since then */
    float *late;       /**< [padded] that the BPMs' filter lets through now */
    float *seen;       /**< [padded] behind the BPMs' filter */
    float *history[RM_MACHINE_HISTORY];
    double history_time[RM_MACHINE_HISTORY];

    /* from the fast part to the background: a sequence lock */
    _Atomic uint64_t now_sequence;
    _Atomic double *now_shared;      /**< [columns] */
    _Atomic double *strength_shared; /**< [strength_count] relative changes */
};

/* machine_lattice.c: the lattice, its BPMs, steerers, magnets and columns. */
enum rm_code rm_machine_find(struct rm_machine *machine, struct rm_error *error);

/* machine_errors.c: what nobody is told. */
double rm_machine_draw(uint64_t key);
void rm_machine_draw_bpms(struct rm_machine *machine);
enum rm_code rm_machine_beat(struct rm_machine *machine, struct rm_error *error);

/* machine_refresh.c */
enum rm_code rm_machine_model_make(struct rm_machine *machine, struct rm_machine_model *model, struct rm_error *error);
void rm_machine_model_free(struct rm_machine_model *model);
/** The response to all steerers, and the orbit, with kicks and strengths as they are. */
enum rm_code rm_machine_look(struct rm_machine *machine, struct rm_error *error);

/** The orbit (m) at a BPM's row of a unit of a column, from the last look. */
double rm_machine_column_orbit(struct rm_machine const *machine, uint32_t column, uint32_t row);

/* machine_disturbances.c */
bool rm_machine_ground_make(struct rm_machine *machine);
void rm_machine_ground_free(struct rm_machine_ground *ground);
/** Scales the mains' columns to their orbits at the worst BPM. */
void rm_machine_scale_mains(struct rm_machine *machine);
/** All columns of disturbances at `time`. */
void rm_machine_disturb(struct rm_machine *machine, double time);
/** Adds the ground's orbit at `time`. */
void rm_machine_move_ground(struct rm_machine *machine, double time);
void rm_machine_add_ground(struct rm_machine const *machine, double time, float *orbit);

#endif
