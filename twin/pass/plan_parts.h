// SPDX-License-Identifier: Apache-2.0
/** How a plan is made: what plan.c offers to the files that plan an element. */
#ifndef RM_TWIN_PASS_PLAN_PARTS_H
#define RM_TWIN_PASS_PLAN_PARTS_H

#include "../twin_parts.h"
#include "plan.h"

struct rm_planner {
    struct rm_twin const *twin;
    struct rm_plan *plan;
    /** Number of steps that fit. */
    uint32_t room;
    /** Number of the element that is being planned. */
    uint32_t element;

    bool no_memory;
    /** γ of the reference particle. */
    double gamma;
    /** Seconds of a turn at the speed of light. */
    double turn_s;
    /** Kicks of this element and those after it. */
    struct rm_particle_kick const *kicks;

    uint32_t kick_count;
};

/** Classical radius (m) and rest energy (eV) of the electron, CODATA 2022, as in AT. */
#define RM_ELECTRON_RADIUS_M 2.8179403205e-15
#define RM_ELECTRON_REST_EV 510998.95069

/** Memory that lives as long as the plan, for a step's data; NULL, and no_memory, when there is none. */
void *rm_planner_room(struct rm_planner *planner, size_t bytes);

/** Copies `bytes` to such memory. */
void *rm_planner_copy(struct rm_planner *planner, void const *from, size_t bytes);

/** Appends a step of this element; `data` is copied, unless it is NULL. Returns the step, or NULL without memory. */
struct rm_track_step *rm_planner_add(struct rm_planner *planner, enum rm_step_kind kind, void const *data,
                                     size_t bytes);

/** Makes the element's kicks for particles the step's steers: the change of `kick` times `scale` of its plane. */
void rm_planner_steer(struct rm_planner *planner, struct rm_track_step *step, double const scale[2]);
/** The same for elements that take sin(kick) / length. */
void rm_planner_steer_sine(struct rm_planner *planner, struct rm_track_step *step, double const kick_rad[2],
                           double length_m);

/** True when a kick angle has an effect on this element; and when it may differ from particle to particle. */
bool rm_pass_has_kick(struct rm_element const *element);
bool rm_plan_takes_kicks(struct rm_element const *element);

/** Appends all steps of the element's body with its edges, without misalignment and apertures. */
void rm_plan_magnet(struct rm_planner *planner, struct rm_element const *element);
void rm_plan_e2(struct rm_planner *planner, struct rm_element const *element);
void rm_plan_straight_bend(struct rm_planner *planner, struct rm_element const *element);
void rm_plan_quad_linear(struct rm_planner *planner, struct rm_element const *element);
void rm_plan_bend_linear(struct rm_planner *planner, struct rm_element const *element);
void rm_plan_wiggler(struct rm_planner *planner, struct rm_element const *element);

#endif
