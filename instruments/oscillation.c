// SPDX-License-Identifier: Apache-2.0
#include "oscillation.h"

#include <math.h>
#include <string.h>

#include "noise.h"

enum { MODES = 2 };

static double const SMALL_RAD = 0.03;

struct rotation {
    double cosine, sine;
};

/** Small angles, which nearly all are, by their series, to 1e-16; without a division, which would take most of a turn. */
static struct rotation rotation_of(double angle) {
    double const s = angle * angle;
    if (fabs(angle) > SMALL_RAD)
        return (struct rotation){cos(angle), sin(angle)};
    return (struct rotation){(1 - s * (1.0 / 2)) + s * s * (1.0 / 24 - s * (1.0 / 720)),
                             angle * ((1 - s * (1.0 / 6)) + s * s * (1.0 / 120 - s * (1.0 / 5040)))};
}

/* ── what follows from optics and settings ── */

static void find_steps(struct rm_oscillation *oscillation) {
    for (int u = 0; u < MODES; ++u) {
        double const angle = 2 * M_PI * (oscillation->optics.tune[u] + oscillation->shift[u]);
        double const size = exp(-oscillation->optics.damping[u]);
        oscillation->step[u][0] = size * cos(angle);
        oscillation->step[u][1] = size * sin(angle);
    }
}

void rm_oscillation_set_optics(struct rm_oscillation *oscillation, struct rm_oscillation_optics const *optics) {
    oscillation->optics = *optics;
    for (int u = 0; u < MODES; ++u) {
        oscillation->noise[u] = oscillation->config.rms[u] * sqrt(-expm1(-2 * optics->damping[u]));
        oscillation->excite[u] = oscillation->config.excitation[u] * -expm1(-optics->damping[u]);
    }
    find_steps(oscillation);
}

void rm_oscillation_set_shift(struct rm_oscillation *oscillation, double const shift[2]) {
    if (shift[0] == oscillation->shift[0] && shift[1] == oscillation->shift[1])
        return;
    memcpy(oscillation->shift, shift, sizeof oscillation->shift);
    find_steps(oscillation);
}

void rm_oscillation_make(struct rm_oscillation *oscillation, struct rm_oscillation_config const *config,
                         struct rm_oscillation_rf const *rf, struct rm_oscillation_optics const *optics) {
    *oscillation = (struct rm_oscillation){
        .config = *config,
        .rf = *rf,
        .drive = {1, 0},
        .state = {.turn = RM_TURN_NONE, .field = {1, 0}, .lost_turn = RM_TURN_NONE},
        .delta_noise = config->delta_rms * sqrt(4 * rf->damping),
        .fill = rf->fill_turns > 0 ? -expm1(-1 / rf->fill_turns) : 1,
        .sine = sin(rf->synchronous_rad),
        .cosine = cos(rf->synchronous_rad),
        .until_kick = config->kick_every_turns,
    };
    rm_oscillation_set_optics(oscillation, optics);
}

/* ── means ── */

uint32_t rm_oscillation_average(struct rm_oscillation *oscillation, uint64_t period) {
    struct rm_oscillation_state *state = &oscillation->state;
    for (uint32_t m = 0; m < state->mean_count; ++m)
        if (state->mean[m].period == period)
            return m;
    if (state->mean_count == RM_OSCILLATION_MEANS_MAX)
        return state->mean_count - 1;
    state->mean[state->mean_count] = (struct rm_oscillation_mean){.period = period, .left = period};
    return state->mean_count++;
}

static void complete_mean(struct rm_oscillation_state *state, struct rm_oscillation_mean *mean) {
    for (int p = 0; p < RM_OSCILLATION_PARTS; ++p) {
        mean->value[p] = (state->sum[p] - mean->from[p]) / (double)mean->period;
        mean->from[p] = state->sum[p];
    }
    mean->left = mean->period;
}

static void add_to_means(struct rm_oscillation_state *state) {
    for (int p = 0; p < RM_OSCILLATION_PARTS; ++p)
        state->sum[p] += state->part[p];
    for (uint32_t m = 0; m < state->mean_count; ++m)
        if (--state->mean[m].left == 0)
            complete_mean(state, &state->mean[m]);
}

/* ── one turn ── */

void rm_oscillation_lose(struct rm_oscillation *oscillation) {
    struct rm_oscillation_state *state = &oscillation->state;
    if (state->lost)
        return;
    memset(state->part, 0, sizeof state->part);
    state->lost = true;
    state->lost_turn = state->turn;
}

void rm_oscillation_refill(struct rm_oscillation *oscillation) { oscillation->state.lost = false; }

/** Change of the tune of a mode with δ, against the δ of the optics. */
static double chromatic_tune(struct rm_oscillation_optics const *optics, int u, double delta) {
    return delta * (optics->chromaticity[u] + delta * optics->second_chromaticity[u]);
}

