// SPDX-License-Identifier: Apache-2.0
/** Steps of magnets: their edges, fringes and bodies. */
#include <math.h>
#include <stddef.h>

#include "../lattice_parts.h"
#include "plan_parts.h"

/** Lengths of drifts and kicks in a slice. */
static void forest_ruth(double slice_m, double drift[2], double kick[2]) {
    double const root = 1.25992104989487316477; /* ∛2 */
    double const outer = 1 / (2 - root);
    drift[0] = slice_m * (outer / 2);
    drift[1] = slice_m * (0.5 - outer / 2);
    kick[0] = slice_m * outer;
    kick[1] = slice_m * (1 - 2 * outer);
}

/** Of a field with the kick angles in it, and without what is 0 at its top. */
struct field {
    double *a, *b;
    uint32_t order;
    bool normal;
};

/** Order at least `least`; a and b NULL without memory. */
static struct field magnet_field_of(struct rm_planner *planner, struct rm_element const *element, double length_m,
                                    uint32_t least) {
    uint32_t const given = element->max_order, order = given > least ? given : least;
    struct field field = {.a = rm_planner_room(planner, (order + 1) * sizeof(double)),
                          .b = rm_planner_room(planner, (order + 1) * sizeof(double)),
                          .order = order,
                          .normal = true};
    if (field.a == NULL || field.b == NULL)
        return (struct field){0};
    for (uint32_t n = 0; n <= order; ++n) {
        field.a[n] = element->polynom_a != NULL && n <= given ? element->polynom_a[n] : 0;
        field.b[n] = element->polynom_b != NULL && n <= given ? element->polynom_b[n] : 0;
    }
    if (length_m != 0) {
        field.b[0] -= sin(element->kick_angle_rad[0]) / length_m;
        field.a[0] += sin(element->kick_angle_rad[1]) / length_m;
    }
    while (field.order > least && field.a[field.order] == 0 && field.b[field.order] == 0)
        --field.order;
    for (uint32_t n = 0; n <= field.order; ++n)
        field.normal = field.normal && field.a[n] == 0;
    return field;
}

static double const *scale_orders(struct rm_planner *planner, double const *numbers, uint32_t order, double by) {
    double *const made = rm_planner_copy(planner, numbers, (order + 1) * sizeof *made);
    for (uint32_t n = 0; made != NULL && n <= order; ++n)
        made[n] *= by;
    return made;
}

/** End 0 is the entrance, 1 the exit. */
static struct rm_edge edge_of(double inverse_rho, double angle, double fringe_int, double full_gap, uint32_t method,
                              unsigned end) {
    double const s = sin(angle), c = cos(angle);
    bool const soft = fringe_int != 0 && full_gap != 0 && method != 0;
    struct rm_edge edge = {.fx = inverse_rho * tan(angle),
                           .inverse_rho = inverse_rho,
                           .angle = angle,
                           .correction = soft ? inverse_rho * full_gap * fringe_int * (1 + s * s) / c : 0,
                           .sign = end == 0 ? 1 : -1,
                           .method = method};
    edge.fy = edge.fx;
    return edge;
}

static void plan_edge(struct rm_planner *planner, struct rm_element const *element, unsigned end, uint32_t method) {
    double const angle = end == 0 ? element->entrance_angle_rad : element->exit_angle_rad;
    struct rm_edge const made = edge_of(element->bending_angle_rad / element->length_m, angle, element->fringe_int[end],
                                        element->full_gap_m, method, end);
    bool const varies = made.correction != 0 || method == 2 || method == 3;
    if (varies && made.inverse_rho != 0)
        rm_planner_add(planner, RM_STEP_EDGE_FRINGE, &made, sizeof made);
    else if (made.fx != 0)
        rm_planner_add(planner, RM_STEP_EDGE, &made, sizeof made);
}

/** One of the soft linear parts of a quadrupole's end from its five fringe integrals, x and y: elegant's, as AT has
 * them. At the entrance the map is run through backwards. */
