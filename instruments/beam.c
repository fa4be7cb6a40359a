// SPDX-License-Identifier: Apache-2.0
#include "beam.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/stream.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "lane_model.h"
#include "lane_sums.h"
#include "noise.h"

/** A lane's counts by their cumulated probability: entry q is the count that a share q / 1024 of all turns stays below.
 * Picking an entry at random is a Poisson number, in one load. */
enum { QUANTILE_BITS = 10, QUANTILES = 1 << QUANTILE_BITS };

/** The lanes of one instrument that counts. */
struct counting {
    uint32_t first_lane;
    uint8_t quantile[RM_LANES][QUANTILES];
};

struct rm_beam {
    struct rm_motion motion;
    uint64_t seed;
    struct rm_lane_sums sums;
    /** NULL: the motion is as configured. */
    struct rm_oscillation *oscillation;
    struct rm_beam_scales scales;
    /** [instrument] number of the mean that it reads, and 1; 0: it reads each turn. */
    uint8_t *mean_of;
    uint32_t counting_count;
    struct counting *counting;
    void *memory; /**< of the arrays in `sums` */
};

/** Below it a float has few bits left, and is slow. */
static double const NORMAL = 1e-30;

enum { ARRAYS = 4 + RM_MOTION_COLUMNS, VECTOR_LANES = 16 };

static bool beam_allocate(struct rm_beam *beam, uint32_t count) {
    uint32_t const lanes = (count * RM_LANES + VECTOR_LANES - 1) / VECTOR_LANES * VECTOR_LANES;
    float *memory = rm_zeroed(ARRAYS * lanes, sizeof *memory);
    beam->memory = memory;
    beam->counting = calloc(count, sizeof *beam->counting);
    beam->mean_of = calloc(count, sizeof *beam->mean_of);
    if (memory == NULL || beam->counting == NULL || beam->mean_of == NULL)
        return false;
    beam->sums = (struct rm_lane_sums){
        .lanes = lanes,
        .base = memory,
        .spread = memory + lanes,
        .key = (uint32_t *)(memory + 2 * lanes),
        .value = (int32_t *)(memory + 3 * lanes),
        .weight = memory + 4 * lanes,
    };
    return true;
}

static void set_quantiles(uint8_t *quantile, double mean) {
    double probability = exp(-mean), cumulated = probability;
    uint8_t count = 0;
    for (uint32_t q = 0; q < QUANTILES; ++q) {
        while (cumulated < (q + 0.5) / QUANTILES) {
            ++count;
            probability *= mean / count;
            cumulated += probability;
        }
        quantile[q] = count;
    }
}

static void set_beam_lane(struct rm_beam *beam, uint32_t lane, struct rm_lane_model const *model) {
    beam->sums.base[lane] = (float)model->base;
    beam->sums.spread[lane] = (float)model->noise;
    beam->sums.key[lane] = (uint32_t)rm_noise_u64(beam->seed ^ rm_noise_u64(lane + 1));
    for (unsigned c = 0; c < RM_MOTION_COLUMNS; ++c)
        beam->sums.weight[c * beam->sums.lanes + lane] = (float)model->weight[c];
}

static void set_instrument(struct rm_beam *beam, unsigned kind, uint32_t index, uint32_t count) {
    struct rm_lane_model model[RM_LANES];
    uint64_t const key = rm_noise_u64(beam->seed) + 2 * (uint64_t)index;
    rm_lane_model_make(kind, &beam->motion.config, (double)index / count, 0.5 / count, key, model);
    for (uint32_t l = 0; l < RM_LANES; ++l)
        set_beam_lane(beam, index * RM_LANES + l, &model[l]);
    if (kind != RM_KIND_BLM)
        return;
    struct counting *counting = &beam->counting[beam->counting_count++];
    counting->first_lane = index * RM_LANES;
    for (uint32_t l = 0; l < RM_LANES; ++l)
        set_quantiles(counting->quantile[l], model[l].poisson_mean);
}

enum rm_code rm_beam_make(struct rm_beam_config const *config, struct rm_virtual_instrument const *instruments,
                          uint32_t count, struct rm_beam **beam, struct rm_error *error) {
    struct rm_beam *made = calloc(1, sizeof *made);
    if (made == NULL || !beam_allocate(made, count)) {
        rm_beam_free(made);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the beam of %u instruments", count);
    }
    rm_motion_init(&made->motion, config);
    made->seed = config->seed;
    for (uint32_t i = 0; i < count; ++i)
        set_instrument(made, instruments[i].kind, i, count);
    *beam = made;
    return RM_OK;
}

void rm_beam_free(struct rm_beam *beam) {
    if (beam == NULL)
        return;
    free(beam->memory);
    free(beam->counting);
    free(beam->mean_of);
    free(beam);
}

void rm_beam_follow(struct rm_beam *beam, struct rm_oscillation *oscillation, struct rm_beam_scales const *scales) {
    beam->oscillation = oscillation;
    beam->scales = *scales;
    beam->motion.still = true;
}

void rm_beam_place(struct rm_beam *beam, uint32_t instrument, uint32_t lane,
                   double const weight_nm[2][RM_OSCILLATION_PHASE]) {
    uint32_t const lanes = beam->sums.lanes, x = instrument * RM_LANES + lane;
    for (uint32_t plane = 0; plane < 2; ++plane) {
        float *weight = &beam->sums.weight[x + plane];
        for (uint32_t p = RM_OSCILLATION_X1; p <= RM_OSCILLATION_P2; ++p)
            weight[(RM_MOTION_X_COSINE + p) * lanes] = (float)(weight_nm[plane][p] / beam->scales.mode[p / 2]);
        weight[RM_MOTION_SYNCHROTRON_COSINE * lanes] = (float)weight_nm[plane][RM_OSCILLATION_DELTA];
        weight[RM_MOTION_DELTA_SQUARE * lanes] = (float)weight_nm[plane][RM_OSCILLATION_SQUARE];
    }
}

