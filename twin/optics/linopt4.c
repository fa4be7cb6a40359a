// SPDX-License-Identifier: Apache-2.0
/** rm_twin_linopt2 and rm_twin_linopt4: the one-turn matrix as two modes of two dimensions each. */
#include <math.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"
#include "sides.h"

/** A 2 × 2 matrix, row by row. */
struct two {
    double m[4];
};

/** The decomposition at the start: one-turn matrices of the modes, their Twiss functions, and the coupling. */
struct coupled_optics {
    struct two a, b, c;
    double gamma;
    double beta[2], alpha[2], tune[2];
};

static struct two two_by_two_product(struct two a, struct two b) {
    return (struct two){{a.m[0] * b.m[0] + a.m[1] * b.m[2], a.m[0] * b.m[1] + a.m[1] * b.m[3],
                         a.m[2] * b.m[0] + a.m[3] * b.m[2], a.m[2] * b.m[1] + a.m[3] * b.m[3]}};
}

static struct two two_by_two_sum(double p, struct two a, double q, struct two b) {
    struct two made;
    for (int i = 0; i < 4; ++i)
        made.m[i] = p * a.m[i] + q * b.m[i];
    return made;
}

/** S aᵀ Sᵀ: the inverse of a matrix of determinant 1. */
static struct two two_by_two_adjoint(struct two a) { return (struct two){{a.m[3], -a.m[1], -a.m[2], a.m[0]}}; }

static double two_by_two_determinant(struct two a) { return a.m[0] * a.m[3] - a.m[1] * a.m[2]; }

static struct two two_by_two_block(struct rm_tangent const *t, int row, int column) {
    return (struct two){{t->j[row][column], t->j[row][column + 1], t->j[row + 1][column], t->j[row + 1][column + 1]}};
}

static enum rm_code close_mode(struct two m, int plane, struct coupled_optics *coupling, struct rm_error *error) {
    double const half = (m.m[0] - m.m[3]) / 2, square = -m.m[1] * m.m[2] - half * half;
    double const cosine = 0.5 * (m.m[0] + m.m[3]);
    if (!(square > 0))
        return rm_fail(
            error, RM_E_CONFIG,
            "the ring is unstable in the %s plane: half the trace of its one-turn matrix is %.6g; change the "
            "strengths",
            plane == 0 ? "horizontal" : "vertical", cosine);
    double const sine = copysign(sqrt(square), m.m[1]), turns = atan2(sine, cosine) / (2 * M_PI);
    coupling->alpha[plane] = half / sine;
    coupling->beta[plane] = m.m[1] / sine;
    coupling->tune[plane] = turns < 0 ? turns + 1 : turns;
    return RM_OK;
}

static enum rm_code decompose_coupling(struct rm_tangent const *turn, bool coupled, struct coupled_optics *made,
                                       struct rm_error *error) {
    struct two const m = two_by_two_block(turn, 0, 0), n = two_by_two_block(turn, 2, 2),
                     upper = two_by_two_block(turn, 0, 2), lower = two_by_two_block(turn, 2, 0);
    struct two const h = two_by_two_sum(1, upper, 1, two_by_two_adjoint(lower));
    double const det_h = two_by_two_determinant(h), t = m.m[0] + m.m[3] - n.m[0] - n.m[3], whole = t * t + 4 * det_h;
    *made = (struct coupled_optics){.a = m, .b = n, .gamma = 1};
    if (coupled && det_h != 0) {
        if (!(whole > 0))
            return rm_fail(error, RM_E_CONFIG,
                           "the ring is unstable: a sum resonance couples its planes; change the "
                           "tunes");
        double const g2 = 0.5 * (1 + sqrt(t * t / whole)), g = sqrt(g2);
        struct two const c = two_by_two_sum(-copysign(1, t) / (g * sqrt(whole)), h, 0, h), back = two_by_two_adjoint(c);
        made->gamma = g;
        made->c = c;
        struct two const cross_a = two_by_two_sum(1, two_by_two_product(upper, back), 1, two_by_two_product(c, lower));
        struct two const cross_b = two_by_two_sum(1, two_by_two_product(back, upper), 1, two_by_two_product(lower, c));
        made->a = two_by_two_sum(1, two_by_two_sum(g2, m, -g, cross_a), 1,
                                 two_by_two_product(c, two_by_two_product(n, back)));
        made->b =
            two_by_two_sum(1, two_by_two_sum(g2, n, g, cross_b), 1, two_by_two_product(back, two_by_two_product(m, c)));
    } else if (coupled) {
        made->c = two_by_two_sum(-1, h, 0, h);
    }
    enum rm_code const code = close_mode(made->a, 0, made, error);
    return code != RM_OK ? code : close_mode(made->b, 1, made, error);
}