static void soft_fringe(struct rm_planner *planner, double k1, double const integral[5], bool first, bool entrance) {
    double const k2 = k1 * k1;
    double blocks[8];
    for (unsigned plane = 0; plane < 2; ++plane) {
        double const k = plane == 0 ? k1 : -k1;
        double const product = k2 * integral[0] * integral[2] / 2;
        double const j1 = first ? k * integral[1] - 2 * k2 * integral[3] / 3 - product : k * integral[1] + product;
        double const j2 = k * integral[2];
        double const j3 = first ? k2 * (integral[2] + integral[4] + integral[0] * integral[1])
                                : k2 * (integral[4] - integral[0] * integral[1]);
        double const stretch = exp(j1), shrink = (1 + j2 * j3) / stretch;
        double *const block = blocks + 4 * (size_t)plane;
        block[0] = entrance ? shrink : stretch;
        block[1] = j2 / stretch;
        block[2] = stretch * j3;
        block[3] = entrance ? stretch : shrink;
    }
    rm_planner_add(planner, RM_STEP_BLOCKS, blocks, sizeof blocks);
}

static void quad_fringe(struct rm_planner *planner, struct rm_element const *element, unsigned end) {
    double const k1 = element->polynom_b != NULL && element->max_order >= 1 ? element->polynom_b[1] : 0;
    if (element->fringe_quad[end] == 0 || k1 == 0)
        return;
    double const strength = (end == 0 ? k1 : -k1) / 12;
    double const *const minus = element->fringe_integrals; /* inside the magnet; then outside */
    bool const soft = element->fringe_quad[end] == 2 && minus != NULL;
    if (soft)
        soft_fringe(planner, k1, end == 0 ? minus + 5 : minus, end != 0, end == 0);
    rm_planner_add(planner, RM_STEP_QUAD_FRINGE, &strength, sizeof strength);
    if (soft)
        soft_fringe(planner, k1, end == 0 ? minus : minus + 5, end == 0, end == 0);
}

static void magnet_body(struct rm_planner *planner, struct rm_element const *element) {
    if (element->length_m == 0)
        return;
    struct field const field = magnet_field_of(planner, element, element->length_m, 1);
    if (field.a == NULL)
        return;
    struct rm_magnet magnet = {
        .curvature = element->pass == RM_PASS_BND_MPOLE ? element->bending_angle_rad / element->length_m : 0,
        .steps = element->steps,
        .order = field.order,
        .normal = field.normal,
        .a = field.a,
        .b = field.b,
        .slice_m = element->length_m / element->steps,
        .loss = 2.0 / 3.0 * RM_ELECTRON_RADIUS_M * pow(planner->gamma, 3),
        .gamma = planner->gamma,
    };
    forest_ruth(magnet.slice_m, magnet.drift, magnet.kick);
    for (unsigned which = 0; which < 2; ++which) {
        magnet.kick_a[which] = scale_orders(planner, field.a, field.order, magnet.kick[which]);
        magnet.kick_b[which] = scale_orders(planner, field.b, field.order, magnet.kick[which]);
    }
    enum rm_step_kind const kinds[] = {[RM_RADIATION_NONE] = RM_STEP_MAGNET,
                                       [RM_RADIATION_CLASSICAL] = RM_STEP_MAGNET_RADIATING,
                                       [RM_RADIATION_QUANTUM] = RM_STEP_MAGNET_QUANTUM};
    struct rm_track_step *const step = rm_planner_add(planner, kinds[element->radiation], &magnet, sizeof magnet);
    rm_planner_steer_sine(planner, step, element->kick_angle_rad, element->length_m);
}

void rm_plan_magnet(struct rm_planner *planner, struct rm_element const *element) {
    bool const bend = element->pass == RM_PASS_BND_MPOLE && element->length_m != 0;
    if (bend)
        plan_edge(planner, element, 0, element->fringe_bend[0]);
    quad_fringe(planner, element, 0);
    magnet_body(planner, element);
    quad_fringe(planner, element, 1);
    if (bend)
        plan_edge(planner, element, 1, element->fringe_bend[1]);
}

