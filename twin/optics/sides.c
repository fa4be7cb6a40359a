// SPDX-License-Identifier: Apache-2.0
/** Differences between exact optics: their error is of second order in the step, and rounding is all their noise. */
#include "sides.h"

#include <math.h>

static double const usual_step = 3e-6;

struct rm_optics_options const rm_optics_plain = {0};

static enum rm_code find_side_orbits(struct rm_twin const *twin, struct rm_optics_options const *options,
                                     uint32_t const *refpts, uint32_t refpt_count, struct rm_closed const *middle,
                                     double const change[6], double amount, struct rm_side *side,
                                     struct rm_error *error) {
    double guess[6], m[36];
    for (int i = 0; i < 6; ++i)
        guess[i] = middle->z[i] + change[i] * amount;
    struct rm_orbit_options orbit = options->orbit;
    orbit.guess = guess;
    *(middle->is_6d ? &orbit.rf_offset_hz : &orbit.dp) += amount;
    struct rm_closed_request const request = {
        .orbit = &orbit, .refpts = refpts, .refpt_count = options->w ? refpt_count : 0};
    enum rm_code code = rm_closed_find(twin, &request, &side->closed, error);
    if (code != RM_OK)
        return code;
    rm_closed_matrix(&side->closed.turn, m);
    code = rm_modes_find(m, middle->is_6d ? 3 : 2, &side->modes, error);
    return code != RM_OK ? code : rm_closed_dispersion(&side->closed, side->change, error);
}

enum rm_code rm_sides_find(struct rm_twin const *twin, struct rm_optics_options const *options, uint32_t const *refpts,
                           uint32_t refpt_count, struct rm_closed const *middle, struct rm_side sides[2], double *apart,
                           struct rm_error *error) {
    double const step = options->dp_step != 0 ? options->dp_step : usual_step;
    double change[6];
    sides[0] = sides[1] = (struct rm_side){0};
    enum rm_code code = rm_closed_dispersion(middle, change, error);
    double const amount = middle->is_6d ? 0.5 * step / change[RM_DELTA] : 0.5 * step;
    for (int i = 0; i < 2 && code == RM_OK; ++i)
        code = find_side_orbits(twin, options, refpts, refpt_count, middle, change, i == 0 ? amount : -amount,
                                &sides[i], error);
    *apart = sides[0].closed.z[RM_DELTA] - sides[1].closed.z[RM_DELTA];
    return code;
}

void rm_sides_free(struct rm_side sides[2]) {
    rm_closed_free(&sides[0].closed);
    rm_closed_free(&sides[1].closed);
}

void rm_sides_chromaticity(struct rm_side const sides[2], double apart, double chromaticity[3]) {
    for (int k = 0; k < sides[0].modes.count; ++k) {
        double const change = sides[0].modes.tune[k] - sides[1].modes.tune[k];
        chromaticity[k] = (change - round(change)) / apart;
    }
}

/** Of the orbit, per δ at the start. */
static void dispersion_at(struct rm_side const *side, uint32_t point, double dispersion[4]) {
    struct rm_tangent const *const t = &side->closed.points[point];
    for (int i = 0; i < 4; ++i) {
        dispersion[i] = side->closed.is_6d ? t->j[i][RM_LANE_FREQUENCY] : 0;
        for (int k = 0; k < 6; ++k)
            dispersion[i] += t->j[i][k] * side->change[k];
        dispersion[i] /= side->change[RM_DELTA];
    }
}

void rm_sides_dispersion(struct rm_side const sides[2], double apart, uint32_t i, double change[4]) {
    double up[4], down[4];
    dispersion_at(&sides[0], i, up);
    dispersion_at(&sides[1], i, down);
    for (int k = 0; k < 4; ++k)
        change[k] = (up[k] - down[k]) / apart;
}

void rm_sides_functions(struct rm_sides_twiss const *twiss, double apart, double w[2], double dalpha[2],
                        double dbeta[2]) {
    for (int k = 0; k < 2; ++k) {
        double const beta = 0.5 * (twiss->beta[0][k] + twiss->beta[1][k]);
        double const alpha = 0.5 * (twiss->alpha[0][k] + twiss->alpha[1][k]);
        dbeta[k] = (twiss->beta[0][k] - twiss->beta[1][k]) / apart;
        dalpha[k] = (twiss->alpha[0][k] - twiss->alpha[1][k]) / apart;
        w[k] = hypot(dalpha[k] - alpha / beta * dbeta[k], dbeta[k] / beta);
    }
}

double rm_sides_phase(double above_rad, double below_rad, double apart) {
    return remainder(above_rad - below_rad, 2 * M_PI) / apart;
}
