// SPDX-License-Identifier: Apache-2.0
#include "loss_lanes.h"

#include <math.h>
#include <stdlib.h>

#include <ringmaster/stream.h>

#include "base/fail.h"
#include "noise.h"

enum {
    CHANNELS = 10,   /**< of a loss monitor */
    ORBIT_STEPS = 8, /**< of the machine, from one orbit at the apertures to the next */
    /* lanes of an interlock */
    FLAGS = 0,
    PERMITS = 1,
    LOSS_TURN = 2,
    CURRENT = 3,
    FLAG_LOSING = 1,
    FLAG_LOST = 2,
};

/** What the lane loss_turn has where nothing was lost (lane_model.c). */
static uint32_t const NO_LOSS_TURN = UINT32_MAX;

static double const WHOLE_BEAM_COUNTS = 1e6;
static double const REACH_M = 5;      /**< along which a channel hears e times less */
static double const LOSING = 1e-6;    /**< of the configured current, in a turn */
static double const NEAR_SHARE = 0.5; /**< of the lifetime's losses are near the narrowest apertures */
static double const LEAST_MEAN = 0.3; /**< of loss_counts, at any channel */
static double const COUNTS_MOST = 2e9;

/* ── making ── */

static void place_channels(struct rm_loss_lanes *lanes) {
    uint32_t channel = 0;
    for (uint32_t i = 0; i < lanes->ring->instrument_count; ++i) {
        if (lanes->ring->instruments[i].kind != RM_KIND_BLM)
            continue;
        lanes->first_channel[i] = channel;
        channel += CHANNELS;
    }
    for (uint32_t c = 0; c < channel; ++c)
        lanes->channel[c] =
            (struct rm_loss_channel){.s_m = lanes->length_m * (c + 0.5) / channel, .turn = RM_TURN_NONE};
    lanes->channel_count = channel;
}

static double heard_of(struct rm_loss_lanes const *lanes, uint32_t channel, double s_m) {
    double const way = fabs(lanes->channel[channel].s_m - s_m);
    return exp(-fmin(way, lanes->length_m - way) / REACH_M);
}

/** What a channel hears of the lifetime, 1 in the mean: as much as it is near to apertures that are narrow. */
static double exposure_of(struct rm_loss_lanes const *lanes, uint32_t channel) {
    double mean = 0, here = 0;
    for (uint32_t i = 0; i < lanes->loss.count; ++i) {
        struct rm_loss_aperture const *at = &lanes->loss.aperture[i];
        double const narrow =
            fmax(at->beta_m[0] / (at->half_m[0] * at->half_m[0]), at->beta_m[1] / (at->half_m[1] * at->half_m[1]));
        here += narrow * heard_of(lanes, channel, at->s_m);
        for (uint32_t c = 0; c < lanes->channel_count; ++c)
            mean += narrow * heard_of(lanes, c, at->s_m) / lanes->channel_count;
    }
    return mean > 0 ? fmax(LEAST_MEAN, 1 - NEAR_SHARE + NEAR_SHARE * here / mean) : 1;
}

static void expose_monitors(struct rm_loss_lanes const *lanes, struct rm_beam *beam) {
    rm_beam_leave_losses(beam);
    for (uint32_t i = 0; i < lanes->ring->instrument_count; ++i)
        for (uint32_t l = 0; lanes->ring->instruments[i].kind == RM_KIND_BLM && l < CHANNELS; ++l)
            rm_beam_expose(beam, i, l, lanes->ring->beam.loss_counts * exposure_of(lanes, lanes->first_channel[i] + l));
}

static enum rm_code make_loss(struct rm_loss_lanes *lanes, struct rm_error *error) {
    struct rm_ring_machine const *config = &lanes->ring->machine;
    struct rm_machine_bunch const bunch = rm_machine_bunch(lanes->machine);
    struct rm_beam_loss_config const of = {
        .current_ma = config->current_ma,
        .lifetime_turns = config->lifetime_s * lanes->ring->beam.turn_rate_hz,
        .emittance_m = {bunch.emittance_m[0], bunch.emittance_m[1]},
        .energy_spread = bunch.energy_spread,
        .momentum_aperture = config->momentum_aperture,
        .damping_turns = bunch.damping_turns,
    };
    return rm_beam_loss_make(&of, rm_machine_aperture_list(lanes->machine), rm_machine_aperture_count(lanes->machine),
                             &lanes->loss, error);
}

/** A run that goes on from a checkpoint has the same current, and the same losses. */
static void keep_state(struct rm_loss_lanes *lanes) {
    struct rm_beam_loss *loss = &lanes->loss;
    rm_machine_keep(lanes->machine, &loss->state, sizeof loss->state);
    rm_machine_keep(lanes->machine, loss->wall, loss->count * sizeof *loss->wall);
    rm_machine_keep(lanes->machine, loss->limit, sizeof loss->limit);
    rm_machine_keep(lanes->machine, &lanes->clock, sizeof lanes->clock);
    rm_machine_keep(lanes->machine, lanes->channel, lanes->channel_count * sizeof *lanes->channel);
}

