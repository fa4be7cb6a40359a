// SPDX-License-Identifier: Apache-2.0
/** The beam's own motion in a living machine: what moves its tunes and drives its cavities from turn to turn. */
#include <math.h>
#include <string.h>

#include "machine_parts.h"
#include "noise.h"

static double const DEGREE = M_PI / 180;
static double const REQUESTED_KICK_M = 100e-6; /**< of kicks that are asked for where none is configured */

static double motion_knob(struct rm_machine const *machine, enum rm_machine_first_knob knob) {
    return atomic_load_explicit(&machine->knob[knob], memory_order_relaxed);
}

/** Means over the BPMs, by which a file's amplitudes are meant. */
static void find_means(struct rm_machine *machine, struct rm_motion_optics const *found) {
    struct rm_machine_motion *motion = &machine->motion;
    for (uint32_t b = 0; b < machine->bpm_count; ++b) {
        for (int u = 0; u < 2; ++u)
            motion->mean_root[u] +=
                hypot(found->weight[b][u][2 * u], found->weight[b][u][2 * u + 1]) / machine->bpm_count;
        motion->mean_dispersion_m += fabs(found->weight[b][0][RM_OSCILLATION_DELTA]) / machine->bpm_count;
    }
}

void rm_machine_begin_motion(struct rm_machine *machine) {
    struct rm_oscillation_config const still = {.seed = machine->config->seed};
    struct rm_motion_optics *found = &machine->active->motion;
    rm_motion_optics_fill(machine, found);
    find_means(machine, found);
    rm_machine_fit_slip(machine);
    rm_oscillation_make(&machine->motion.oscillation, &still, &machine->rf, &found->optics);
    machine->motion.models = 1;
}

void rm_machine_take_motion_optics(struct rm_machine *machine) {
    rm_oscillation_set_optics(&machine->motion.oscillation, &machine->active->motion.optics);
    ++machine->motion.models;
}

enum rm_code rm_machine_excite(struct rm_machine *machine, struct rm_beam_config const *beam, struct rm_error *error) {
    struct rm_machine_motion *motion = &machine->motion;
    struct rm_oscillation_optics const *optics = &machine->active->motion.optics;
    enum rm_code const code = rm_machine_find_detuning(machine, error);
    double const kick_m = beam->kick_um > 0 ? 1e-6 * beam->kick_um : REQUESTED_KICK_M;
    struct rm_oscillation_config config = {
        .seed = rm_noise_u64(beam->seed ^ rm_noise_u64(machine->config->seed)),
        .delta_rms = motion->mean_dispersion_m > 0 ? 1e-6 * beam->synchrotron_um / motion->mean_dispersion_m : 0,
        .kick_every_turns = beam->kick_um > 0 ? (uint64_t)beam->kick_every_turns : 0,
    };
    memcpy(config.detuning, motion->detuning, sizeof config.detuning);
    for (int u = 0; u < 2; ++u) {
        double const root = hypot(optics->start[2 * u][2 * u], optics->start[2 * u][2 * u + 1]);
        config.rms[u] = 1e-6 * beam->betatron_um / motion->mean_root[u];
        config.kick[2 * u + 1] = kick_m / (motion->mean_root[u] * root);
        config.saturation[u] = machine->config->saturation_m / motion->mean_root[u];
        config.excitation[u] = machine->config->excitation_m / motion->mean_root[u];
    }
    rm_oscillation_make(&motion->oscillation, &config, &machine->rf, optics);
    return code;
}

struct rm_oscillation *rm_machine_oscillation(struct rm_machine *machine) {
    return &machine->motion.oscillation;
}

void rm_machine_scales(struct rm_machine const *machine, double mean_root[2], double *mean_dispersion_m) {
    memcpy(mean_root, machine->motion.mean_root, sizeof machine->motion.mean_root);
    *mean_dispersion_m = machine->motion.mean_dispersion_m;
}

uint64_t rm_machine_looks_taken(struct rm_machine const *machine) { return machine->motion.models; }

void rm_machine_bpm_weights(struct rm_machine const *machine, uint32_t bpm, double weight[2][RM_SEEN_PARTS]) {
    bpm = machine->bpm_of[bpm];
    double const *m = machine->bpm[bpm].m;
    double(*of)[RM_SEEN_PARTS] = machine->active->motion.weight[bpm];
    for (int p = 0; p < RM_SEEN_PARTS; ++p) {
        weight[0][p] = m[0] * of[0][p] + m[1] * of[1][p];
        weight[1][p] = m[2] * of[0][p] + m[3] * of[1][p];
    }
}

uint32_t rm_machine_strengths(struct rm_machine const *machine) { return machine->gradient_count; }

uint32_t rm_machine_strength_supply(struct rm_machine const *machine, uint32_t strength) {
    return machine->strength[strength].supply;
}

/* ── what is set ── */

void rm_machine_move_orbit(struct rm_machine *machine) {
    struct rm_oscillation *oscillation = &machine->motion.oscillation;
    if (machine->rf_column < 0 || machine->rf_hz_per_delta == 0)
        return;
    double const delta = machine->now[machine->rf_column] / machine->rf_hz_per_delta;
    if (!machine->stepped) /* it has been there before */
        oscillation->state.orbit_delta = delta;
    if (delta != oscillation->state.orbit_delta)
        rm_oscillation_move_orbit(oscillation, delta);
}

