// SPDX-License-Identifier: Apache-2.0
#include "motion_optics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine_parts.h"

/** δ of the orbits beside; what is of third order there changes the chromaticity by some thousandths. */
static double const ASIDE = 3e-4;
static double const UNKNOWN_DAMPING = 1e-4; /**< per turn, of a lattice that does not radiate */

/* ── the points ── */

static int by_element(void const *a, void const *b) {
    uint32_t const x = *(uint32_t const *)a, y = *(uint32_t const *)b;
    return (x > y) - (x < y);
}

bool rm_optics_points_make(struct rm_machine *machine) {
    struct rm_optics_points *points = &machine->points;
    uint32_t const most = 1 + machine->bpm_count + machine->magnet_count;
    points->element = calloc(most, sizeof *points->element);
    points->optics = calloc(most, sizeof *points->optics);
    points->change = calloc(machine->magnet_count + 1, sizeof *points->change);
    points->winding_change = calloc(machine->winding_count + 1, sizeof *points->winding_change);
    for (int i = 0; i < 2; ++i)
        points->side[i].orbit = calloc(machine->bpm_count, sizeof *points->side[i].orbit);
    if (points->element == NULL || points->optics == NULL || points->change == NULL || points->winding_change == NULL ||
        points->side[0].orbit == NULL || points->side[1].orbit == NULL)
        return false;
    uint32_t *all = points->element, count = 1;
    for (uint32_t b = 0; b < machine->bpm_count; ++b)
        all[count++] = machine->bpm_element[b];
    for (uint32_t q = 0; q < machine->magnet_count; ++q)
        all[count++] = machine->magnet[q].element;
    qsort(all, count, sizeof *all, by_element);
    for (uint32_t i = 0; i < count; ++i)
        if (points->count == 0 || all[points->count - 1] != all[i])
            all[points->count++] = all[i];
    return true;
}

void rm_optics_points_free(struct rm_optics_points *points) {
    free(points->element);
    free(points->optics);
    free(points->change);
    free(points->winding_change);
    for (int i = 0; i < 2; ++i)
        free(points->side[i].orbit);
}

static struct rm_optics const *optics_at(struct rm_machine const *machine, uint32_t element) {
    struct rm_optics_points const *points = &machine->points;
    uint32_t const *at = bsearch(&element, points->element, points->count, sizeof *at, by_element);
    return &points->optics[at - points->element];
}

/** The ring at a momentum that is off by `delta`: by another frequency of the RF, or in 4D as it is asked for. */
static enum rm_code look_aside(struct rm_machine *machine, struct rm_orbit_options const *orbit, double delta,
                               struct rm_optics_side *side, struct rm_error *error) {
    struct rm_optics_options options = {.orbit = *orbit};
    struct rm_optics_summary ring;
    double start[RM_COORDINATES];
    if (rm_twin_is_6d(machine->twin))
        options.orbit.rf_offset_hz += delta * machine->rf_hz_per_delta;
    else
        options.orbit.dp += delta;
    enum rm_code code = rm_twin_find_orbit(machine->twin, &options.orbit, start, machine->bpm_element,
                                           machine->bpm_count, side->orbit, error);
    options.orbit.guess = start;
    if (code == RM_OK)
        code = rm_twin_linopt6(machine->twin, &options, NULL, 0, &ring, NULL, error);
    if (code != RM_OK)
        return code;
    side->delta = start[4] - machine->at_start[4];
    memcpy(side->tune, ring.tune, sizeof side->tune);
    return RM_OK;
}

enum rm_code rm_optics_points_look(struct rm_machine *machine, struct rm_orbit_options const *orbit,
                                   struct rm_error *error) {
    struct rm_optics_points *points = &machine->points;
    struct rm_optics_options const options = {.orbit = *orbit};
    enum rm_code code =
        rm_twin_linopt6(machine->twin, &options, points->element, points->count, &points->ring, points->optics, error);
    for (int i = 0; i < 2 && code == RM_OK; ++i)
        code = look_aside(machine, orbit, i == 0 ? -ASIDE : ASIDE, &points->side[i], error);
    return code;
}

