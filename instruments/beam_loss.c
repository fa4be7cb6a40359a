// SPDX-License-Identifier: Apache-2.0
#include "beam_loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/** A wall is near within so many σ: beyond are 3e-7 of a bunch. */
static double const NEAR = 5;
static double const DELTA_NEAR = 0.005; /**< below this the limits allow for the energy */
static double const LEAST_SHARE = 0.05; /**< of what is beyond, per turn */
static double const STRAY_SHARE = 0.4;  /**< of injected charge that no bucket takes, per turn */
static double const NOTHING = 1e-9;     /**< of a bunch */
static double const GONE = 1e-4;        /**< of the full current: a beam that has less is none */
static double const GROWN = 1.02;       /**< A² or δ², since it was looked at */

/** While nothing more is cut away it is looked at so often. */
enum { QUIET_TURNS = 16 };

/** Where the beam is worst off. */
struct worst {
    double z;
    uint32_t place;
    /** Share of what is beyond that a turn takes. */
    double share;
};

static double share_beyond(double z) { return 0.5 * erfc(z * M_SQRT1_2); }

static void make_walls(struct rm_beam_loss *loss) {
    for (uint32_t i = 0; i < loss->count; ++i)
        for (int plane = 0; plane < 2; ++plane) {
            struct rm_loss_aperture const *at = &loss->aperture[i];
            double const energetic = at->dispersion_m[plane] * loss->config.energy_spread;
            loss->wall[i].root[plane] = sqrt(at->beta_m[plane]);
            loss->wall[i].size_m[plane] =
                sqrt(loss->config.emittance_m[plane] * at->beta_m[plane] + energetic * energetic);
        }
}

enum rm_code rm_beam_loss_make(struct rm_beam_loss_config const *config, struct rm_loss_aperture const *aperture,
                               uint32_t count, struct rm_beam_loss *loss, struct rm_error *error) {
    *loss = (struct rm_beam_loss){.config = *config, .count = count};
    if (count == 0)
        return rm_fail(error, RM_E_CONFIG, "a beam that can be lost needs an aperture, found none");
    loss->aperture = malloc(count * sizeof *loss->aperture);
    loss->wall = calloc(count, sizeof *loss->wall);
    if (loss->aperture == NULL || loss->wall == NULL) {
        rm_beam_loss_free(loss);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u apertures", count);
    }
    memcpy(loss->aperture, aperture, count * sizeof *aperture);
    make_walls(loss);
    rm_beam_loss_fill(loss, config->current_ma);
    rm_beam_loss_set_orbit(loss, NULL, NULL, 0);
    return RM_OK;
}

void rm_beam_loss_free(struct rm_beam_loss *loss) {
    free(loss->aperture);
    free(loss->wall);
    *loss = (struct rm_beam_loss){0};
}

void rm_beam_loss_fill(struct rm_beam_loss *loss, double ma) {
    loss->state = (struct rm_beam_loss_state){.current_ma = ma, .lost_turn = RM_TURN_NONE};
}

/* ── where the walls are ── */

/** From the closed orbit of this momentum to the nearer wall. */
static double gap_at(struct rm_beam_loss const *loss, uint32_t i, int plane, double delta) {
    struct rm_loss_aperture const *at = &loss->aperture[i];
    double const place = loss->wall[i].orbit_m[plane] + at->dispersion_m[plane] * delta - at->centre_m[plane];
    return at->half_m[plane] - fabs(place);
}

/** The amplitude at which the first wall is near, in this plane. */
static double smallest_acceptance(struct rm_beam_loss const *loss, int plane) {
    double smallest = INFINITY;
    for (uint32_t i = 0; i < loss->count; ++i) {
        struct rm_loss_aperture const *at = &loss->aperture[i];
        double const energetic = fabs(at->dispersion_m[plane]) * DELTA_NEAR;
        double const room = gap_at(loss, i, plane, 0) - energetic - NEAR * loss->wall[i].size_m[plane];
        smallest = fmin(smallest, room / loss->wall[i].root[plane]);
    }
    return smallest;
}

void rm_beam_loss_set_orbit(struct rm_beam_loss *loss, float const *x_m, float const *y_m, uint64_t turns) {
    struct rm_beam_loss_config const *config = &loss->config;
    for (uint32_t i = 0; x_m != NULL && i < loss->count; ++i) {
        loss->wall[i].orbit_m[0] = (double)x_m[i];
        loss->wall[i].orbit_m[1] = (double)y_m[i];
    }
    for (int plane = 0; plane < 2; ++plane) {
        double const acceptance = smallest_acceptance(loss, plane);
        loss->limit[plane] = acceptance > 0 ? acceptance * acceptance : -1; /* it is near even at rest */
    }
    loss->limit_delta = DELTA_NEAR;
    if (config->momentum_aperture > 0)
        loss->limit_delta = fmin(DELTA_NEAR, fmax(0, config->momentum_aperture - NEAR * config->energy_spread));
    if (config->lifetime_turns > 0)
        loss->state.current_ma *= exp(-(double)turns / config->lifetime_turns);
    double const left = config->damping_turns > 0 ? exp(-(double)turns / config->damping_turns) : 1;
    loss->state.cut *= left;
    if (loss->state.lost_turn == RM_TURN_NONE)
        loss->state.lost_share *= left;
}