void rm_beam_noise(struct rm_beam *beam, uint32_t instrument, uint32_t lane, double rms) {
    beam->sums.spread[instrument * RM_LANES + lane] = (float)rms;
}

void rm_beam_average(struct rm_beam *beam, uint32_t instrument, uint64_t turns) {
    for (uint32_t l = 0; l < RM_LANES; ++l)
        beam->sums.spread[instrument * RM_LANES + l] /= (float)sqrt((double)turns);
    if (beam->oscillation != NULL)
        beam->mean_of[instrument] = (uint8_t)(1 + rm_oscillation_average(beam->oscillation, turns));
}

/** How far the cavities are from what they should be. */
static void fill_rf(struct rm_oscillation const *oscillation, float *column) {
    double const *field = oscillation->state.field;
    bool const nominal = field[0] == 1 && field[1] == 0;
    column[RM_MOTION_RF_AMPLITUDE] = nominal ? 0 : (float)(hypot(field[0], field[1]) - 1);
    column[RM_MOTION_RF_PHASE] = nominal ? 0 : (float)atan2(field[1], field[0]);
}

/** The columns of a turn with the motion that is followed, as one instrument reads them. */
static void beam_fill_followed(struct rm_beam const *beam, uint32_t instrument, float *column) {
    struct rm_oscillation const *oscillation = beam->oscillation;
    uint8_t const mean = beam->mean_of[instrument];
    double const *part = mean == 0 ? oscillation->state.part : oscillation->state.mean[mean - 1].value;
    for (uint32_t p = RM_OSCILLATION_X1; p <= RM_OSCILLATION_P2; ++p)
        column[RM_MOTION_X_COSINE + p] = (float)(part[p] * beam->scales.mode[p / 2]);
    column[RM_MOTION_SYNCHROTRON_COSINE] = (float)part[RM_OSCILLATION_DELTA];
    column[RM_MOTION_DELTA_SQUARE] = part[RM_OSCILLATION_SQUARE] > NORMAL ? (float)part[RM_OSCILLATION_SQUARE] : 0;
    column[RM_MOTION_SYNCHROTRON_SINE] = (float)(1e6 / RM_LANE_BEAM_PHASE_URAD * part[RM_OSCILLATION_PHASE]);
    double const *now = oscillation->state.part,
                 kicked = beam->scales.mode[0] / rm_motion_kick_nm(&beam->motion.config);
    double const square =
        now[RM_OSCILLATION_X1] * now[RM_OSCILLATION_X1] + now[RM_OSCILLATION_P1] * now[RM_OSCILLATION_P1];
    column[RM_MOTION_KICK] = (float)(kicked * kicked * square);
    fill_rf(oscillation, column);
}

static void add_counts(struct rm_beam *beam, struct counting const *counting, uint32_t turn_key) {
    uint32_t const *key = &beam->sums.key[counting->first_lane];
    int32_t *value = &beam->sums.value[counting->first_lane];
    for (uint32_t l = 0; l < RM_LANES; ++l)
        value[l] += counting->quantile[l][rm_noise_u32(key[l] + turn_key) >> (32 - QUANTILE_BITS)];
}

union rm_lane const *rm_beam_turn(struct rm_beam *beam, rm_turn turn, uint32_t first, uint32_t count) {
    uint64_t const random = rm_noise_u64(turn ^ rm_noise_u64(beam->seed));
    uint32_t const first_lane = first * RM_LANES, lanes = count * RM_LANES, left = beam->sums.lanes - first_lane;
    uint32_t const whole = (lanes + VECTOR_LANES - 1) / VECTOR_LANES * VECTOR_LANES; /* some more cost nothing */
    float column[RM_MOTION_COLUMNS];
    memcpy(column, rm_motion_turn(&beam->motion, turn), sizeof column);
    if (beam->oscillation != NULL)
        beam_fill_followed(beam, first, column);
    rm_lane_sums_turn(&beam->sums, first_lane, whole < left ? whole : left, column, random);
    for (uint32_t i = 0; i < beam->counting_count; ++i)
        if (beam->counting[i].first_lane - first_lane < lanes)
            add_counts(beam, &beam->counting[i], (uint32_t)(random >> 32));
    return (union rm_lane const *)(beam->sums.value + first_lane);
}

void rm_beam_add(struct rm_beam *beam, uint32_t instrument, uint32_t lane, int32_t amount) {
    int32_t *value = &beam->sums.value[instrument * RM_LANES + lane];
    *value = (int32_t)((uint32_t)*value + (uint32_t)amount);
}

void rm_beam_leave_losses(struct rm_beam *beam) {
    memset(&beam->sums.weight[RM_MOTION_KICK * beam->sums.lanes], 0, beam->sums.lanes * sizeof *beam->sums.weight);
}

void rm_beam_expose(struct rm_beam *beam, uint32_t instrument, uint32_t channel, double mean) {
    for (uint32_t c = 0; c < beam->counting_count; ++c)
        if (beam->counting[c].first_lane == instrument * RM_LANES)
            set_quantiles(beam->counting[c].quantile[channel], mean < RM_POISSON_MEAN_MAX ? mean : RM_POISSON_MEAN_MAX);
}

void rm_beam_kick_at(struct rm_beam *beam, rm_turn kick, double x_nm, double y_nm) {
    rm_motion_kick_at(&beam->motion, kick, x_nm, y_nm);
}
