// SPDX-License-Identifier: Apache-2.0
/** A plan: the elements of a twin as a row of steps for the kernels, with all that does not depend on the particle
 * computed once.
 *
 * An element becomes several steps where its pass does several things: misalignment, aperture, edge, fringe, body, and
 * back. What changes nothing has none. Kernels only read a plan, so many threads may track with one; it does not follow
 * later changes of its twin.
 */
#ifndef RM_TWIN_PASS_PLAN_H
#define RM_TWIN_PASS_PLAN_H

#include <ringmaster/twin.h>

#include "../track_block.h"

enum rm_step_kind {
    RM_STEP_NOTHING,
    RM_STEP_OBSERVE,
    RM_STEP_SHIFT,
    RM_STEP_MATRIX,
    RM_STEP_RECTANGLE,
    RM_STEP_ELLIPSE,
    RM_STEP_DRIFT,
    RM_STEP_EXACT_DRIFT,
    RM_STEP_EDGE,
    RM_STEP_EDGE_FRINGE,
    RM_STEP_QUAD_FRINGE,
    RM_STEP_BLOCKS,
    RM_STEP_MAGNET,
    RM_STEP_MAGNET_RADIATING,
    RM_STEP_MAGNET_QUANTUM,
    RM_STEP_E2_EDGE,
    RM_STEP_E2,
    RM_STEP_STRAIGHT_BEND,
    RM_STEP_QUAD_LINEAR,
    RM_STEP_BEND_LINEAR,
    RM_STEP_CORRECTOR,
    RM_STEP_THIN,
    RM_STEP_CAVITY,
    RM_STEP_SOLENOID,
    RM_STEP_WIGGLER,
    RM_STEPS
};

/** What the element's kick angle is changed by for one particle. */
struct rm_pass_steer {
    uint32_t particle;
    /** In the unit of the step: change of its dipole components b and a, or of its kick. */
    double by[2];
};

struct rm_track_step {
    uint8_t kind;
    /** It is the last step of its element: then particles are checked for loss. */
    bool last;
    /** Number of the element; for OBSERVE, of the point. */
    uint32_t element;

    uint32_t steer_count;
    /** Steers in the order of particles; for magnets, correctors and thin multipoles only. */
    struct rm_pass_steer const *steers;
    /** One of the structs below, by kind; NULL: none. */
    void const *data;
};

/** SHIFT: six numbers. MATRIX: 36, row by row. RECTANGLE: four. ELLIPSE: two. DRIFT, EXACT_DRIFT: the length. */

/** EDGE: px += x fx, py −= y fy. */
struct rm_edge {
    double fx, fy;
    /** EDGE_FRINGE: fy depends on δ. */
    double inverse_rho, angle, correction;
    /** Sign of px in method 3: 1 at the entrance, −1 at the exit. */
    double sign;

    uint32_t method;
};

/** QUAD_FRINGE: K1 / 12, negative at the exit. BLOCKS: two 2 × 2 matrices, of x and y, row by row. */

/** MAGNET and its radiating forms: a field integrated in slices of drift, kick, drift, kick, drift, kick, drift
 * (E. Forest, R. D. Ruth, Physica D 43, 105 (1990)). */
struct rm_magnet {
    /** Lengths of the slice's drifts: L1 at its ends, L2 inside. */
    double drift[2];
    /** Lengths of its kicks: K1, and K2 in the middle. */
    double kick[2];

    double curvature;
    /** `order` is that of the highest coefficient that is not 0, and at least 1. */
    uint32_t steps, order;
    /** No skew component at all. */
    bool normal;
    /** order + 1 coefficients; the kick angle is in them. */
    double const *a, *b;
    /** The same times the length of each kick. */
    double const *kick_a[2], *kick_b[2];

    double slice_m;
    /** For radiating steps: 2/3 r_e γ³, m. */
    double loss;
    /** For quantum steps: γ of the reference particle. */
    double gamma;
};

/** E2_EDGE: second order map of a dipole's face; E2: its body. */
struct rm_e2_edge {
    double fx, fy, t111, t133, t212, t313, t234, t414, t211, t233, t413, t423;
};

struct rm_e2 {
    double drift[2], kick[2], curvature;
    uint32_t steps, order;
    double const *b;
    double k1, k2;
    /** As in struct rm_magnet; 0: no radiation. */
    double loss;

    bool radiating;
};

struct rm_straight_bend {
    double drift[2], kick[2];
    uint32_t steps, order;
    double const *a, *b;
    double entrance_angle, exit_angle;
    /** Offsets of the reference orbit: X0ref, RefDZ. */
    double x_m, ct_m;

    struct rm_edge entrance, exit;
};

struct rm_linear {
    double length_m, gradient;
    /** Curvature of the bend. */
    double curvature;
};

struct rm_corrector {
    double length_m, kick[2];
};

struct rm_thin {
    uint32_t order;
    double const *a, *b;
    /** BendingAngle. */
    double bend;
};

struct rm_cavity {
    double half_m;
    /** Voltage over the energy of the reference particle. */
    double voltage;
    /** 2π f, rad/s. */
    double omega;

    double lag_m, phase_rad;
    /** Seconds per turn by which the nearest harmonic differs from the turn's length. */
    double slip_s;
};

struct rm_solenoid {
    double length_m, strength;
};

struct rm_wiggler_wave {
    /** Amplitude of the field. */
    double amplitude_t;
    /** Amplitude of the vector potential over (βγ), times kw / kz. */
    double vector_potential;

    double kx, ky, kz, phase_rad;
    /** It is a harmonic of By; else of Bx. */
    bool vertical_field;
};

struct rm_wiggler_plan {
    double slice_m;
    uint32_t slices;
    /** Parts of a slice: 1 for the method of 2nd order, 3 for the 4th. */
    uint32_t parts;
    /** Lengths of the parts. */
    double part[3];

    uint32_t waves;
    struct rm_wiggler_wave const *wave;
    bool radiating;
    /** 2/3 r_e γ³ over rigidity², 1/(m T²). */
    double loss;
    /** Length over which there is field for the radiation. */
    double length_m;
};

struct rm_plan {
    struct rm_track_step *steps;
    uint32_t count;
    uint32_t refpt_count;
    /** Memory of the data that steps point to. */
    struct rm_plan_memory *memory;
};

/** Makes a plan of `twin` as it is now, which observes at `refpts` and gives particles their `kicks` (track_block.h).
 * Both may be empty. RM_E_ARGUMENT: points that do not ascend or are beyond the end; or a kick of an element that has
 * none to change. */
enum rm_code rm_track_plan_make(struct rm_twin const *twin, uint32_t const *refpts, uint32_t refpt_count,
                                struct rm_particle_kick const *kicks, uint32_t kick_count, struct rm_plan *plan,
                                struct rm_error *error);
void rm_track_plan_free(struct rm_plan *plan);

#endif