double rm_oscillation_orbit_tune(struct rm_oscillation const *oscillation, int u, double orbit_delta) {
    struct rm_oscillation_optics const *optics = &oscillation->optics;
    return optics->tune[u] + chromatic_tune(optics, u, orbit_delta - optics->orbit_delta);
}

/** `square` is |a|² of both modes before the turn. */
static void rotate_mode(struct rm_oscillation *oscillation, int u, double const square[2], uint64_t random) {
    double *x = &oscillation->state.part[2 * u], *p = x + 1;
    double const delta = oscillation->state.part[RM_OSCILLATION_DELTA] + oscillation->state.orbit_delta -
                         oscillation->optics.orbit_delta;
    double const tune = chromatic_tune(&oscillation->optics, u, delta);
    double const *detuning = oscillation->config.detuning[u];
    struct rotation const chromatic =
        rotation_of(2 * M_PI * (tune + detuning[0] * square[0] + detuning[1] * square[1]));
    double const cosine = oscillation->step[u][0] * chromatic.cosine - oscillation->step[u][1] * chromatic.sine;
    double const sine = oscillation->step[u][0] * chromatic.sine + oscillation->step[u][1] * chromatic.cosine;
    double const before = *x;
    *x = cosine * before + sine * *p +
         oscillation->noise[u] * (double)rm_noise_normal_of((uint32_t)random, (uint32_t)(random >> 32));
    *p = cosine * *p - sine * before +
         oscillation->noise[u] * (double)rm_noise_normal_of((uint32_t)(random >> 32), (uint32_t)random);
}

/** What drives it grows with the amplitude and stops where that is saturated. */
static void grow_mode(struct rm_oscillation *oscillation, int u) {
    double *x = &oscillation->state.part[2 * u], *p = x + 1;
    double const most = oscillation->config.saturation[u];
    double const full = most > 0 ? (*x * *x + *p * *p) / (most * most) : 0;
    double const factor = 1 + oscillation->growth[u] * fmax(1 - full, -1);
    *x *= factor;
    *p *= factor;
}

/** One kick in the direction in which the beam goes. */
static void excite_mode(struct rm_oscillation *oscillation, int u) {
    double *x = &oscillation->state.part[2 * u], *p = x + 1;
    double const amplitude = sqrt(*x * *x + *p * *p), kick = oscillation->excite[u];
    if (amplitude > 0) {
        *x += kick * *x / amplitude;
        *p += kick * *p / amplitude;
    } else
        *x = kick;
}

static void turn_energy(struct rm_oscillation *oscillation, uint64_t random) {
    struct rm_oscillation_rf const *rf = &oscillation->rf;
    double *delta = &oscillation->state.part[RM_OSCILLATION_DELTA];
    double *phase = &oscillation->state.part[RM_OSCILLATION_PHASE];
    double const *field = oscillation->state.field;
    struct rotation const late = rotation_of(*phase);
    double const sine = oscillation->sine * late.cosine + oscillation->cosine * late.sine;
    double const cosine = oscillation->cosine * late.cosine - oscillation->sine * late.sine;
    *delta += rf->voltage * (field[0] * sine + field[1] * cosine) - rf->loss - 2 * rf->damping * *delta +
              oscillation->delta_noise * (double)rm_noise_normal_of((uint32_t)random, (uint32_t)(random >> 32));
    *phase += rf->slip_rad * *delta;
    oscillation->state.part[RM_OSCILLATION_SQUARE] = *delta * *delta;
    if (rf->aperture > 0 && !(fabs(*delta) <= rf->aperture))
        rm_oscillation_lose(oscillation);
}

static void fill_cavities(struct rm_oscillation *oscillation) {
    for (int i = 0; i < 2; ++i)
        oscillation->state.field[i] += oscillation->fill * (oscillation->drive[i] - oscillation->state.field[i]);
}

void rm_oscillation_normalise(struct rm_oscillation_optics const *optics, double const z[4], unsigned mode,
                              double xp[2]) {
    double const(*a)[4] = (double const(*)[4])optics->start;
    double unit = 0;
    xp[0] = xp[1] = 0;
    for (int row = 0; row < 4; row += 2) {
        xp[0] += z[row] * a[row + 1][2 * mode + 1] - z[row + 1] * a[row][2 * mode + 1];
        xp[1] += a[row][2 * mode] * z[row + 1] - a[row + 1][2 * mode] * z[row];
        unit += a[row][2 * mode] * a[row + 1][2 * mode + 1] - a[row + 1][2 * mode] * a[row][2 * mode + 1];
    }
    xp[0] /= unit;
    xp[1] /= unit;
}

void rm_oscillation_displace(struct rm_oscillation *oscillation, double const at_start[4], double delta,
                             double phase_rad) {
    double *part = oscillation->state.part, z[4], xp[2];
    if (oscillation->state.lost)
        return;
    for (int row = 0; row < 4; ++row)
        z[row] = at_start[row] - oscillation->optics.dispersion[row] * delta;
    for (unsigned u = 0; u < MODES; ++u) {
        rm_oscillation_normalise(&oscillation->optics, z, u, xp);
        part[2 * u] += xp[0];
        part[2 * u + 1] += xp[1];
    }
    part[RM_OSCILLATION_DELTA] += delta;
    part[RM_OSCILLATION_SQUARE] = part[RM_OSCILLATION_DELTA] * part[RM_OSCILLATION_DELTA];
    part[RM_OSCILLATION_PHASE] += phase_rad;
}