/* ── what is lost ── */

static double share_of_phases(double gap, double reach) {
    if (gap >= reach)
        return LEAST_SHARE;
    return fmax(LEAST_SHARE, acos(fmax(-1, gap / reach)) / M_PI);
}

static uint32_t most_dispersive(struct rm_beam_loss const *loss) {
    uint32_t most = 0;
    double ratio = 0;
    for (uint32_t i = 0; i < loss->count; ++i) {
        double const here = fabs(loss->aperture[i].dispersion_m[0]) / loss->aperture[i].half_m[0];
        most = here > ratio ? i : most;
        ratio = fmax(ratio, here);
    }
    return most;
}

static struct worst find_worst(struct rm_beam_loss const *loss, double const amplitude_m[2], double delta) {
    struct worst worst = {.z = INFINITY};
    for (uint32_t i = 0; i < loss->count; ++i)
        for (int plane = 0; plane < 2; ++plane) {
            double const size = loss->wall[i].size_m[plane], gap = gap_at(loss, i, plane, delta);
            double const head = loss->wall[i].root[plane] * amplitude_m[plane];
            double const z = size > 0 ? (gap - head) / size : (gap - head) * INFINITY;
            if (z < worst.z)
                worst = (struct worst){z, i, share_of_phases(gap, head + size)};
        }
    double const spread = loss->config.energy_spread, most = loss->config.momentum_aperture;
    double const z = most > 0 && spread > 0 ? (most - fabs(delta)) / spread : INFINITY;
    if (z < worst.z)
        worst = (struct worst){z, most_dispersive(loss), 1};
    return worst;
}

static void count_lost(struct rm_beam_loss *loss, rm_turn turn, double share) {
    struct rm_beam_loss_state *state = &loss->state;
    state->lost_ma += share * state->current_ma;
    state->current_ma -= share * state->current_ma;
    state->lost_share = 1 - (1 - state->lost_share) * (1 - share);
    if (state->lost_turn == RM_TURN_NONE && state->lost_share > RM_LOSS_TRIPS_AT)
        state->lost_turn = turn;
    if (state->current_ma >= GONE * loss->config.current_ma)
        return;
    state->lost_ma += state->current_ma;
    state->current_ma = 0;
}

/** What a turn takes of the beam that is beyond the walls. */
static void cut_beam(struct rm_beam_loss *loss, rm_turn turn, struct worst const *worst) {
    struct rm_beam_loss_state *state = &loss->state;
    double const more = share_beyond(worst->z) - state->cut;
    state->quiet_until = turn + QUIET_TURNS;
    if (!(more > NOTHING) || state->current_ma == 0)
        return;
    double const taken = worst->share * more;
    count_lost(loss, turn, fmin(1, taken / (1 - state->cut)));
    state->cut = fmin(state->cut + taken, 1 - NOTHING);
    state->place = worst->place;
    state->quiet_until = turn;
}

static void lose_stray(struct rm_beam_loss *loss) {
    struct rm_beam_loss_state *state = &loss->state;
    double const lost =
        state->stray_ma < GONE * loss->config.current_ma ? state->stray_ma : STRAY_SHARE * state->stray_ma;
    state->stray_lost_ma = lost;
    state->stray_ma -= lost;
}

void rm_beam_loss_look(struct rm_beam_loss *loss, rm_turn turn, double const amplitude2_m[2], double delta) {
    struct rm_beam_loss_state *state = &loss->state;
    state->lost_ma = 0;
    lose_stray(loss);
    double const now[3] = {amplitude2_m[0], amplitude2_m[1], delta * delta};
    bool grown = false;
    for (int k = 0; k < 3; ++k)
        grown = grown || now[k] > GROWN * state->seen[k];
    if ((turn < state->quiet_until && !grown) || state->current_ma == 0)
        return;
    memcpy(state->seen, now, sizeof now);
    double const amplitude_m[2] = {sqrt(amplitude2_m[0]), sqrt(amplitude2_m[1])};
    struct worst const worst = find_worst(loss, amplitude_m, delta);
    cut_beam(loss, turn, &worst);
}

double rm_beam_loss_inject(struct rm_beam_loss *loss, double ma, double const amplitude_m[2], bool misfires) {
    struct rm_beam_loss_state *state = &loss->state;
    struct worst const worst = find_worst(loss, amplitude_m, 0);
    double const captured = misfires ? 0 : ma * (1 - share_beyond(worst.z));
    state->stray_ma += ma - captured;
    state->stray_place = worst.place;
    state->current_ma += captured;
    if (captured > 0) {
        state->lost_share = 0;
        state->lost_turn = RM_TURN_NONE;
    }
    return captured;
}

void rm_beam_loss_all(struct rm_beam_loss *loss, rm_turn turn) {
    loss->state.place = most_dispersive(loss);
    count_lost(loss, turn, 1);
}
