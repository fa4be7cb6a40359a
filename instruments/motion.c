// SPDX-License-Identifier: Apache-2.0
#include "motion.h"

#include <math.h>

struct phasor {
    double cosine;
    double sine;
};

static struct phasor phasor_multiply(struct phasor a, struct phasor b) {
    return (struct phasor){a.cosine * b.cosine - a.sine * b.sine, a.cosine * b.sine + a.sine * b.cosine};
}

static struct phasor phasor_scale(struct phasor a, double factor) {
    return (struct phasor){a.cosine * factor, a.sine * factor};
}

/** The phasor of `tune` (oscillations per turn, 0–1) after `turns`. Only the fraction of a revolution matters, and that
 * is the product of 64-bit integers modulo 2^64: no precision is lost at large turn numbers. */
static struct phasor at_turn(double tune, uint64_t turns) {
    uint64_t const step = (uint64_t)ldexp(tune, 64);
    double const angle = ldexp((double)(step * turns), -64) * 2 * M_PI;
    return (struct phasor){cos(angle), sin(angle)};
}

/** An oscillation with the rotation that takes it to the next turn. */
struct oscillator {
    struct phasor now;
    struct phasor step;
};

static struct oscillator steady_oscillator(double tune, rm_turn turn) {
    return (struct oscillator){at_turn(tune, turn), at_turn(tune, 1)};
}

/** A kicked oscillation `turns` after its kick; amplitude 1 at the kick. */
static struct oscillator damped_oscillator(double tune, double damping_turns, uint64_t turns) {
    return (struct oscillator){
        phasor_scale(at_turn(tune, turns), exp(-(double)turns / damping_turns)),
        phasor_scale(at_turn(tune, 1), exp(-1 / damping_turns)),
    };
}

static void oscillator_advance(struct oscillator *oscillator) {
    oscillator->now = phasor_multiply(oscillator->now, oscillator->step);
}

/** Of kicks that are asked for while kick_um is 0. */
static double const REQUESTED_KICK_UM = 100;

double rm_motion_kick_nm(struct rm_beam_config const *config) {
    return 1e3 * (config->kick_um > 0 ? config->kick_um : REQUESTED_KICK_UM);
}

/** What is left in nm of the last regular kick and of the last that was asked for. Both turn and decay alike, so their
 * sum is one oscillation. */
static struct oscillator kicked_at(struct rm_motion const *motion, unsigned plane, rm_turn turn, uint64_t since_kick) {
    struct rm_beam_config const *config = &motion->config;
    double const tune = plane == 0 ? config->tune_x : config->tune_y;
    struct rm_motion_kick const *asked = motion->next_kick.turn <= turn ? &motion->next_kick : &motion->last_kick;
    struct oscillator sum = damped_oscillator(tune, config->damping_turns, since_kick);
    sum.now = phasor_scale(sum.now, 1e3 * config->kick_um);
    if (asked->turn <= turn) { /* RM_TURN_NONE is above all */
        struct phasor const left = damped_oscillator(tune, config->damping_turns, turn - asked->turn).now;
        sum.now.cosine += asked->nm[plane] * left.cosine;
        sum.now.sine += asked->nm[plane] * left.sine;
    }
    return sum;
}

static double energy_of(struct phasor phasor) { return phasor.cosine * phasor.cosine + phasor.sine * phasor.sine; }

/** One betatron plane: the driven oscillation of amplitude 1 and the decaying one in nm. */
struct plane {
    struct oscillator driven;
    struct oscillator kicked;
};

static void write_plane(float *columns, struct plane const *plane, double driven_nm) {
    columns[0] = (float)(driven_nm * plane->driven.now.cosine + plane->kicked.now.cosine);
    columns[1] = (float)(driven_nm * plane->driven.now.sine + plane->kicked.now.sine);
}

static void advance_plane(struct plane *plane) {
    oscillator_advance(&plane->driven);
    oscillator_advance(&plane->kicked);
}

