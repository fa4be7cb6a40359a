// SPDX-License-Identifier: Apache-2.0
/** Linear optics by normal modes, and how it changes with momentum by differences between exact optics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "lattice_parts.h"
#include "optics/closed.h"
#include "optics/modes.h"
#include "optics/points.h"
#include "optics/small.h"

static double const usual_step = 3e-6;
static double const light_m_s = 2.99792458e8;

struct optics_call {
    struct rm_twin const *twin;
    uint32_t const *refpts;
    uint32_t count;
};

static enum rm_code close(struct optics_call const *call, struct rm_orbit_options const *orbit,
                          struct rm_closed *closed, struct rm_modes *modes, struct rm_error *error) {
    struct rm_closed_request const request = {.orbit = orbit, .refpts = call->refpts, .refpt_count = call->count};
    enum rm_code const code = rm_closed_find(call->twin, &request, closed, error);
    double m[36];
    if (code != RM_OK)
        return code;
    rm_closed_matrix(&closed->turn, m);
    return rm_modes_find(m, closed->is_6d ? 3 : 2, modes, error);
}

static void summarise(struct rm_twin const *twin, struct rm_closed const *closed, struct rm_modes const *modes,
                      struct rm_optics_summary *ring) {
    memset(ring, 0, sizeof *ring);
    ring->modes = (uint32_t)modes->count;
    for (int k = 0; k < modes->count; ++k) {
        ring->tune[k] = modes->tune[k];
        if (!closed->is_6d || !closed->radiates)
            continue;
        ring->damping_rate[k] = modes->damping_rate[k];
        ring->damping_time_s[k] = twin->lattice->s_m[twin->count] / light_m_s / modes->damping_rate[k];
    }
}

/** The phase grows along the ring; where it falls, a turn is missing. */
static void unwrap(struct rm_optics *optics, uint32_t count, int modes) {
    double const jump = -1e-3;
    for (int k = 0; k < modes; ++k) {
        double before = 0, turns = 0;
        for (uint32_t i = 0; i < count; ++i) {
            double const phase = optics[i].mu_rad[k];
            if (phase - before < jump)
                turns += 2 * M_PI;
            before = phase;
            optics[i].mu_rad[k] = phase + turns;
        }
    }
}

static double tune_change(double up, double down) {
    double const change = up - down;
    return change - round(change);
}

/** Optics at two momenta about the first, and what they say of it. */
struct off_momentum {
    struct rm_closed closed;
    struct rm_modes modes;
    double change[6]; /**< of the orbit at the start, per δ or Hz */
};

static enum rm_code off_momentum(struct optics_call const *call, struct rm_optics_options const *options,
                                 struct rm_closed const *middle, double const change[6], double amount,
                                 struct off_momentum *off, struct rm_error *error) {
    double guess[6];
    for (int i = 0; i < 6; ++i)
        guess[i] = middle->z[i] + change[i] * amount;
    struct rm_orbit_options orbit = options->orbit;
    orbit.guess = guess;
    if (middle->is_6d)
        orbit.rf_offset_hz += amount;
    else
        orbit.dp += amount;
    struct optics_call const wanted = {call->twin, call->refpts, options->w ? call->count : 0};
    enum rm_code code = close(&wanted, &orbit, &off->closed, &off->modes, error);
    if (code == RM_OK)
        code = rm_closed_dispersion(&off->closed, off->change, error);
    return code;
}

/** Twiss functions at a point, in one frame. */
static void twiss(struct rm_modes const *modes, struct rm_tangent const *point, double beta[2], double alpha[2]) {
    double m[36], a[36], r[3][36];
    rm_closed_matrix(point, m);
    rm_small_multiply(m, modes->a, a);
    rm_modes_matrices(a, modes->count, r);
    for (int k = 0; k < 2; ++k) {
        beta[k] = r[k][14 * k];
        alpha[k] = -r[k][14 * k + 6];
    }
}