/** K. L. Brown's second order map of a face with pole curvature h1 (SLAC-75), as X. Huang has it in AT. */
static void e2_edge(struct rm_planner *planner, struct rm_element const *element, double k1, unsigned end) {
    double const h = element->bending_angle_rad / element->length_m;
    double const angle = end == 0 ? element->entrance_angle_rad : element->exit_angle_rad;
    double const pole = end == 0 ? element->curvature_1 : element->curvature_2;
    double const t = tan(angle), secant = 1 / cos(angle), s2 = secant * secant;
    double const psi = h * element->full_gap_m * element->fringe_int[end] * (1 + sin(angle) * sin(angle)) * secant;
    double const tb = tan(angle - psi);
    double const sign = end == 0 ? -1 : 1;
    double const poles = 0.5 * h * pole * s2 * secant;
    struct rm_e2_edge data = {.fx = h * t,
                              .fy = h * tb,
                              .t111 = sign * 0.5 * h * t * t,
                              .t133 = -sign * 0.5 * h * s2,
                              .t211 = poles + k1 * t,
                              .t233 = -poles - k1 * t,
                              .t413 = -poles - k1 * t};
    data.t212 = -data.t111;
    data.t234 = data.t414 = data.t111;
    data.t313 = -data.t234;
    data.t423 = -data.t133;
    if (end == 0) {
        data.t233 += 0.5 * h * h * t * (tb * tb + s2);
    } else {
        data.t211 -= 0.5 * h * h * t * t * t;
        data.t233 -= 0.5 * h * h * t * tb * tb;
        data.t413 += 0.5 * h * h * t * s2;
    }
    rm_planner_add(planner, RM_STEP_E2_EDGE, &data, sizeof data);
}

void rm_plan_e2(struct rm_planner *planner, struct rm_element const *element) {
    if (element->length_m == 0)
        return;
    struct field const field = magnet_field_of(planner, element, element->length_m, 1);
    if (field.b == NULL)
        return;
    double const electrons_gamma = planner->twin->lattice->info.energy_ev / RM_ELECTRON_REST_EV;
    struct rm_e2 data = {
        .curvature = element->bending_angle_rad / element->length_m,
        .steps = element->steps,
        .order = field.order,
        .b = field.b,
        .k1 = field.b[1],
        .k2 = field.order >= 2 ? field.b[2] : 0,
        .loss = 2.0 / 3.0 * RM_ELECTRON_RADIUS_M * pow(electrons_gamma, 3),
        .radiating = element->radiation != RM_RADIATION_NONE,
    };
    forest_ruth(element->length_m / element->steps, data.drift, data.kick);
    e2_edge(planner, element, data.k1, 0);
    rm_planner_add(planner, RM_STEP_E2, &data, sizeof data);
    e2_edge(planner, element, data.k1, 1);
}

void rm_plan_straight_bend(struct rm_planner *planner, struct rm_element const *element) {
    if (element->length_m == 0)
        return;
    double const angle = element->bending_angle_rad, h = angle / element->length_m;
    double const chord = angle != 0 ? 2 / h * sin(angle / 2) : element->length_m;
    struct field const field = magnet_field_of(planner, element, chord, 1);
    if (field.a == NULL)
        return;
    field.b[0] += h;
    struct rm_straight_bend data = {
        .steps = element->steps,
        .order = field.order,
        .a = field.a,
        .b = field.b,
        .entrance_angle = element->entrance_angle_rad,
        .exit_angle = element->exit_angle_rad,
        .x_m = element->reference_x_m,
        .ct_m = element->reference_ct_m,
    };
    double const local = h + field.b[1] * element->reference_x_m;
    data.entrance = edge_of(local, data.entrance_angle, element->fringe_int[0], element->full_gap_m, 1, 0);
    data.exit = edge_of(local, data.exit_angle, element->fringe_int[1], element->full_gap_m, 1, 1);
    data.entrance.fx = data.exit.fx = 0; /* the rotation has it */
    forest_ruth(chord / element->steps, data.drift, data.kick);
    rm_planner_add(planner, RM_STEP_STRAIGHT_BEND, &data, sizeof data);
}