void rm_oscillation_move_orbit(struct rm_oscillation *oscillation, double orbit_delta) {
    struct rm_oscillation_state *state = &oscillation->state;
    double *delta = &state->part[RM_OSCILLATION_DELTA];
    if (oscillation->rf.present && !state->lost) {
        *delta -= orbit_delta - state->orbit_delta;
        state->part[RM_OSCILLATION_SQUARE] = *delta * *delta;
    }
    state->orbit_delta = orbit_delta;
}

void rm_oscillation_kick_next(struct rm_oscillation *oscillation, double const at_start[4]) {
    for (int row = 0; row < 4; ++row)
        oscillation->next_kick[row] += at_start[row];
}

/** Turns before 0 are those from which a run is entered; they have no kicks. */
static void kick_when_due(struct rm_oscillation *oscillation) {
    struct rm_oscillation_state const *state = &oscillation->state;
    double *next = oscillation->next_kick;
    if (next[0] != 0 || next[1] != 0 || next[2] != 0 || next[3] != 0) {
        rm_oscillation_displace(oscillation, next, 0, 0);
        memset(next, 0, sizeof oscillation->next_kick);
    }
    if (oscillation->until_kick == 0 || --oscillation->until_kick != 0)
        return;
    oscillation->until_kick = oscillation->config.kick_every_turns;
    if (state->turn <= INT64_MAX)
        rm_oscillation_displace(oscillation, oscillation->config.kick, 0, 0);
}

void rm_oscillation_step(struct rm_oscillation *oscillation) {
    struct rm_oscillation_state *state = &oscillation->state;
    ++state->turn;
    fill_cavities(oscillation);
    if (!state->lost) {
        uint64_t const random = rm_noise_u64(state->turn ^ oscillation->config.seed);
        double const *part = state->part;
        double const square[2] = {
            part[RM_OSCILLATION_X1] * part[RM_OSCILLATION_X1] + part[RM_OSCILLATION_P1] * part[RM_OSCILLATION_P1],
            part[RM_OSCILLATION_X2] * part[RM_OSCILLATION_X2] + part[RM_OSCILLATION_P2] * part[RM_OSCILLATION_P2]};
        rotate_mode(oscillation, 0, square, random);
        rotate_mode(oscillation, 1, square, rm_noise_u64(random));
        for (int u = 0; u < MODES; ++u) {
            if (oscillation->growth[u] != 0)
                grow_mode(oscillation, u);
            if (oscillation->excite[u] > 0)
                excite_mode(oscillation, u);
        }
        if (oscillation->rf.present)
            turn_energy(oscillation, rm_noise_u64(~random));
    }
    kick_when_due(oscillation);
    add_to_means(state);
}

/* ── entering ── */

/** Turns until each mean is complete, and until the next regular kick, after `turn`. */
static void align_to(struct rm_oscillation *oscillation, rm_turn turn) {
    struct rm_oscillation_state *state = &oscillation->state;
    uint64_t const every = oscillation->config.kick_every_turns;
    int64_t const now = (int64_t)turn;
    if (every != 0) {
        int64_t const since = now % (int64_t)every;
        oscillation->until_kick = (uint64_t)((int64_t)every - (since < 0 ? since + (int64_t)every : since));
    }
    for (uint32_t m = 0; m < state->mean_count; ++m) {
        int64_t const period = (int64_t)state->mean[m].period, since = now % period;
        state->mean[m].left = (uint64_t)(period - (since < 0 ? since + period : since));
        memcpy(state->mean[m].from, state->sum, sizeof state->sum);
    }
}

static uint64_t memory_turns(struct rm_oscillation const *oscillation) {
    double slowest = fmin(oscillation->optics.damping[0], oscillation->optics.damping[1]);
    if (oscillation->rf.present)
        slowest = fmin(slowest, oscillation->rf.damping);
    double const turns = slowest > 0 ? RM_OSCILLATION_MEMORY / slowest : 0;
    return turns < 1e7 ? (uint64_t)turns : (uint64_t)1e7;
}

void rm_oscillation_enter(struct rm_oscillation *oscillation, rm_turn turn) {
    struct rm_oscillation_state *state = &oscillation->state;
    memset(state->part, 0, sizeof state->part);
    memset(state->sum, 0, sizeof state->sum);
    state->turn = turn - memory_turns(oscillation) - 1;
    align_to(oscillation, state->turn);
    while (state->turn != turn)
        rm_oscillation_step(oscillation);
}

double rm_oscillation_amplitude(struct rm_oscillation const *oscillation, unsigned mode) {
    return hypot(oscillation->state.part[2 * mode], oscillation->state.part[2 * mode + 1]);
}