/** Of the orbit at a point, per δ at the start. */
static void dispersion_at(struct rm_tangent const *point, struct off_momentum const *off, double dispersion[4]) {
    for (int i = 0; i < 4; ++i) {
        dispersion[i] = off->closed.is_6d ? point->j[i][RM_LANE_FREQUENCY] : 0;
        for (int k = 0; k < 6; ++k)
            dispersion[i] += point->j[i][k] * off->change[k];
        dispersion[i] /= off->change[RM_DELTA];
    }
}

static void chromatic(struct off_momentum const *up, struct off_momentum const *down, double apart, uint32_t i,
                      struct rm_optics *optics) {
    double beta[2][2], alpha[2][2], dispersion[2][4];
    twiss(&up->modes, &up->closed.points[i], beta[0], alpha[0]);
    twiss(&down->modes, &down->closed.points[i], beta[1], alpha[1]);
    dispersion_at(&up->closed.points[i], up, dispersion[0]);
    dispersion_at(&down->closed.points[i], down, dispersion[1]);
    for (int k = 0; k < 2; ++k) {
        double const mean_beta = 0.5 * (beta[0][k] + beta[1][k]), mean_alpha = 0.5 * (alpha[0][k] + alpha[1][k]);
        optics->dbeta[k] = (beta[0][k] - beta[1][k]) / apart;
        optics->dalpha[k] = (alpha[0][k] - alpha[1][k]) / apart;
        double const b = optics->dbeta[k] / mean_beta, a = optics->dalpha[k] - mean_alpha * b;
        optics->w[k] = hypot(a, b);
    }
    for (int k = 0; k < 4; ++k)
        optics->ddispersion[k] = (dispersion[0][k] - dispersion[1][k]) / apart;
}

static enum rm_code with_momentum(struct optics_call const *call, struct rm_optics_options const *options,
                                  struct rm_closed const *middle, struct rm_optics_summary *ring,
                                  struct rm_optics *optics, struct rm_error *error) {
    double const step = options->dp_step != 0 ? options->dp_step : usual_step;
    double change[6];
    struct off_momentum off[2] = {0};
    enum rm_code code = rm_closed_dispersion(middle, change, error);
    double const amount = middle->is_6d ? 0.5 * step / change[RM_DELTA] : 0.5 * step;
    for (int side = 0; side < 2 && code == RM_OK; ++side)
        code = off_momentum(call, options, middle, change, side == 0 ? amount : -amount, &off[side], error);
    if (code == RM_OK) {
        double const apart = off[0].closed.z[RM_DELTA] - off[1].closed.z[RM_DELTA];
        for (uint32_t k = 0; k < ring->modes; ++k)
            ring->chromaticity[k] = tune_change(off[0].modes.tune[k], off[1].modes.tune[k]) / apart;
        for (uint32_t i = 0; options->w && i < call->count; ++i)
            chromatic(&off[0], &off[1], apart, i, &optics[i]);
    }
    rm_closed_free(&off[0].closed);
    rm_closed_free(&off[1].closed);
    return code;
}

enum rm_code rm_twin_linopt6(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics *optics, struct rm_error *error) {
    static struct rm_optics_options const none = {0};
    struct rm_optics_options const *const wanted = options != NULL ? options : &none;
    struct optics_call const call = {twin, refpts, optics != NULL ? refpt_count : 0};
    struct rm_optics_summary spare;
    struct rm_closed closed;
    struct rm_modes modes;
    double dispersion[6];
    ring = ring != NULL ? ring : &spare;
    enum rm_code code = close(&call, &wanted->orbit, &closed, &modes, error);
    if (code == RM_OK)
        code = rm_closed_dispersion(&closed, dispersion, error);
    if (code == RM_OK) {
        summarise(twin, &closed, &modes, ring);
        rm_points_fill(twin, &closed, &modes, dispersion, refpts, call.count, optics);
        unwrap(optics, call.count, modes.count);
        if (wanted->chromaticity || wanted->w)
            code = with_momentum(&call, wanted, &closed, ring, optics, error);
    }
    rm_closed_free(&closed);
    return code;
}
