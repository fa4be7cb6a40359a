// SPDX-License-Identifier: Apache-2.0
#include "route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"

static double const electron_mass_ev = 510998.95069; /* CODATA 2022, as all of these */
static double const electron_radius_m = 2.8179403205e-15;
static double const hbar_c_ev_m = 197.3269804593025e-9;
static double const light_m_s = 2.99792458e8;

/** Takes the pending points of this element along with its first leg. */
struct writer {
    struct rm_route *route;
    uint32_t element;
    uint32_t point, points;
};

static struct rm_leg *add_leg(struct writer *writer, enum rm_leg_kind kind) {
    struct rm_leg *const leg = &writer->route->legs[writer->route->count++];
    *leg = (struct rm_leg){.kind = kind, .element = writer->element, .point = writer->point, .points = writer->points};
    writer->points = 0;
    return leg;
}

static double gamma_of(struct rm_lattice_facts const *info) {
    return info->energy_ev / (info->rest_energy_ev != 0 ? info->rest_energy_ev : electron_mass_ev);
}

static bool is_finite(double const *numbers, uint32_t count) {
    for (uint32_t i = 0; numbers != NULL && i < count; ++i)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

static bool strengths_are_finite(struct rm_element const *e) {
    double const numbers[] = {e->length_m,           e->kick_angle_rad[0], e->kick_angle_rad[1], e->voltage_v,
                              e->frequency_hz,       e->time_lag_m,        e->phase_lag_rad,     e->bending_angle_rad,
                              e->entrance_angle_rad, e->exit_angle_rad,    e->solenoid_strength};
    return is_finite(numbers, sizeof numbers / sizeof numbers[0]) && is_finite(e->polynom_a, e->max_order + 1) &&
           is_finite(e->polynom_b, e->max_order + 1) && is_finite(e->t1, 6) && is_finite(e->t2, 6) &&
           is_finite(e->r1, 36) && is_finite(e->r2, 36) && is_finite(e->matrix, 36);
}

static void add_drift_leg(struct writer *writer, double length_m) {
    if (length_m != 0)
        add_leg(writer, RM_LEG_DRIFT)->of.length_m = length_m;
}

static void add_shift_leg(struct writer *writer, double const *t) {
    if (t != NULL)
        add_leg(writer, RM_LEG_SHIFT)->of.numbers = t;
}

static void add_linear_leg(struct writer *writer, double const *r) {
    if (r != NULL)
        add_leg(writer, RM_LEG_LINEAR)->of.numbers = r;
}

static double curvature_of(struct rm_element const *e) {
    return e->length_m != 0 ? e->bending_angle_rad / e->length_m : 0;
}

static double edge_psi(struct rm_element const *e, int end, double angle) {
    if (e->fringe_int[end] == 0 || e->full_gap_m == 0)
        return 0;
    return curvature_of(e) * e->full_gap_m * e->fringe_int[end] * (1 + sin(angle) * sin(angle)) / cos(angle);
}

static double angle_of(struct rm_element const *e, int end) {
    return end == 0 ? e->entrance_angle_rad : e->exit_angle_rad;
}

/** Methods beyond the three are the first, as in AT; 0 is the first without fringe field. */
static void add_edge_leg(struct writer *writer, struct rm_element const *e, int end) {
    double const angle = angle_of(e, end), h = curvature_of(e);
    uint32_t const method = e->fringe_bend[end] == 2 || e->fringe_bend[end] == 3 ? e->fringe_bend[end] : 1;
    double const fringe = e->fringe_bend[end] == 0 ? 0 : edge_psi(e, end, angle);
    if (h == 0 || (angle == 0 && fringe == 0 && method != 3))
        return;
    add_leg(writer, RM_LEG_EDGE)->of.edge =
        (struct rm_leg_edge){h, angle, fringe, h * tan(angle), end == 0 ? 1 : -1, method};
}

static void quadrupole_fringe(struct writer *writer, struct rm_element const *e, int end) {
    if (e->fringe_quad[end] == 0 || e->max_order < 1 || e->polynom_b[1] == 0)
        return;
    double const *const integrals = e->fringe_quad[end] == 2 ? e->fringe_integrals : NULL;
    add_leg(writer, RM_LEG_QUADRUPOLE_FRINGE)->of.fringe =
        (struct rm_leg_quadrupole_fringe){e->polynom_b[1], end == 0 ? 1 : -1, integrals};
}

/** Coefficients above `max_order` do not exist; a lattice's polynoms always have two, so that order 1 can be read. */
static struct rm_leg_multipole leg_multipole_of(struct rm_element const *e, bool with_kicks) {
    static double const none[2] = {0, 0};
    struct rm_leg_multipole made = {.length_m = e->length_m, .curvature = curvature_of(e), .slices = e->steps};
    made.a = e->max_order >= 1 ? e->polynom_a : none;
    made.b = e->max_order >= 1 ? e->polynom_b : none;
    made.a0 = e->polynom_a[0] + (with_kicks ? sin(e->kick_angle_rad[1]) / e->length_m : 0);
    made.b0 = e->polynom_b[0] - (with_kicks ? sin(e->kick_angle_rad[0]) / e->length_m : 0);
    made.order = e->max_order >= 1 ? e->max_order : 1;
    while (made.order > 1 && made.a[made.order] == 0 && made.b[made.order] == 0)
        --made.order;
    made.radiates = e->radiation != RM_RADIATION_NONE;
    return made;
}

static void add_magnet_legs(struct writer *writer, struct rm_element const *e) {
    add_edge_leg(writer, e, 0);
    quadrupole_fringe(writer, e, 0);
    if (e->length_m != 0)
        add_leg(writer, RM_LEG_MULTIPOLE)->of.multipole = leg_multipole_of(e, true);
    quadrupole_fringe(writer, e, 1);
    add_edge_leg(writer, e, 1);
}

static void straight_magnet(struct writer *writer, struct rm_element const *e) {
    quadrupole_fringe(writer, e, 0);
    if (e->length_m != 0) {
        struct rm_leg *const body = add_leg(writer, RM_LEG_MULTIPOLE);
        body->of.multipole = leg_multipole_of(e, true);
        body->of.multipole.curvature = 0;
    }
    quadrupole_fringe(writer, e, 1);
}

static void e2_edge(struct writer *writer, struct rm_element const *e, int end) {
    double const angle = angle_of(e, end), pole = end == 0 ? e->curvature_1 : e->curvature_2;
    double const k = e->max_order >= 1 ? e->polynom_b[1] : 0;
    add_leg(writer, RM_LEG_E2_EDGE)->of.e2_edge =
        (struct rm_leg_e2_edge){curvature_of(e), angle, edge_psi(e, end, angle), pole, k, end == 0 ? 1 : -1};
}

static void e2_magnet(struct writer *writer, struct rm_element const *e) {
    e2_edge(writer, e, 0);
    if (e->length_m != 0)
        add_leg(writer, RM_LEG_E2_BODY)->of.multipole = leg_multipole_of(e, false);
    e2_edge(writer, e, 1);
}

static void add_lens_leg(struct writer *writer, struct rm_element const *e, enum rm_leg_kind kind) {
    double const k = e->max_order >= 1 && e->polynom_b != NULL ? e->polynom_b[1] : 0;
    bool const solenoid = kind == RM_LEG_SOLENOID;
    if ((solenoid && e->solenoid_strength == 0) || (kind == RM_LEG_FOCUS && k == 0)) {
        add_drift_leg(writer, e->length_m);
        return;
    }
    add_leg(writer, kind)->of.lens = (struct rm_leg_lens){.length_m = e->length_m,
                                                          .curvature = kind == RM_LEG_SECTOR ? curvature_of(e) : 0,
                                                          .strength = solenoid ? e->solenoid_strength : k};
}

/** The field is that of the chord, with the bending in it; the horizontal edges are in the rotations of the faces. */
static void straight_bend(struct writer *writer, struct rm_element const *e) {
    double const angle = e->bending_angle_rad, h = curvature_of(e);
    if (e->length_m == 0)
        return;
    struct rm_element chord = *e;
    chord.length_m = angle != 0 ? 2 / h * sin(angle / 2) : e->length_m;
    struct rm_leg_straight_bend made = {.multipole = leg_multipole_of(&chord, true),
                                        .reference_x_m = e->reference_x_m,
                                        .reference_ct_m = e->reference_ct_m};
    made.multipole.curvature = 0;
    made.multipole.b0 += h;
    double const local = h + made.multipole.b[1] * e->reference_x_m;
    for (int end = 0; end < 2; ++end) {
        double const face = angle_of(e, end), fringe = h != 0 ? edge_psi(e, end, face) * local / h : 0;
        made.edge[end] = (struct rm_leg_edge){local, face, fringe, 0, end == 0 ? 1 : -1, 1};
    }
    add_leg(writer, RM_LEG_STRAIGHT_BEND)->of.straight_bend = made;
}

/** AT's radiating pass counts slices by truncation, and is always of fourth order. */
static void add_wiggler_leg(struct writer *writer, struct rm_element const *e) {
    struct rm_wiggler const *const w = e->wiggler;
    double const gamma = gamma_of(&writer->route->twin->lattice->info), momentum = sqrt(gamma * gamma - 1);
    double const per_tesla = light_m_s / electron_mass_ev / momentum, periods = e->length_m / w->period_m;
    bool const radiates = e->radiation != RM_RADIATION_NONE;
    add_leg(writer, RM_LEG_WIGGLER)->of.wiggler = (struct rm_leg_wiggler){
        .wiggler = w,
        .length_m = e->length_m,
        .slice_m = w->period_m / w->steps_per_period,
        .potential = per_tesla * w->peak_field_t * w->period_m / (2 * M_PI),
        .field = per_tesla * w->peak_field_t,
        .slices = radiates ? (uint32_t)(w->steps_per_period * periods) : w->steps_per_period * (uint32_t)round(periods),
        .parts = radiates || w->method == 4 ? 3 : 1,
        .radiates = radiates};
}

static void add_cavity_leg(struct writer *writer, struct rm_element const *e, double rf_offset_hz, double energy_ev) {
    add_leg(writer, RM_LEG_CAVITY)->of.cavity = (struct rm_leg_cavity){
        e->length_m, e->voltage_v / energy_ev, e->frequency_hz + rf_offset_hz, e->time_lag_m, e->phase_lag_rad};
    writer->route->cavity = writer->route->cavity || e->voltage_v != 0;
}

/** What an element does between its displacements; false: there is no derivative of this pass here. */
static bool add_inner_part(struct writer *writer, struct rm_element const *e, struct rm_route_changes const *changes,
                           double energy_ev) {
    switch (e->pass) {
    case RM_PASS_IDENTITY:
    case RM_PASS_APERTURE:
        return true;
    case RM_PASS_DRIFT:
        add_drift_leg(writer, e->length_m);
        return true;
    case RM_PASS_EXACT_DRIFT:
        add_leg(writer, RM_LEG_EXACT_DRIFT)->of.length_m = e->length_m;
        return true;
    case RM_PASS_STR_MPOLE:
        straight_magnet(writer, e);
        return true;
    case RM_PASS_BND_MPOLE:
        add_magnet_legs(writer, e);
        return true;
    case RM_PASS_BND_MPOLE_E2:
        e2_magnet(writer, e);
        return true;
    case RM_PASS_QUAD_LINEAR:
        add_lens_leg(writer, e, RM_LEG_FOCUS);
        return true;
    case RM_PASS_BEND_LINEAR:
        add_edge_leg(writer, e, 0);
        add_lens_leg(writer, e, RM_LEG_SECTOR);
        add_edge_leg(writer, e, 1);
        return true;
    case RM_PASS_BND_STR_MPOLE:
        straight_bend(writer, e);
        return true;
    case RM_PASS_GWIG:
        add_wiggler_leg(writer, e);
        return true;
    case RM_PASS_SOLENOID_LINEAR:
        add_lens_leg(writer, e, RM_LEG_SOLENOID);
        return true;
    case RM_PASS_CORRECTOR:
        add_leg(writer, RM_LEG_CORRECTOR)->of.corrector =
            (struct rm_leg_corrector){e->length_m, {e->kick_angle_rad[0], e->kick_angle_rad[1]}};
        return true;
    case RM_PASS_THIN_MPOLE: {
        struct rm_leg *const thin = add_leg(writer, RM_LEG_THIN_MULTIPOLE);
        thin->of.multipole = leg_multipole_of(e, false);
        thin->of.multipole.curvature = e->bending_angle_rad;
        return true;
    }
    case RM_PASS_RF_CAVITY:
        add_cavity_leg(writer, e, changes->rf_offset_hz, energy_ev);
        return true;
    case RM_PASS_MATRIX66:
        add_linear_leg(writer, e->matrix);
        return true;
    default:
        return false;
    }
}

static enum rm_code add_element_legs(struct writer *writer, struct rm_element const *e,
                                     struct rm_route_changes const *changes, struct rm_error *error) {
    double const energy_ev = writer->route->twin->lattice->info.energy_ev;
    if (!strengths_are_finite(e))
        return rm_fail(error, RM_E_CONFIG, "element %u (%s) has a strength that is not a finite number; set it anew",
                       writer->element, e->name);
    add_shift_leg(writer, e->t1);
    add_linear_leg(writer, e->r1);
    if (!add_inner_part(writer, e, changes, energy_ev))
        return rm_fail(error, RM_E_CONFIG, "element %u (%s): %s has no derivative here; use another pass for optics",
                       writer->element, e->name, rm_pass_name(e->pass, e->radiation));
    add_linear_leg(writer, e->r2);
    add_shift_leg(writer, e->t2);
    writer->route->radiates = writer->route->radiates || e->radiation != RM_RADIATION_NONE;
    return RM_OK;
}

static enum rm_code check_points(uint32_t const *refpts, uint32_t refpt_count, uint32_t count, struct rm_error *error) {
    for (uint32_t i = 0; i < refpt_count; ++i)
        if (refpts[i] > count || (i != 0 && refpts[i] < refpts[i - 1]))
            return rm_fail(error, RM_E_ARGUMENT,
                           "refpts[%u] is %u; points ascend and are at most %u, the end of the lattice", i, refpts[i],
                           count);
    return RM_OK;
}

static enum rm_code write_legs(struct rm_route *route, struct rm_route_changes const *changes, uint32_t const *refpts,
                               uint32_t refpt_count, struct rm_error *error) {
    struct rm_twin const *const twin = route->twin;
    struct writer writer = {.route = route};
    uint32_t next = 0;
    for (uint32_t i = 0; i <= twin->count; ++i) {
        writer.element = i;
        if (writer.points == 0)
            writer.point = next;
        while (next < refpt_count && refpts[next] == i) {
            ++writer.points;
            ++next;
        }
        if (writer.points != 0 && (i == twin->count || twin->elements[i].pass == RM_PASS_IDENTITY))
            add_leg(&writer, RM_LEG_NOTHING);
        if (i == twin->count)
            break;
        bool const changed = changes->instead != NULL && changes->at == i;
        enum rm_code const code =
            add_element_legs(&writer, changed ? changes->instead : &twin->elements[i], changes, error);
        if (code != RM_OK)
            return code;
        if (writer.points != 0) /* it had no leg to look before */
            add_leg(&writer, RM_LEG_NOTHING);
    }
    return RM_OK;
}

static struct rm_route empty_route(struct rm_twin const *twin) {
    double const gamma = gamma_of(&twin->lattice->info), gamma_3 = gamma * gamma * gamma;
    return (struct rm_route){.twin = twin,
                             .loss_per_kick = 2.0 / 3 * electron_radius_m * gamma_3,
                             .diffusion_per_kick = 55 / (24 * sqrt(3)) * electron_radius_m * hbar_c_ev_m /
                                                   electron_mass_ev * gamma_3 * gamma * gamma};
}

enum rm_code rm_route_element(struct rm_twin const *twin, uint32_t index, struct rm_element const *as,
                              double rf_offset_hz, struct rm_leg legs[RM_ROUTE_ELEMENT_LEGS], struct rm_route *route,
                              struct rm_error *error) {
    struct rm_route_changes const changes = {.rf_offset_hz = rf_offset_hz};
    struct writer writer = {.route = route, .element = index};
    *route = empty_route(twin);
    route->legs = legs;
    return add_element_legs(&writer, as, &changes, error);
}

enum rm_code rm_route_make(struct rm_twin const *twin, struct rm_route_changes const *changes, uint32_t const *refpts,
                           uint32_t refpt_count, struct rm_route *route, struct rm_error *error) {
    static struct rm_route_changes const none = {0};
    *route = empty_route(twin);
    enum rm_code code = check_points(refpts, refpt_count, twin->count, error);
    if (code != RM_OK)
        return code;
    if (!(twin->lattice->info.energy_ev > 0))
        return rm_fail(error, RM_E_CONFIG, "the lattice's energy is %g eV; it must be above 0",
                       twin->lattice->info.energy_ev);
    route->legs = malloc(((size_t)twin->count + 1) * RM_ROUTE_ELEMENT_LEGS * sizeof *route->legs);
    if (route->legs == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the optics of %u elements; free some memory", twin->count);
    code = write_legs(route, changes != NULL ? changes : &none, refpts, refpt_count, error);
    if (code != RM_OK)
        rm_route_free(route);
    return code;
}

void rm_route_free(struct rm_route *route) {
    free(route->legs);
    route->legs = NULL;
}
