// SPDX-License-Identifier: Apache-2.0
/** The walk through a route. Included once for each instruction set by a file that names it and asks for it. */
#include "cavity.h"
#include "e2.h"
#include "edge.h"
#include "lens.h"
#include "linear.h"
#include "radiating.h"
#include "scatter.h"
#include "straight_bend.h"
#include "thin.h"
#include "turn.h"
#include "wiggler.h"

static void track_multipole(struct rm_tangent *t, struct rm_leg_multipole const *m) {
    switch (m->order) {
    case 1:
        rm_tangent_body(t, m, 1);
        break;
    case 2:
        rm_tangent_body(t, m, 2);
        break;
    default:
        rm_tangent_body(t, m, m->order);
    }
}

static void track_radiating_multipole(struct rm_tangent *t, struct rm_route const *route,
                                      struct rm_leg_multipole const *m) {
    switch (m->order) {
    case 1:
        rm_tangent_body_radiating(t, route, m, 1, NULL);
        break;
    case 2:
        rm_tangent_body_radiating(t, route, m, 2, NULL);
        break;
    default:
        rm_tangent_body_radiating(t, route, m, m->order, NULL);
    }
}

static void track_scattering_leg(struct rm_tangent *t, struct rm_route const *route, struct rm_leg const *leg,
                                 struct rm_diffusion *diffusion) {
    struct rm_leg_multipole const *const m = &leg->of.multipole;
    struct rm_diffusion gathered = {0};
    struct rm_pairing pairing = rm_pairing_of(t);
    if (leg->kind == RM_LEG_WIGGLER)
        rm_tangent_wiggler(t, route, &leg->of.wiggler, &gathered);
    else if (leg->kind == RM_LEG_E2_BODY)
        rm_tangent_e2_body(t, route, m, &gathered);
    else if (m->order == 1)
        rm_tangent_body_radiating(t, route, m, 1, &gathered);
    else
        rm_tangent_body_radiating(t, route, m, m->order, &gathered);
    rm_diffusion_add(diffusion, &gathered, rm_pairing_mean(pairing, rm_pairing_of(t)));
}

static void track_body_leg(struct rm_tangent *t, struct rm_route const *route, struct rm_leg const *leg,
                           struct rm_diffusion *diffusion) {
    if (leg->of.multipole.radiates && diffusion != NULL) {
        track_scattering_leg(t, route, leg, diffusion);
        return;
    }
    struct rm_leg_multipole m = leg->of.multipole;
    m.slices = route->coarse ? 1 : m.slices;
    if (m.radiates)
        track_radiating_multipole(t, route, &m);
    else
        track_multipole(t, &m);
}

static void e2_body(struct rm_tangent *t, struct rm_route const *route, struct rm_leg const *leg,
                    struct rm_diffusion *diffusion) {
    if (leg->of.multipole.radiates && diffusion != NULL)
        track_scattering_leg(t, route, leg, diffusion);
    else
        rm_tangent_e2_body(t, route, &leg->of.multipole, NULL);
}

static void track_wiggler_leg(struct rm_tangent *t, struct rm_route const *route, struct rm_leg const *leg,
                              struct rm_diffusion *diffusion) {
    if (leg->of.wiggler.radiates && diffusion != NULL)
        track_scattering_leg(t, route, leg, diffusion);
    else
        rm_tangent_wiggler(t, route, &leg->of.wiggler, NULL);
}

static void track_edge_leg(struct rm_tangent *t, struct rm_leg_edge const *edge) {
    if (edge->psi == 0 && edge->method == 1)
        rm_tangent_hard_edge(t, edge->fx);
    else
        rm_tangent_edge(t, edge);
}

static void walk_leg(struct rm_tangent *t, struct rm_route const *route, struct rm_leg const *leg,
                     struct rm_diffusion *diffusion) {
    switch (leg->kind) {
    case RM_LEG_NOTHING:
        break;
    case RM_LEG_DRIFT:
        rm_tangent_drift(t, leg->of.length_m);
        break;
    case RM_LEG_EXACT_DRIFT:
        rm_tangent_exact_drift(t, leg->of.length_m);
        break;
    case RM_LEG_SHIFT:
        rm_tangent_shift(t, leg->of.numbers);
        break;
    case RM_LEG_LINEAR:
        rm_tangent_matrix(t, leg->of.numbers);
        break;
    case RM_LEG_EDGE:
        track_edge_leg(t, &leg->of.edge);
        break;
    case RM_LEG_QUADRUPOLE_FRINGE:
        rm_tangent_quadrupole_fringe(t, &leg->of.fringe);
        break;
    case RM_LEG_MULTIPOLE:
        track_body_leg(t, route, leg, diffusion);
        break;
    case RM_LEG_CORRECTOR:
        rm_tangent_corrector(t, &leg->of.corrector);
        break;
    case RM_LEG_THIN_MULTIPOLE:
        rm_tangent_thin(t, &leg->of.multipole);
        break;
    case RM_LEG_CAVITY:
        rm_tangent_cavity(t, &leg->of.cavity);
        break;
    case RM_LEG_E2_EDGE:
        rm_tangent_e2_edge(t, &leg->of.e2_edge);
        break;
    case RM_LEG_E2_BODY:
        e2_body(t, route, leg, diffusion);
        break;
    case RM_LEG_FOCUS:
        rm_tangent_focus(t, &leg->of.lens);
        break;
    case RM_LEG_SECTOR:
        rm_tangent_sector(t, &leg->of.lens);
        break;
    case RM_LEG_STRAIGHT_BEND:
        rm_tangent_straight_bend(t, &leg->of.straight_bend);
        break;
    case RM_LEG_WIGGLER:
        track_wiggler_leg(t, route, leg, diffusion);
        break;
    case RM_LEG_SOLENOID:
        rm_tangent_solenoid(t, &leg->of.lens);
        break;
    }
}

static void note_turn_point(struct rm_leg const *leg, struct rm_tangent const *t, struct rm_diffusion const *diffusion,
                            struct rm_turn_points const *points) {
    for (uint32_t i = leg->point; i < leg->point + leg->points; ++i) {
        if (points->tangent != NULL)
            points->tangent[i] = *t;
        if (points->diffusion != NULL && diffusion != NULL)
            points->diffusion[i] = *diffusion;
    }
}

static void walk_route(struct rm_route const *route, struct rm_tangent *tangent, struct rm_diffusion *diffusion,
                       struct rm_turn_points const *points) {
    struct rm_tangent here = *tangent;
    for (uint32_t i = 0; i < route->count; ++i) {
        struct rm_leg const *const leg = &route->legs[i];
        if (leg->points != 0 && points != NULL)
            note_turn_point(leg, &here, diffusion, points);
        walk_leg(&here, route, leg, diffusion);
    }
    *tangent = here;
}
