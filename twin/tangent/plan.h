// SPDX-License-Identifier: Apache-2.0
/** A ring as the tangent map walks it: elements taken apart into the steps that have a Jacobian of their own.
 *
 * What does not change from turn to turn is worked out here once: which steps there are, their coefficients, tangents
 * of edge angles, and where to look. A plan refers to the elements it was made of and lives as long as one call.
 */
#ifndef RM_TANGENT_PLAN_H
#define RM_TANGENT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "tangent/tangent.h"
#include "twin_parts.h"

enum rm_step_kind {
    RM_STEP_NOTHING,
    RM_STEP_DRIFT,
    RM_STEP_EXACT_DRIFT,
    RM_STEP_SHIFT,  /**< T1, T2 */
    RM_STEP_LINEAR, /**< R1, R2, M66 */
    RM_STEP_EDGE,
    RM_STEP_QUADRUPOLE_FRINGE,
    RM_STEP_MULTIPOLE,
    RM_STEP_CORRECTOR,
    RM_STEP_THIN_MULTIPOLE,
    RM_STEP_CAVITY,
    RM_STEP_E2_EDGE,
    RM_STEP_E2_BODY,
    RM_STEP_FOCUS, /**< QuadLinear */
    RM_STEP_SECTOR, /**< BendLinear */
    RM_STEP_SOLENOID,
};

/** A magnet's body: drifts and kicks of the fourth-order integrator (E. Forest and R. Ruth, Physica D 43, 105). */
struct rm_step_multipole {
    double length_m;
    double curvature; /**< 1/m */
    double a0, b0;    /**< with the kick angles; they stand for a[0] and b[0] */
    double const *a, *b;
    uint32_t order; /**< highest that is not 0, at least 1 */
    uint32_t slices;
    bool radiates;
};

/** A dipole's edge: px += fx x, py -= fy y. */
struct rm_step_edge {
    double curvature, angle, psi; /**< psi: the angle that the fringe field takes off at δ = 0 */
    double fx;
    double sign; /**< +1 at the entrance, -1 at the exit */
    uint32_t method;
};

struct rm_step_quadrupole_fringe {
    double strength;
    double sign;             /**< as for the edge */
    double const *integrals; /**< 10, or NULL: hard edge only */
};

struct rm_step_corrector {
    double length_m;
    double kick[2];
};

struct rm_step_cavity {
    double length_m;
    double gain; /**< voltage over energy */
    double frequency_hz, time_lag_m, phase_lag_rad;
};

struct rm_step_e2_edge {
    double curvature, angle, psi, pole_curvature, strength, sign;
};

struct rm_step_lens {
    double length_m;
    double curvature;
    double strength; /**< quadrupole's K, or solenoid's */
    double b0;       /**< relative error of the bending field */
};

struct rm_step {
    enum rm_step_kind kind;
    uint32_t element;
    uint32_t point, points; /**< first result to be written before this step, and how many want the same place */
    union {
        double length_m;
        double const *numbers; /**< 6 of a shift, 36 of a matrix */
        struct rm_step_multipole multipole;
        struct rm_step_edge edge;
        struct rm_step_quadrupole_fringe fringe;
        struct rm_step_corrector corrector;
        struct rm_step_cavity cavity;
        struct rm_step_e2_edge e2_edge;
        struct rm_step_lens lens;
    } of;
};

struct rm_plan {
    struct rm_twin const *twin;
    struct rm_step *steps;
    uint32_t count, room;
    double loss_per_kick; /**< 2/3 r_e γ³, m */
    double diffusion_per_kick; /**< 55/(24 √3) r_e ƛ_e γ⁵, m² */
    bool cavity;   /**< one is on */
    bool radiates; /**< somewhere */
};

/** What a plan may differ in from its twin. */
struct rm_plan_changes {
    double rf_offset_hz;
    struct rm_element const *instead; /**< of element `at`; or NULL */
    uint32_t at;
};

/** Makes a plan with results at `refpts`. RM_E_ARGUMENT: a point beyond the lattice, or not ascending; RM_E_CONFIG: a
 * strength that is not finite, or a pass that has no derivative here, with the element's name. */
enum rm_code rm_plan_make(struct rm_twin const *twin, struct rm_plan_changes const *changes, uint32_t const *refpts,
                          uint32_t refpt_count, struct rm_plan *plan, struct rm_error *error);
void rm_plan_free(struct rm_plan *plan);

enum { RM_PLAN_ELEMENT_STEPS = 9 }; /**< most of one element */

/** A plan of element `index` alone, as `as` would be. Its steps are the caller's: no rm_plan_free. */
enum rm_code rm_plan_element(struct rm_twin const *twin, uint32_t index, struct rm_element const *as,
                             double rf_offset_hz, struct rm_step steps[RM_PLAN_ELEMENT_STEPS], struct rm_plan *plan,
                             struct rm_error *error);

#endif