static void twiss_of(struct two m, double beta0, double alpha0, double *beta, double *alpha, double *mu) {
    double const b = m.m[1], a = m.m[0] * beta0 - b * alpha0;
    *beta = (a * a + b * b) / beta0;
    *alpha = -(a * (m.m[2] * beta0 - m.m[3] * alpha0) + b * m.m[3]) / beta0;
    *mu = atan2(b, a);
}

static struct two turn_normal_mode(struct two e, struct two a) {
    return two_by_two_product(two_by_two_product(e, a), two_by_two_adjoint(e));
}

static enum rm_code fail_flipped_modes(struct rm_twin const *twin, uint32_t at, struct rm_error *error) {
    return rm_fail(error, RM_E_CONFIG, "the modes of the coupled ring change places at point %u (%s); use linopt6", at,
                   at < twin->count ? twin->elements[at].name : "end");
}

/** Carries the modes to a point. False: they have changed places there, for which this decomposition has no form. */
static bool propagate_coupling(struct coupled_optics const *from, struct rm_tangent const *point, bool coupled,
                               struct rm_optics4 *o) {
    struct two const m = two_by_two_block(point, 0, 0), n = two_by_two_block(point, 2, 2),
                     upper = two_by_two_block(point, 0, 2), lower = two_by_two_block(point, 2, 0);
    struct two e = m, f = n, c = {{0}};
    double gamma = 1;
    if (coupled) {
        f = two_by_two_sum(1, two_by_two_product(lower, from->c), from->gamma, n);
        double const square = two_by_two_determinant(f);
        if (!(square > 0))
            return false;
        gamma = sqrt(square);
        e = two_by_two_sum(from->gamma / gamma, m, -1 / gamma, two_by_two_product(upper, two_by_two_adjoint(from->c)));
        f = two_by_two_sum(1 / gamma, f, 0, f);
        c = two_by_two_product(two_by_two_sum(1, two_by_two_product(m, from->c), from->gamma, upper),
                               two_by_two_adjoint(f));
    }
    o->gamma = gamma;
    twiss_of(e, from->beta[0], from->alpha[0], &o->beta_m[0], &o->alpha[0], &o->mu_rad[0]);
    twiss_of(f, from->beta[1], from->alpha[1], &o->beta_m[1], &o->alpha[1], &o->mu_rad[1]);
    memcpy(o->a, turn_normal_mode(e, from->a).m, sizeof o->a);
    memcpy(o->b, turn_normal_mode(f, from->b).m, sizeof o->b);
    memcpy(o->c, c.m, sizeof o->c);
    return true;
}

static void fill_optics4_point(struct rm_twin const *twin, struct rm_closed const *closed, double const dispersion[6],
                               uint32_t const *refpts, uint32_t i, struct rm_optics4 *o) {
    struct rm_tangent const *const point = &closed->points[i];
    o->s_m = twin->lattice->s_m[refpts[i]];
    memcpy(o->closed_orbit, point->z, sizeof o->closed_orbit);
    for (int row = 0; row < 4; ++row) {
        memcpy(o->m + 4 * row, &point->j[row], 4 * sizeof *o->m);
        o->dispersion[row] = 0;
        for (int k = 0; k < 5; ++k)
            o->dispersion[row] += point->j[row][k] * dispersion[k];
    }
}

static void unwrap_optics4(struct rm_optics4 *optics, uint32_t count) {
    double const jump = -1e-3;
    for (int k = 0; k < 2; ++k) {
        double before = 0, turns = 0;
        for (uint32_t i = 0; i < count; ++i) {
            double const phase = optics[i].mu_rad[k];
            turns += phase - before < jump ? 2 * M_PI : 0;
            before = phase;
            optics[i].mu_rad[k] = phase + turns;
        }
    }
}

struct optics4_call {
    struct rm_twin const *twin;
    struct rm_optics_options const *options;
    uint32_t const *refpts;
    uint32_t count;
    bool coupled;
};