static void fill_betatron(struct rm_motion *motion, rm_turn first) {
    struct rm_beam_config const *config = &motion->config;
    uint64_t const every = (uint64_t)config->kick_every_turns;
    uint64_t since_kick = first % every;
    struct plane x = {steady_oscillator(config->tune_x, first), kicked_at(motion, 0, first, since_kick)};
    struct plane y = {steady_oscillator(config->tune_y, first), kicked_at(motion, 1, first, since_kick)};
    struct phasor const modulation = at_turn(config->modulation_hz / config->turn_rate_hz, first);
    double const driven_nm = 1e3 * config->betatron_um * (1 + config->betatron_modulation * modulation.sine);
    double const scraping_nm = rm_motion_kick_nm(config);
    double const per_energy = 0.5 / (scraping_nm * scraping_nm);
    for (unsigned i = 0; i < RM_MOTION_BLOCK; ++i) {
        since_kick = since_kick == every ? 0 : since_kick;
        if (since_kick == 0 || first + i == motion->next_kick.turn) {
            x.kicked = kicked_at(motion, 0, first + i, since_kick);
            y.kicked = kicked_at(motion, 1, first + i, since_kick);
        }
        float *columns = motion->column[i];
        write_plane(&columns[RM_MOTION_X_COSINE], &x, driven_nm);
        write_plane(&columns[RM_MOTION_Y_COSINE], &y, driven_nm);
        columns[RM_MOTION_KICK] = (float)(per_energy * (energy_of(x.kicked.now) + energy_of(y.kicked.now)));
        advance_plane(&x);
        advance_plane(&y);
        ++since_kick;
    }
}

static void fill_slow(struct rm_motion *motion, rm_turn first) {
    struct rm_beam_config const *config = &motion->config;
    struct oscillator synchrotron = steady_oscillator(config->synchrotron_tune, first);
    struct oscillator mains = steady_oscillator(50 / config->turn_rate_hz, first);
    struct oscillator drift = steady_oscillator(1 / (config->drift_period_s * config->turn_rate_hz), first);
    for (unsigned i = 0; i < RM_MOTION_BLOCK; ++i) {
        float *columns = motion->column[i];
        columns[RM_MOTION_SYNCHROTRON_COSINE] = motion->still ? 0 : (float)synchrotron.now.cosine;
        columns[RM_MOTION_SYNCHROTRON_SINE] = motion->still ? 0 : (float)synchrotron.now.sine;
        columns[RM_MOTION_MAINS] = (float)(mains.now.sine + mains.now.sine * mains.now.cosine);
        columns[RM_MOTION_DRIFT] = (float)drift.now.sine;
        oscillator_advance(&synchrotron);
        oscillator_advance(&mains);
        oscillator_advance(&drift);
    }
}

void rm_motion_init(struct rm_motion *motion, struct rm_beam_config const *config) {
    *motion = (struct rm_motion){.config = *config, .block = RM_TURN_NONE};
    motion->last_kick.turn = motion->next_kick.turn = RM_TURN_NONE;
}

static rm_turn block_of(rm_turn turn) { return turn & ~(rm_turn)(RM_MOTION_BLOCK - 1); }

static void fill_block(struct rm_motion *motion, rm_turn block) {
    if (motion->next_kick.turn < block) { /* RM_TURN_NONE is above all */
        motion->last_kick = motion->next_kick;
        motion->next_kick.turn = RM_TURN_NONE;
    }
    if (!motion->still)
        fill_betatron(motion, block);
    fill_slow(motion, block);
    motion->block = block;
}

void rm_motion_kick_at(struct rm_motion *motion, rm_turn kick, double x_nm, double y_nm) {
    if (motion->next_kick.turn <= kick)
        motion->last_kick = motion->next_kick;
    motion->next_kick = (struct rm_motion_kick){kick, {x_nm, y_nm}};
    if (motion->block != RM_TURN_NONE && kick < motion->block + RM_MOTION_BLOCK)
        fill_block(motion, motion->block);
}

float const *rm_motion_turn(struct rm_motion *motion, rm_turn turn) {
    rm_turn const block = block_of(turn);
    if (block != motion->block)
        fill_block(motion, block);
    return motion->column[turn - block];
}
