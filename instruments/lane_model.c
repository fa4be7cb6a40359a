// SPDX-License-Identifier: Apache-2.0
#include "lane_model.h"

#include <math.h>
#include <string.h>

#include <ringmaster/stream.h>

#include "noise.h"

/* The optics: a ring of twelve cells with some 33 horizontal and 9 vertical betatron oscillations per turn. Only the
 * look of the orbit depends on these. */
enum { CELLS = 12, WHOLE_TUNE_X = 33, WHOLE_TUNE_Y = 9, BLM_CHANNELS = 10, BPM_LANES = 4 };

/** √(beta / mean beta) at a place; the planes beat against each other. */
static double beta_root(double place, double sign) { return 1 + sign * 0.35 * cos(2 * M_PI * CELLS * place); }

/** How far off a reading is for good, of RMS 1: the sum of three uniform numbers, never beyond 3. */
static double static_offset(uint64_t key) {
    uint32_t const bits = (uint32_t)rm_noise_u64(key);
    int32_t const sum = (int32_t)(bits & 2047u) + (int32_t)(bits >> 11 & 2047u) + (int32_t)(bits >> 22 << 1);
    return (sum - 3070) / 1024.0;
}

/** A position lane: weights on its plane's betatron columns, and what all positions have in common. */
static void make_position(struct rm_lane_model *model, struct rm_beam_config const *config, unsigned cosine_column,
                          double root, double phase, uint64_t key) {
    model->base = 1e3 * config->orbit_um * static_offset(key);
    model->weight[cosine_column] = root * cos(phase);
    model->weight[cosine_column + 1] = -root * sin(phase);
    model->weight[RM_MOTION_MAINS] = 1e3 * config->mains_um * root * cos(phase / 3);
    model->weight[RM_MOTION_DRIFT] = 1e3 * config->drift_um * root * (2 * rm_noise_uniform(key + 1) - 1);
    model->noise = 1e3 * config->noise_um;
}

static void make_bpm(struct rm_beam_config const *config, double place, uint64_t key, struct rm_lane_model *model) {
    double const phase_x = 2 * M_PI * (WHOLE_TUNE_X + config->tune_x) * place;
    double const phase_y = 2 * M_PI * (WHOLE_TUNE_Y + config->tune_y) * place;
    make_position(&model[0], config, RM_MOTION_X_COSINE, beta_root(place, 1), phase_x, key);
    make_position(&model[1], config, RM_MOTION_Y_COSINE, beta_root(place, -1), phase_y, key + 2);
    double const dispersion = 1 - 0.5 * cos(2 * M_PI * CELLS * place);
    model[0].weight[RM_MOTION_SYNCHROTRON_COSINE] = 1e3 * config->synchrotron_um * dispersion;
    model[2].base = config->sum_counts * (0.9 + 0.2 * rm_noise_uniform(key + 4));
    model[2].noise = 5e-4 * config->sum_counts;
    model[3].base = 1e3 * config->orbit_um * static_offset(key + 5);
    model[3].weight[RM_MOTION_DRIFT] = 1e3 * config->drift_um;
    model[3].noise = 2e3 * config->noise_um;
}

static void make_blm(struct rm_beam_config const *config, uint64_t key, struct rm_lane_model *model) {
    for (unsigned channel = 0; channel < BLM_CHANNELS; ++channel) {
        double const exposure = 0.5 + rm_noise_uniform(key + channel);
        model[channel].poisson_mean = config->loss_counts * exposure;
        model[channel].weight[RM_MOTION_KICK] = 100 * exposure;
    }
}

/** A phase lane in µrad: how much of the energy oscillation, of the mains, of noise. */
static void make_phase(struct rm_lane_model *model, double base, double synchrotron, double mains, double noise) {
    model->base = base;
    model->weight[RM_MOTION_SYNCHROTRON_SINE] = synchrotron;
    model->weight[RM_MOTION_MAINS] = mains;
    model->noise = noise;
}

/** A phase lane that follows the cavities' field. */
static void make_field_phase(struct rm_lane_model *model, double base, double synchrotron, double mains, double noise) {
    make_phase(model, base, synchrotron, mains, noise);
    model->weight[RM_MOTION_RF_PHASE] = 1e6;
}

static void make_amplitude(struct rm_lane_model *model, double volts, double mains) {
    model->base = volts;
    model->weight[RM_MOTION_MAINS] = mains;
    model->weight[RM_MOTION_RF_AMPLITUDE] = volts;
    model->noise = 1e-4 * volts;
}

static void make_llrf(struct rm_lane_model *model) {
    make_field_phase(&model[0], 0, 150, 400, 100);
    make_amplitude(&model[1], 600e3, 200);
    make_field_phase(&model[2], 350e3, 30, 900, 120);
    make_amplitude(&model[3], 420e3, 800);
    make_field_phase(&model[4], -1200e3, 30, 900, 400);
    make_amplitude(&model[5], 60e3, 300);
    model[6].base = 2500;
    model[6].weight[RM_MOTION_DRIFT] = 400;
    model[6].noise = 5;
    make_phase(&model[7], 1100e3, RM_LANE_BEAM_PHASE_URAD, 400, 200);
}

/** The photon beam: the electrons' orbit where they radiate and its slow motion; the betatron oscillation is averaged
 * away by the detector. */
static void make_photon_bpm(struct rm_beam_config const *config, double place, uint64_t key,
                            struct rm_lane_model *model) {
    make_bpm(config, place, key, model);
    for (unsigned plane = 0; plane < 2; ++plane)
        for (unsigned column = RM_MOTION_X_COSINE; column <= RM_MOTION_Y_SINE; ++column)
            model[plane].weight[column] *= 0.1;
    model[3] = (struct rm_lane_model){0};
}

/** Eight permits; a kick raises flag 0, losses, and takes permit 0 away. */
static void make_interlock(struct rm_lane_model *model) {
    model[0].weight[RM_MOTION_KICK] = 1;
    model[1].base = 0xFF;
    model[1].weight[RM_MOTION_KICK] = -1;
    model[2].base = -1; /* no turn of a loss */
}

/** A corrector of up to 8 A: a setpoint that follows the drift, and a readback with ripple and noise. Status 1: on. */
static void make_power_supply(uint64_t key, struct rm_lane_model *model) {
    model[0].base = 8e6 * (2 * rm_noise_uniform(key) - 1);
    model[0].weight[RM_MOTION_DRIFT] = 20e3 * (2 * rm_noise_uniform(key + 1) - 1);
    model[1] = model[0];
    model[1].weight[RM_MOTION_MAINS] = 50;
    model[1].noise = 10;
    model[2].base = 1;
}

void rm_lane_model_make(unsigned kind, struct rm_beam_config const *config, double place, double half, uint64_t key,
                        struct rm_lane_model *model) {
    memset(model, 0, RM_LANES * sizeof *model);
    switch (kind) {
    case RM_KIND_BPM:
        make_bpm(config, place, rm_noise_u64(key), model);
        make_bpm(config, place + half, rm_noise_u64(key + 1), model + BPM_LANES);
        break;
    case RM_KIND_BLM:
        make_blm(config, rm_noise_u64(key), model);
        break;
    case RM_KIND_LLRF:
        make_llrf(model);
        break;
    case RM_KIND_PHOTON_BPM:
        make_photon_bpm(config, place, rm_noise_u64(key), model);
        break;
    case RM_KIND_INTERLOCK:
        make_interlock(model);
        break;
    case RM_KIND_POWER_SUPPLY:
        make_power_supply(rm_noise_u64(key), model);
        break;
    }
}
