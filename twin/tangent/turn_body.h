// SPDX-License-Identifier: Apache-2.0
/** The walk through a plan. Included once for each instruction set by a file that names it and asks for it. */
#include "tangent/cavity.h"
#include "tangent/e2.h"
#include "tangent/edge.h"
#include "tangent/lens.h"
#include "tangent/linear.h"
#include "tangent/scatter.h"
#include "tangent/thin.h"
#include "tangent/turn.h"

static void still(struct rm_tangent *t, struct rm_step_multipole const *m) {
    switch (m->order) {
    case 1: rm_tangent_body(t, m, 1); break;
    case 2: rm_tangent_body(t, m, 2); break;
    default: rm_tangent_body(t, m, m->order);
    }
}

static void radiating(struct rm_tangent *t, struct rm_plan const *plan, struct rm_step_multipole const *m) {
    switch (m->order) {
    case 1: rm_tangent_body_radiating(t, plan, m, 1, NULL); break;
    case 2: rm_tangent_body_radiating(t, plan, m, 2, NULL); break;
    default: rm_tangent_body_radiating(t, plan, m, m->order, NULL);
    }
}

static void scattering(struct rm_tangent *t, struct rm_plan const *plan, struct rm_step const *step,
                       struct rm_diffusion *diffusion) {
    struct rm_step_multipole const *const m = &step->of.multipole;
    struct rm_diffusion gathered = {0};
    struct rm_pairing pairing = rm_pairing_of(t);
    if (step->kind == RM_STEP_E2_BODY)
        rm_tangent_e2_body(t, plan, m, &gathered);
    else if (m->order == 1)
        rm_tangent_body_radiating(t, plan, m, 1, &gathered);
    else
        rm_tangent_body_radiating(t, plan, m, m->order, &gathered);
    rm_diffusion_add(diffusion, &gathered, rm_pairing_mean(pairing, rm_pairing_of(t)));
}

static void body(struct rm_tangent *t, struct rm_plan const *plan, struct rm_step const *step,
                 struct rm_diffusion *diffusion) {
    if (!step->of.multipole.radiates)
        still(t, &step->of.multipole);
    else if (diffusion == NULL)
        radiating(t, plan, &step->of.multipole);
    else
        scattering(t, plan, step, diffusion);
}

static void e2_body(struct rm_tangent *t, struct rm_plan const *plan, struct rm_step const *step,
                    struct rm_diffusion *diffusion) {
    if (step->of.multipole.radiates && diffusion != NULL)
        scattering(t, plan, step, diffusion);
    else
        rm_tangent_e2_body(t, plan, &step->of.multipole, NULL);
}

static void edge(struct rm_tangent *t, struct rm_step_edge const *edge) {
    if (edge->psi == 0 && edge->method == 1)
        rm_tangent_hard_edge(t, edge->fx);
    else
        rm_tangent_edge(t, edge);
}

static void walk_step(struct rm_tangent *t, struct rm_plan const *plan, struct rm_step const *step,
                      struct rm_diffusion *diffusion) {
    switch (step->kind) {
    case RM_STEP_NOTHING: break;
    case RM_STEP_DRIFT: rm_tangent_drift(t, step->of.length_m); break;
    case RM_STEP_EXACT_DRIFT: rm_tangent_exact_drift(t, step->of.length_m); break;
    case RM_STEP_SHIFT: rm_tangent_shift(t, step->of.numbers); break;
    case RM_STEP_LINEAR: rm_tangent_matrix(t, step->of.numbers); break;
    case RM_STEP_EDGE: edge(t, &step->of.edge); break;
    case RM_STEP_QUADRUPOLE_FRINGE: rm_tangent_quadrupole_fringe(t, &step->of.fringe); break;
    case RM_STEP_MULTIPOLE: body(t, plan, step, diffusion); break;
    case RM_STEP_CORRECTOR: rm_tangent_corrector(t, &step->of.corrector); break;
    case RM_STEP_THIN_MULTIPOLE: rm_tangent_thin(t, &step->of.multipole); break;
    case RM_STEP_CAVITY: rm_tangent_cavity(t, &step->of.cavity); break;
    case RM_STEP_E2_EDGE: rm_tangent_e2_edge(t, &step->of.e2_edge); break;
    case RM_STEP_E2_BODY: e2_body(t, plan, step, diffusion); break;
    case RM_STEP_FOCUS: rm_tangent_focus(t, &step->of.lens); break;
    case RM_STEP_SECTOR: rm_tangent_sector(t, &step->of.lens); break;
    case RM_STEP_SOLENOID: rm_tangent_solenoid(t, &step->of.lens); break;
    }
}

static void look(struct rm_step const *step, struct rm_tangent const *t, struct rm_diffusion const *diffusion,
                 struct rm_turn_points const *points) {
    for (uint32_t i = step->point; i < step->point + step->points; ++i) {
        if (points->tangent != NULL)
            points->tangent[i] = *t;
        if (points->diffusion != NULL && diffusion != NULL)
            points->diffusion[i] = *diffusion;
    }
}

static void walk(struct rm_plan const *plan, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                 struct rm_turn_points const *points) {
    struct rm_tangent here = *tangent;
    for (uint32_t i = 0; i < plan->count; ++i) {
        struct rm_step const *const step = &plan->steps[i];
        if (step->points != 0 && points != NULL)
            look(step, &here, diffusion, points);
        walk_step(&here, plan, step, diffusion);
    }
    *tangent = here;
}
