// SPDX-License-Identifier: Apache-2.0
/** A ring as the tangent map walks it: elements taken apart into the legs that have a Jacobian of their own.
 *
 * What does not change from turn to turn is worked out here once: which legs there are, their coefficients, tangents
 * of edge angles, and where to look. A route refers to the elements it was made of and lives as long as one call.
 */
#ifndef RM_TANGENT_ROUTE_H
#define RM_TANGENT_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "../twin_parts.h"
#include "tangent.h"

enum rm_leg_kind {
    RM_LEG_NOTHING,
    RM_LEG_DRIFT,
    RM_LEG_EXACT_DRIFT,
    /** Displacements T1, T2. */
    RM_LEG_SHIFT,
    /** Matrices R1, R2, M66. */
    RM_LEG_LINEAR,

    RM_LEG_EDGE,
    RM_LEG_QUADRUPOLE_FRINGE,
    RM_LEG_MULTIPOLE,
    RM_LEG_CORRECTOR,
    RM_LEG_THIN_MULTIPOLE,
    RM_LEG_CAVITY,
    RM_LEG_E2_EDGE,
    RM_LEG_E2_BODY,
    /** QuadLinearPass. */
    RM_LEG_FOCUS,
    /** BendLinearPass. */
    RM_LEG_SECTOR,

    RM_LEG_SOLENOID,
    RM_LEG_STRAIGHT_BEND,
    RM_LEG_WIGGLER,
};

/** A magnet's body: drifts and kicks of the fourth-order integrator (E. Forest and R. Ruth, Physica D 43, 105). */
struct rm_leg_multipole {
    double length_m;
    /** Curvature in 1/m. */
    double curvature;
    /** Dipole coefficients with the kick angles; they replace a[0] and b[0]. */
    double a0, b0;

    double const *a, *b;
    /** Highest order that is not 0, at least 1. */
    uint32_t order;

    uint32_t slices;
    bool radiates;
};

/** A dipole's edge: px += fx x, py -= fy y. */
struct rm_leg_edge {
    /** psi: the angle that the fringe field takes off at δ = 0. */
    double curvature, angle, psi;

    double fx;
    /** 1 at the entrance, -1 at the exit. */
    double sign;

    uint32_t method;
};

struct rm_leg_quadrupole_fringe {
    double strength;
    /** As for the edge. */
    double sign;
    /** Ten fringe integrals, or NULL: hard edge only. */
    double const *integrals;
};

struct rm_leg_corrector {
    double length_m;
    double kick[2];
};

struct rm_leg_cavity {
    double length_m;
    /** Voltage over energy. */
    double gain;

    double frequency_hz, time_lag_m, phase_lag_rad;
};

struct rm_leg_e2_edge {
    double curvature, angle, psi, pole_curvature, strength, sign;
};

struct rm_leg_lens {
    double length_m;
    double curvature;
    /** Quadrupole's K, or solenoid's. */
    double strength;
    /** Relative error of the bending field. */
    double b0;
};

struct rm_leg_straight_bend {
    struct rm_leg_multipole multipole;
    struct rm_leg_edge edge[2];
    double reference_x_m, reference_ct_m;
};

struct rm_leg_wiggler {
    struct rm_wiggler const *wiggler;
    double length_m, slice_m;
    /** Potential of a harmonic of amplitude 1 and kz = 1, over the momentum. */
    double potential;
    /** Peak of its field over the rigidity, 1/m. */
    double field;

    uint32_t slices;
    /** Parts of a slice: 1 in second order, 3 in fourth. */
    uint32_t parts;

    bool radiates;
};

struct rm_leg {
    enum rm_leg_kind kind;
    uint32_t element;
    /** First result to be written before this leg, and how many results are at the same place. */
    uint32_t point, points;

    union {
        double length_m;
        /** 6 numbers of a shift, 36 of a matrix. */
        double const *numbers;

        struct rm_leg_multipole multipole;
        struct rm_leg_edge edge;
        struct rm_leg_quadrupole_fringe fringe;
        struct rm_leg_corrector corrector;
        struct rm_leg_cavity cavity;
        struct rm_leg_e2_edge e2_edge;
        struct rm_leg_lens lens;
        struct rm_leg_straight_bend straight_bend;
        struct rm_leg_wiggler wiggler;
    } of;
};

struct rm_route {
    struct rm_twin const *twin;
    struct rm_leg *legs;
    uint32_t count, room;
    /** 2/3 r_e γ³, m. */
    double loss_per_kick;
    /** 55/(24 √3) r_e ƛ_e γ⁵, m². */
    double diffusion_per_kick;
    /** A cavity is on. */
    bool cavity;
    /** Some element radiates. */
    bool radiates;
    /** Walks a magnet's body as one slice. */
    bool coarse;
};

/** What may differ in a route from its twin. */
struct rm_route_changes {
    double rf_offset_hz;
    /** Takes the place of element `at`; or NULL. */
    struct rm_element const *instead;

    uint32_t at;
};

/** Makes a route with results at `refpts`. RM_E_ARGUMENT: a point beyond the lattice, or not ascending. RM_E_CONFIG
 * names an element with a strength that is not finite, or with a pass that has no derivative here. */
enum rm_code rm_route_make(struct rm_twin const *twin, struct rm_route_changes const *changes, uint32_t const *refpts,
                           uint32_t refpt_count, struct rm_route *route, struct rm_error *error);
void rm_route_free(struct rm_route *route);

/** Most legs of one element. */
enum { RM_ROUTE_ELEMENT_LEGS = 9 };

/** Makes a route of element `index` alone, as if it were `as`. The caller owns its legs: no rm_route_free. */
enum rm_code rm_route_element(struct rm_twin const *twin, uint32_t index, struct rm_element const *as,
                              double rf_offset_hz, struct rm_leg legs[RM_ROUTE_ELEMENT_LEGS], struct rm_route *route,
                              struct rm_error *error);

#endif