/** First and second derivative (the half of it) of what is `low`, `middle` and `high` at three momenta. */
static void differentiate_aside(struct rm_optics_side const side[2], double low, double middle, double high,
                                double *first, double *second) {
    double const before = (middle - low) / -side[0].delta, after = (high - middle) / side[1].delta;
    *second = (after - before) / (side[1].delta - side[0].delta);
    *first = after - *second * side[1].delta;
}

/* ── what follows ── */

bool rm_motion_optics_make(struct rm_machine const *machine, struct rm_motion_optics *found) {
    found->weight = calloc(machine->bpm_count, sizeof *found->weight);
    found->slope = calloc(machine->magnet_count + 1, sizeof *found->slope);
    found->change = calloc(machine->magnet_count + 1, sizeof *found->change);
    return found->weight != NULL && found->slope != NULL && found->change != NULL;
}

void rm_motion_optics_free(struct rm_motion_optics *found) {
    free(found->weight);
    free(found->slope);
    free(found->change);
}

/** Row `row` of M A: what that coordinate shows there of the transverse modes. */
static void shown_at(struct rm_machine const *machine, struct rm_optics const *there, int row, double shown[4]) {
    double const *a = machine->points.optics[0].a;
    for (int c = 0; c < 4; ++c) {
        shown[c] = 0;
        for (int k = 0; k < 6; ++k)
            shown[c] += there->m[6 * row + k] * a[6 * k + c];
    }
}

/** ∫ C², C S and S² along a magnet, of C'' = −K C; K < 0 defocuses. */
static void lens_integrals(double k, double length, double *cc, double *cs, double *ss) {
    double const strength = fabs(k), root = sqrt(strength), phase = 2 * root * length;
    if (phase < 1e-3) {
        *cc = length;
        *cs = length * length / 2;
        *ss = length * length * length / 3;
        return;
    }
    double const twice = (k > 0 ? sin(phase) : sinh(phase)) / (4 * root);
    double const half = k > 0 ? sin(phase / 2) / root : sinh(phase / 2) / root;
    *cc = length / 2 + twice;
    *cs = half * half / 2;
    *ss = (k > 0 ? length / 2 - twice : twice - length / 2) / strength;
}

/** ∫ β ds of a mode in the plane whose coordinates are `row` and row + 1. */
static double beta_integral(double const shown[4], double const slope[4], unsigned mode, double k, double length) {
    double const *w = &shown[2 * mode], *d = &slope[2 * mode];
    double cc, cs, ss;
    lens_integrals(k, length, &cc, &cs, &ss);
    return (w[0] * w[0] + w[1] * w[1]) * cc + 2 * (w[0] * d[0] + w[1] * d[1]) * cs + (d[0] * d[0] + d[1] * d[1]) * ss;
}

static void fill_slope(struct rm_machine const *machine, uint32_t magnet, double slope[2]) {
    struct rm_machine_magnet const *of = &machine->magnet[magnet];
    struct rm_element const *element = rm_lattice_element(machine->lattice, of->element);
    struct rm_optics const *there = optics_at(machine, of->element);
    double const k = of->gradient * (1 + machine->points.change[magnet]);
    double shown[4][4];
    for (int row = 0; row < 4; ++row)
        shown_at(machine, there, row, shown[row]);
    for (unsigned u = 0; u < 2; ++u)
        slope[u] = of->gradient / (4 * M_PI) *
                   (beta_integral(shown[0], shown[1], u, k + of->curvature * of->curvature, element->length_m) -
                    beta_integral(shown[2], shown[3], u, -k, element->length_m));
}