void rm_plan_quad_linear(struct rm_planner *planner, struct rm_element const *element) {
    double const k1 = element->polynom_b != NULL && element->max_order >= 1 ? element->polynom_b[1] : 0;
    struct rm_linear const data = {.length_m = element->length_m, .gradient = k1};
    rm_planner_add(planner, k1 != 0 ? RM_STEP_QUAD_LINEAR : RM_STEP_DRIFT, &data, sizeof data);
}

void rm_plan_bend_linear(struct rm_planner *planner, struct rm_element const *element) {
    if (element->length_m == 0)
        return;
    double const k1 = element->polynom_b != NULL && element->max_order >= 1 ? element->polynom_b[1] : 0;
    struct rm_linear const data = {element->length_m, k1, element->bending_angle_rad / element->length_m};
    plan_edge(planner, element, 0, 1);
    rm_planner_add(planner, RM_STEP_BEND_LINEAR, &data, sizeof data);
    plan_edge(planner, element, 1, 1);
}

static void plan_wiggler_waves(struct rm_wiggler_wave *to, struct rm_wiggler const *wiggler,
                               struct rm_wiggler_harmonic const *from, uint32_t count, bool vertical_field,
                               double scale) {
    double const kw = 2 * M_PI / wiggler->period_m;
    for (uint32_t i = 0; i < count; ++i)
        to[i] = (struct rm_wiggler_wave){
            .amplitude_t = wiggler->peak_field_t * from[i].amplitude,
            .vector_potential = from[i].amplitude * scale / from[i].kz,
            .kx = from[i].kx * kw,
            .ky = from[i].ky * kw,
            .kz = from[i].kz * kw,
            .phase_rad = from[i].phase_rad,
            .vertical_field = vertical_field,
        };
}

void rm_plan_wiggler(struct rm_planner *planner, struct rm_element const *element) {
    struct rm_wiggler const *const wiggler = element->wiggler;
    double const momentum = sqrt(planner->gamma * planner->gamma - 1);
    double const rigidity = momentum * RM_ELECTRON_REST_EV / 299792458.0; /* T m */
    double const potential =
        299792458.0 / RM_ELECTRON_REST_EV / (2 * M_PI) * wiggler->period_m * wiggler->peak_field_t / momentum;
    uint32_t const count = wiggler->by_count + wiggler->bx_count;
    struct rm_wiggler_wave *const wave = rm_planner_room(planner, (count + 1) * sizeof *wave);
    if (wave == NULL)
        return;
    plan_wiggler_waves(wave, wiggler, wiggler->by, wiggler->by_count, true, potential);
    plan_wiggler_waves(wave + wiggler->by_count, wiggler, wiggler->bx, wiggler->bx_count, false, potential);
    double const periods = element->length_m / wiggler->period_m;
    struct rm_wiggler_plan data = {
        .slice_m = wiggler->period_m / wiggler->steps_per_period,
        .radiating = element->radiation != RM_RADIATION_NONE,
        .waves = count,
        .wave = wave,
        .loss = 2.0 / 3.0 * RM_ELECTRON_RADIUS_M * pow(planner->gamma, 3) / (rigidity * rigidity),
        .length_m = element->length_m,
    };
    /* AT's radiating pass counts slices by truncation, and is always of 4th order. */
    data.slices = data.radiating ? (uint32_t)(wiggler->steps_per_period * periods)
                                 : wiggler->steps_per_period * (uint32_t)round(periods);
    double drift[2], kick[2];
    forest_ruth(data.slice_m, drift, kick);
    data.parts = data.radiating || wiggler->method == 4 ? 3 : 1;
    data.part[0] = data.parts == 3 ? kick[0] : data.slice_m;
    data.part[1] = kick[1];
    data.part[2] = kick[0];
    rm_planner_add(planner, RM_STEP_WIGGLER, &data, sizeof data);
}