/** What knobs have changed since the look, less what supplies had at the look. */
static void find_base_shift(struct rm_machine *machine) {
    struct rm_motion_optics const *found = &machine->active->motion;
    double *shift = machine->motion.base_shift;
    shift[0] = shift[1] = 0;
    for (uint32_t q = 0; q < machine->magnet_count; ++q) {
        double const since = rm_machine_magnet_knob(machine, q) - found->change[q];
        shift[0] += found->slope[q][0] * since;
        shift[1] += found->slope[q][1] * since;
    }
}

static void take_settings(struct rm_machine *machine) {
    struct rm_oscillation *oscillation = &machine->motion.oscillation;
    double const voltage = machine->motion.rf_off ? 0 : motion_knob(machine, RM_MACHINE_RF_VOLTAGE);
    double const phase = DEGREE * motion_knob(machine, RM_MACHINE_RF_PHASE);
    oscillation->drive[0] = voltage * cos(phase);
    oscillation->drive[1] = voltage * sin(phase);
    oscillation->growth[0] = motion_knob(machine, RM_MACHINE_GROWTH_X);
    oscillation->growth[1] = motion_knob(machine, RM_MACHINE_GROWTH_Y);
    find_base_shift(machine);
}

void rm_machine_trip_rf(struct rm_machine *machine, bool off) {
    machine->motion.rf_off = off;
    take_settings(machine);
}

void rm_machine_kick(struct rm_machine *machine, double x_m, double y_m) {
    struct rm_machine_motion *motion = &machine->motion;
    double const amplitude_m[2] = {x_m, y_m};
    double at_start[4] = {0};
    for (int u = 0; u < 2; ++u) {
        double const *start = motion->oscillation.optics.start[2 * u];
        at_start[2 * u + 1] = amplitude_m[u] / (motion->mean_root[u] * hypot(start[2 * u], start[2 * u + 1]));
    }
    rm_oscillation_kick_next(&motion->oscillation, at_start);
}

/** A beam that was away comes back at rest. One that was lost by its energy comes back when it was away. */
static void come_and_go(struct rm_machine *machine) {
    struct rm_machine_motion *motion = &machine->motion;
    bool const away =
        !(motion_knob(machine, RM_MACHINE_BEAM) > 0) || atomic_load_explicit(&machine->lost, memory_order_relaxed);
    if (away && !motion->away)
        rm_oscillation_lose(&motion->oscillation);
    if (!away && motion->away)
        rm_oscillation_refill(&motion->oscillation);
    motion->away = away;
}

/** The tunes' shift by knobs and by the supplies as they were set last, against what the look had in it. */
static void find_shift(struct rm_machine const *machine, double shift[2]) {
    double const(*slope)[2] = (double const(*)[2])machine->active->motion.slope;
    for (int u = 0; u < 2; ++u)
        shift[u] = machine->motion.base_shift[u];
    for (uint32_t s = 0; s < machine->gradient_count; ++s)
        for (uint32_t p = 0; p < machine->strength[s].count; ++p)
            for (int u = 0; u < 2; ++u)
                shift[u] += slope[machine->piece[machine->strength[s].first + p]][u] * machine->strength_now[s];
}

/** A look finds other tunes, because the orbit in the sextupoles is another one by then: by how much, with all supplies
 * and the RF as they were when the tunes were set last. */
static void begin_blend(struct rm_machine *machine) {
    struct rm_machine_motion *motion = &machine->motion;
    double shift[2];
    find_shift(machine, shift);
    motion->tune_rest_since = machine->time;
    for (int u = 0; u < 2; ++u)
        motion->tune_rest[u] =
            motion->tune[u] - rm_oscillation_orbit_tune(&motion->oscillation, u, motion->tune_delta) - shift[u];
}

/** That comes linearly, in the time between two looks: a step would be a line of every frequency. */
static void blend_tunes(struct rm_machine *machine, double shift[2]) {
    struct rm_machine_motion *motion = &machine->motion;
    double const all = machine->config->refresh_s;
    double const passed = machine->time - motion->tune_rest_since, left = passed < all ? 1 - passed / all : 0;
    motion->tune_delta = motion->oscillation.state.orbit_delta;
    for (int u = 0; u < 2; ++u) {
        shift[u] += motion->tune_rest[u] * left;
        motion->tune[u] = rm_oscillation_orbit_tune(&motion->oscillation, u, motion->tune_delta) + shift[u];
    }
}

void rm_machine_set_strengths(struct rm_machine *machine, double const *strength) {
    struct rm_machine_motion *motion = &machine->motion;
    uint64_t const changes =
        atomic_load_explicit(&machine->knob_changes, memory_order_acquire); /* pairs with rm_machine_set */
    bool const looked = motion->models != motion->known_models, first = motion->known_models == 0;
    if (changes != motion->knob_changes || looked) {
        motion->knob_changes = changes;
        motion->known_models = motion->models;
        take_settings(machine);
    }
    come_and_go(machine);
    if (looked && !first)
        begin_blend(machine);
    for (uint32_t s = 0; s < machine->gradient_count; ++s)
        machine->strength_now[s] = machine->strength[s].per_unit * strength[s];
    double shift[2];
    find_shift(machine, shift);
    blend_tunes(machine, shift);
    rm_oscillation_set_shift(&motion->oscillation, shift);
}