static enum rm_code with_momentum(struct optics4_call const *call, struct rm_closed const *middle,
                                  struct rm_optics_summary *ring, struct rm_optics4 *optics, struct rm_error *error) {
    struct rm_side sides[2];
    struct coupled_optics modes[2];
    double apart;
    enum rm_code code =
        rm_sides_find(call->twin, call->options, call->refpts, call->count, middle, sides, &apart, error);
    for (int side = 0; side < 2 && code == RM_OK; ++side)
        code = decompose_coupling(&sides[side].closed.turn, call->coupled, &modes[side], error);
    if (code == RM_OK)
        rm_sides_chromaticity(sides, apart, ring->chromaticity);
    for (uint32_t i = 0; code == RM_OK && call->options->w && i < call->count; ++i) {
        struct rm_sides_twiss twiss;
        double mu[2][2];
        for (int side = 0; side < 2; ++side) {
            struct rm_optics4 seen = {0};
            if (!propagate_coupling(&modes[side], &sides[side].closed.points[i], call->coupled, &seen))
                code = fail_flipped_modes(call->twin, call->refpts[i], error);
            memcpy(twiss.beta[side], seen.beta_m, sizeof seen.beta_m);
            memcpy(twiss.alpha[side], seen.alpha, sizeof seen.alpha);
            memcpy(mu[side], seen.mu_rad, sizeof seen.mu_rad);
        }
        rm_sides_functions(&twiss, apart, optics[i].w, optics[i].dalpha, optics[i].dbeta);
        for (int k = 0; k < 2; ++k)
            optics[i].dmu_rad[k] = rm_sides_phase(mu[0][k], mu[1][k], apart);
        rm_sides_dispersion(sides, apart, i, optics[i].ddispersion);
    }
    rm_sides_free(sides);
    return code;
}

static enum rm_code analyse_optics4(struct optics4_call const *call, struct rm_closed const *closed,
                                    struct rm_optics_summary *ring, struct rm_optics4 *optics, struct rm_error *error) {
    struct coupled_optics start;
    double dispersion[6];
    if (closed->is_6d)
        return rm_fail(error, RM_E_ARGUMENT, "linopt2 and linopt4 are for 4D rings: rm_twin_disable_6d, or linopt6");
    enum rm_code code = rm_closed_dispersion(closed, dispersion, error);
    if (code == RM_OK)
        code = decompose_coupling(&closed->turn, call->coupled, &start, error);
    if (code != RM_OK)
        return code;
    memset(ring, 0, sizeof *ring);
    ring->modes = 2;
    memcpy(ring->tune, start.tune, sizeof start.tune);
    for (uint32_t i = 0; i < call->count; ++i) {
        memset(&optics[i], 0, sizeof optics[i]);
        fill_optics4_point(call->twin, closed, dispersion, call->refpts, i, &optics[i]);
        if (!propagate_coupling(&start, &closed->points[i], call->coupled, &optics[i]))
            return fail_flipped_modes(call->twin, call->refpts[i], error);
    }
    unwrap_optics4(optics, call->count);
    if (!call->options->chromaticity && !call->options->w)
        return RM_OK;
    return with_momentum(call, closed, ring, optics, error);
}

static enum rm_code linopt4_run(struct rm_twin const *twin, struct rm_optics_options const *options,
                                uint32_t const *refpts, uint32_t refpt_count, bool coupled,
                                struct rm_optics_summary *ring, struct rm_optics4 *optics, struct rm_error *error) {
    struct optics4_call const call = {.twin = twin,
                                      .options = options != NULL ? options : &rm_optics_plain,
                                      .refpts = refpts,
                                      .count = optics != NULL ? refpt_count : 0,
                                      .coupled = coupled};
    struct rm_closed_request const request = {
        .orbit = &call.options->orbit, .refpts = refpts, .refpt_count = call.count};
    struct rm_optics_summary spare;
    struct rm_closed closed;
    enum rm_code code = rm_closed_find(twin, &request, &closed, error);
    if (code == RM_OK)
        code = analyse_optics4(&call, &closed, ring != NULL ? ring : &spare, optics, error);
    rm_closed_free(&closed);
    return code;
}

enum rm_code rm_twin_linopt2(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics4 *optics, struct rm_error *error) {
    return linopt4_run(twin, options, refpts, refpt_count, false, ring, optics, error);
}

enum rm_code rm_twin_linopt4(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics4 *optics, struct rm_error *error) {
    return linopt4_run(twin, options, refpts, refpt_count, true, ring, optics, error);
}