enum rm_code rm_loss_lanes_make(struct rm_ring_config const *ring, struct rm_machine *machine, struct rm_beam *beam,
                                struct rm_loss_lanes *lanes, struct rm_error *error) {
    *lanes = (struct rm_loss_lanes){.ring = ring, .clock.orbit_turn = RM_TURN_NONE};
    if (rm_machine_aperture_count(machine) == 0)
        return RM_OK;
    lanes->machine = machine;
    lanes->length_m = rm_machine_length_m(machine);
    lanes->channel = calloc(CHANNELS * (size_t)ring->instrument_count + 1, sizeof *lanes->channel);
    lanes->first_channel = calloc(ring->instrument_count + 1ul, sizeof *lanes->first_channel);
    lanes->losing = calloc(ring->instrument_count + 1ul, sizeof *lanes->losing);
    if (lanes->channel == NULL || lanes->first_channel == NULL || lanes->losing == NULL) {
        rm_loss_lanes_free(lanes);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the loss monitors of %u instruments",
                       ring->instrument_count);
    }
    enum rm_code const code = make_loss(lanes, error);
    if (code != RM_OK)
        return code;
    lanes->fills = rm_machine_fills(machine);
    rm_machine_store(machine, 1);
    place_channels(lanes);
    expose_monitors(lanes, beam);
    keep_state(lanes);
    return RM_OK;
}

void rm_loss_lanes_free(struct rm_loss_lanes *lanes) {
    rm_beam_loss_free(&lanes->loss);
    free(lanes->channel);
    free(lanes->first_channel);
    free(lanes->losing);
    *lanes = (struct rm_loss_lanes){0};
}

/* ── what happens ── */

static double stored_share(struct rm_loss_lanes const *lanes) {
    double const whole = lanes->loss.config.current_ma;
    return whole > 0 ? lanes->loss.state.current_ma / whole : 0;
}

/** The knob machine/beam was set: so much of the current is there again, at rest. */
static void take_fill(struct rm_loss_lanes *lanes, rm_turn turn) {
    double const beam = rm_machine_knob(lanes->machine, rm_machine_beam_knob());
    rm_beam_loss_fill(&lanes->loss, beam * lanes->loss.config.current_ma);
    rm_oscillation_lose(rm_machine_oscillation(lanes->machine)); /* what was left of its motion */
    if (beam > 0)
        rm_oscillation_refill(rm_machine_oscillation(lanes->machine));
    else
        lanes->loss.state.lost_turn = turn;
}

void rm_loss_lanes_step(struct rm_loss_lanes *lanes, rm_turn turn, double time) {
    struct rm_loss_clock *clock = &lanes->clock;
    uint64_t const fills = rm_machine_fills(lanes->machine);
    if (fills != lanes->fills)
        take_fill(lanes, turn);
    lanes->fills = fills;
    if (rm_machine_tops_up(lanes->machine, time, clock->step_s) && lanes->loss.state.lost_turn == RM_TURN_NONE)
        lanes->loss.state.current_ma = fmax(lanes->loss.state.current_ma, lanes->loss.config.current_ma);
    clock->step_s = time;
    clock->step_turn = turn;
    if (clock->steps++ % ORBIT_STEPS == 0) {
        float const *orbit = rm_machine_aperture_orbit(lanes->machine);
        uint64_t const turns = clock->orbit_turn == RM_TURN_NONE ? 0 : turn - clock->orbit_turn;
        rm_beam_loss_set_orbit(&lanes->loss, orbit, orbit + lanes->loss.count, turns);
        clock->orbit_turn = turn;
    }
    rm_machine_store(lanes->machine, stored_share(lanes));
}

/** All channels hear a loss, and all interlocks are told. */
static void spread_loss(struct rm_loss_lanes *lanes, double ma, uint32_t place) {
    double const share = ma / lanes->loss.config.current_ma, s_m = lanes->loss.aperture[place].s_m;
    if (!(share > 0))
        return;
    for (uint32_t c = 0; c < lanes->channel_count; ++c)
        lanes->channel[c].heard += WHOLE_BEAM_COUNTS * share * heard_of(lanes, c, s_m);
    for (uint32_t i = 0; share > LOSING && i < lanes->ring->instrument_count; ++i)
        lanes->losing[i] = true;
}

