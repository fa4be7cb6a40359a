// SPDX-License-Identifier: Apache-2.0
/** Linear optics by normal modes, and how it changes with momentum by differences between exact optics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"
#include "linopt6.h"
#include "points.h"
#include "sides.h"

static double const light_m_s = 2.99792458e8;

static enum rm_code linopt6_close_orbit(struct rm_linopt6_call const *call, struct rm_closed *closed,
                                        struct rm_modes *modes, struct rm_error *error) {
    struct rm_closed_request const request = {
        .orbit = &call->options->orbit, .refpts = call->refpts, .refpt_count = call->count};
    enum rm_code const code = rm_closed_find(call->twin, &request, closed, error);
    double m[36];
    if (code != RM_OK)
        return code;
    rm_closed_matrix(&closed->turn, m);
    return rm_modes_find(m, closed->is_6d ? 3 : 2, modes, error);
}

static void linopt6_summarise(struct rm_twin const *twin, struct rm_closed const *closed, struct rm_modes const *modes,
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
static void unwrap_optics6(struct rm_optics *optics, uint32_t count, int modes) {
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

/** Derivatives at one point from the optics on both sides, [0] above. */
static void differentiate_optics(struct rm_optics const *const side[2], double apart, struct rm_optics *o,
                                 double (*dr)[36]) {
    struct rm_sides_twiss twiss;
    for (int i = 0; i < 2; ++i) {
        memcpy(twiss.beta[i], side[i]->beta_m, sizeof twiss.beta[i]);
        memcpy(twiss.alpha[i], side[i]->alpha, sizeof twiss.alpha[i]);
    }
    rm_sides_functions(&twiss, apart, o->w, o->dalpha, o->dbeta);
    for (int k = 0; k < 3; ++k)
        o->dmu_rad[k] = rm_sides_phase(side[0]->mu_rad[k], side[1]->mu_rad[k], apart);
    for (int k = 0; k < 3 && dr != NULL; ++k)
        for (int i = 0; i < 36; ++i)
            dr[k][i] = (side[0]->r[k][i] - side[1]->r[k][i]) / apart;
}

static enum rm_code chromatic_functions(struct rm_linopt6_call const *call, struct rm_side const sides[2], double apart,
                                        double (*dr)[3][36], struct rm_optics *optics, struct rm_error *error) {
    size_t const count = call->count;
    struct rm_optics *const seen = malloc(2 * (count != 0 ? count : 1) * sizeof *seen);
    if (seen == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for optics at %u points; ask for fewer", call->count);
    for (int i = 0; i < 2; ++i)
        rm_points_fill(call->twin, &sides[i].closed, &sides[i].modes, sides[i].change, call->refpts, call->count,
                       seen + (size_t)i * count);
    for (uint32_t i = 0; i < call->count; ++i) {
        struct rm_optics const *const both[2] = {&seen[i], &seen[count + i]};
        differentiate_optics(both, apart, &optics[i], dr != NULL ? dr[i] : NULL);
        rm_sides_dispersion(sides, apart, i, optics[i].ddispersion);
    }
    free(seen);
    return RM_OK;
}

static enum rm_code with_momentum(struct rm_linopt6_call const *call, struct rm_optics_options const *options,
                                  struct rm_closed const *middle, struct rm_optics_summary *ring,
                                  struct rm_optics *optics, struct rm_error *error) {
    struct rm_side sides[2];
    double apart;
    enum rm_code code = rm_sides_find(call->twin, options, call->refpts, call->count, middle, sides, &apart, error);
    if (code == RM_OK) {
        rm_sides_chromaticity(sides, apart, ring->chromaticity);
        if (options->w)
            code = chromatic_functions(call, sides, apart, options->dr, optics, error);
    }
    rm_sides_free(sides);
    return code;
}

enum rm_code rm_linopt6_fill(struct rm_linopt6_call const *call, struct rm_closed const *closed,
                             struct rm_modes const *modes, struct rm_optics_summary *ring, struct rm_optics *optics,
                             struct rm_error *error) {
    struct rm_optics_options const *const wanted = call->options;
    double dispersion[6];
    enum rm_code const code = rm_closed_dispersion(closed, dispersion, error);
    if (code != RM_OK)
        return code;
    linopt6_summarise(call->twin, closed, modes, ring);
    rm_points_fill(call->twin, closed, modes, dispersion, call->refpts, call->count, optics);
    unwrap_optics6(optics, call->count, modes->count);
    return wanted->chromaticity || wanted->w ? with_momentum(call, wanted, closed, ring, optics, error) : RM_OK;
}

enum rm_code rm_twin_linopt6(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics *optics, struct rm_error *error) {
    struct rm_linopt6_call const call = {twin, options != NULL ? options : &rm_optics_plain, refpts,
                                         optics != NULL ? refpt_count : 0};
    struct rm_optics_summary spare;
    struct rm_closed closed;
    struct rm_modes modes;
    enum rm_code code = linopt6_close_orbit(&call, &closed, &modes, error);
    if (code == RM_OK)
        code = rm_linopt6_fill(&call, &closed, &modes, ring != NULL ? ring : &spare, optics, error);
    rm_closed_free(&closed);
    return code;
}