static void fill_weight(struct rm_machine const *machine, uint32_t bpm, double weight[2][RM_SEEN_PARTS]) {
    struct rm_optics const *there = optics_at(machine, machine->bpm_element[bpm]);
    struct rm_optics_side const *side = machine->points.side;
    for (int plane = 0; plane < 2; ++plane) {
        shown_at(machine, there, 2 * plane, weight[plane]);
        differentiate_aside(side, side[0].orbit[bpm][2 * plane], machine->orbit[bpm][2 * plane],
                            side[1].orbit[bpm][2 * plane], &weight[plane][RM_OSCILLATION_DELTA],
                            &weight[plane][RM_OSCILLATION_SQUARE]);
    }
}

static void fill_optics(struct rm_machine const *machine, struct rm_oscillation_optics *optics) {
    struct rm_optics_summary const *ring = &machine->points.ring;
    struct rm_optics_side const *side = machine->points.side;
    double const *a = machine->points.optics[0].a;
    for (int u = 0; u < 2; ++u) {
        optics->tune[u] = ring->tune[u];
        differentiate_aside(side, remainder(side[0].tune[u] - ring->tune[u], 1), 0,
                            remainder(side[1].tune[u] - ring->tune[u], 1), &optics->chromaticity[u],
                            &optics->second_chromaticity[u]);
        optics->damping[u] = ring->damping_rate[u] > 0 ? ring->damping_rate[u] : machine->slow_damping[u];
    }
    for (int row = 0; row < 4; ++row) {
        memcpy(optics->start[row], &a[6 * row], sizeof optics->start[row]);
        optics->dispersion[row] = machine->points.optics[0].dispersion[row];
    }
    optics->orbit_delta = machine->rf_column >= 0 && machine->rf_hz_per_delta != 0
                              ? machine->column_now[machine->rf_column] / machine->rf_hz_per_delta
                              : 0;
}

void rm_motion_optics_fill(struct rm_machine const *machine, struct rm_motion_optics *found) {
    fill_optics(machine, &found->optics);
    for (uint32_t b = 0; b < machine->bpm_count; ++b)
        fill_weight(machine, b, found->weight[b]);
    for (uint32_t q = 0; q < machine->magnet_count; ++q)
        fill_slope(machine, q, found->slope[q]);
    memcpy(found->change, machine->points.change, machine->magnet_count * sizeof *found->change);
}

/* ── the longitudinal plane ── */

enum rm_code rm_machine_find_rf(struct rm_machine *machine, struct rm_error *error) {
    struct rm_ring_parameters ring;
    struct rm_lattice_facts const *facts = rm_lattice_info(machine->lattice);
    bool const is_6d = rm_twin_is_6d(machine->twin);
    enum rm_code const code = rm_twin_ring_parameters(machine->twin, &ring, error);
    for (int u = 0; u < 2; ++u)
        machine->slow_damping[u] =
            code == RM_OK ? 1 / (ring.damping_time_s[u] * ring.revolution_frequency_hz) : UNKNOWN_DAMPING;
    if (!is_6d)
        return RM_OK; /* a lattice without dipoles is none that radiates */
    if (code != RM_OK)
        return code;
    machine->rf_hz_per_delta = ring.slip_factor * facts->harmonic_number * ring.revolution_frequency_hz;
    machine->rf = (struct rm_oscillation_rf){
        .present = true,
        .voltage = ring.voltage_v / facts->energy_ev,
        .loss = ring.energy_loss_ev / facts->energy_ev,
        .synchronous_rad = ring.synchronous_phase_rad,
        .damping = 1 / (ring.damping_time_s[2] * ring.revolution_frequency_hz),
        .fill_turns = machine->config->rf_fill_s * machine->turn_rate_hz,
        .aperture = machine->config->momentum_aperture,
    };
    return RM_OK;
}

void rm_machine_fit_slip(struct rm_machine *machine) {
    double const sine = sin(M_PI * machine->points.ring.tune[2]);
    if (machine->rf.present)
        machine->rf.slip_rad = -4 * sine * sine / (machine->rf.voltage * cos(machine->rf.synchronous_rad));
}