void rm_loss_lanes_turn(struct rm_loss_lanes *lanes, rm_turn turn) {
    struct rm_oscillation *oscillation = rm_machine_oscillation(lanes->machine);
    struct rm_beam_loss_state *state = &lanes->loss.state;
    double const *part = oscillation->state.part;
    double const amplitude2_m[2] = {
        part[RM_OSCILLATION_X1] * part[RM_OSCILLATION_X1] + part[RM_OSCILLATION_P1] * part[RM_OSCILLATION_P1],
        part[RM_OSCILLATION_X2] * part[RM_OSCILLATION_X2] + part[RM_OSCILLATION_P2] * part[RM_OSCILLATION_P2]};
    double const before = state->current_ma;
    rm_beam_loss_turn(&lanes->loss, turn, amplitude2_m, part[RM_OSCILLATION_DELTA]);
    if (oscillation->state.lost && state->current_ma > 0)
        rm_beam_loss_all(&lanes->loss, turn);
    if (state->current_ma == before && state->stray_lost_ma == 0)
        return;
    spread_loss(lanes, state->lost_ma, state->place);
    spread_loss(lanes, state->stray_lost_ma, state->stray_place);
    if (state->current_ma == 0)
        rm_oscillation_lose(oscillation);
    rm_machine_store(lanes->machine, stored_share(lanes));
}

void rm_loss_lanes_inject(struct rm_loss_lanes *lanes, rm_turn turn, double ma, double x_m, double y_m, bool misfires) {
    struct rm_beam_loss_state *state = &lanes->loss.state;
    double mean_root[2], dispersion_m;
    rm_machine_inject(lanes->machine,
                      lanes->clock.step_s + (double)(turn - lanes->clock.step_turn) / lanes->ring->beam.turn_rate_hz);
    rm_machine_scales(lanes->machine, mean_root, &dispersion_m);
    double const missing = fmax(0, lanes->loss.config.current_ma - state->current_ma);
    double const amplitude_m[2] = {fabs(x_m) / mean_root[0], fabs(y_m) / mean_root[1]};
    double const captured = rm_beam_loss_inject(&lanes->loss, ma < 0 ? missing : ma, amplitude_m, misfires);
    if (!(captured > 0))
        return;
    double const share = captured / state->current_ma;
    rm_oscillation_refill(rm_machine_oscillation(lanes->machine));
    rm_machine_kick(lanes->machine, share * x_m, share * y_m);
    rm_machine_store(lanes->machine, stored_share(lanes));
}

/* ── what is told ── */

/** Counts since the last reading; a turn that is read twice has the same. */
static int32_t read_channel(struct rm_loss_channel *channel, rm_turn turn) {
    if (channel->turn == turn)
        return channel->last;
    channel->turn = turn;
    channel->last = (int32_t)lrint(fmin(COUNTS_MOST, floor(channel->heard) - channel->read));
    channel->read = floor(channel->heard);
    return channel->last;
}

static void add_monitor(struct rm_loss_lanes *lanes, struct rm_beam *beam, union rm_lane const *values, rm_turn turn,
                        uint32_t instrument) {
    double const share = stored_share(lanes);
    for (uint32_t l = 0; l < CHANNELS; ++l) {
        uint32_t const channel = lanes->first_channel[instrument] + l;
        double const left = rm_noise_uniform(turn ^ rm_noise_u64(lanes->ring->beam.seed ^ rm_noise_u64(channel)));
        int32_t const kept = (int32_t)floor(share * values[l].i + (share < 1 ? left : 0));
        rm_beam_add(beam, instrument, l, kept - values[l].i + read_channel(&lanes->channel[channel], turn));
    }
}

static void add_interlock(struct rm_loss_lanes *lanes, struct rm_beam *beam, uint32_t instrument) {
    struct rm_beam_loss_state const *state = &lanes->loss.state;
    bool const lost = state->lost_turn != RM_TURN_NONE;
    int32_t const flags = (lanes->losing[instrument] ? FLAG_LOSING : 0) | (lost ? FLAG_LOST : 0);
    lanes->losing[instrument] = false;
    rm_beam_add(beam, instrument, FLAGS, flags);
    rm_beam_add(beam, instrument, PERMITS, lost ? -1 : 0);
    rm_beam_add(beam, instrument, LOSS_TURN, lost ? (int32_t)((uint32_t)state->lost_turn - NO_LOSS_TURN) : 0);
    rm_beam_add(beam, instrument, CURRENT, (int32_t)lrint(fmin(COUNTS_MOST, 1e3 * state->current_ma)));
}

void rm_loss_lanes_add(struct rm_loss_lanes *lanes, struct rm_beam *beam, union rm_lane const *values, rm_turn turn,
                       uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) {
        unsigned const kind = lanes->ring->instruments[i].kind;
        if (kind == RM_KIND_BLM)
            add_monitor(lanes, beam, values + (size_t)(i - first) * RM_LANES, turn, i);
        else if (kind == RM_KIND_INTERLOCK)
            add_interlock(lanes, beam, i);
    }
}
