// SPDX-License-Identifier: Apache-2.0
#include "config/instrument_rates.h"

#include <math.h>
#include <string.h>

static uint64_t const SMALLEST_RING = 1ull << 14;

/** How far from `target`, in parts: 0.05 is 5 % above or below. */
static double decimation_distance(uint32_t decimation, double target) {
    return decimation > target ? decimation / target - 1 : target / decimation - 1;
}

/** Sets the stages of `rate` whose decimation is next to `target` (2 … 12^4): the fewest that come near enough, else
 * the nearest. */
static void decimate_by(struct rm_config_rate *rate, double target) {
    char const *const filter = rate->stage[0]->name;
    struct rm_fir_design const *stage[RM_CONFIG_STAGES_MAX];
    double least = INFINITY;
    for (uint32_t decimation = (uint32_t)(target / 2) + 1; decimation <= 2 * target; ++decimation) {
        uint32_t const count = rm_fir_split(filter, decimation, RM_CONFIG_STAGES_MAX, stage);
        double const away = decimation_distance(decimation, target);
        double const cost = (away <= RM_RATES_NEAR ? count : RM_CONFIG_STAGES_MAX + 1) + away;
        if (count == 0 || cost >= least)
            continue;
        least = cost;
        rate->decimation = decimation;
        rate->stage_count = count;
        memcpy(rate->stage, stage, sizeof stage);
    }
}

uint32_t rm_instrument_rates(struct rm_config const *config, uint32_t period_turns,
                             struct rm_config_rate rate[RM_CONFIG_RATES_MAX]) {
    uint32_t count = 0, place[RM_CONFIG_RATES_MAX]; /* where each configured rate is in `rate` */
    for (uint32_t i = 0; i < config->rate_count; ++i) {
        struct rm_config_rate const *const wanted = &config->rate[i];
        place[i] = wanted->from == RM_CONFIG_FROM_TURN ? RM_CONFIG_FROM_TURN : place[wanted->from];
        if (period_turns != 1 && wanted->period / period_turns < RM_RATES_SLOWER)
            continue;
        struct rm_config_rate *const made = &rate[count];
        *made = *wanted;
        made->from = place[i];
        uint32_t const source = made->from == RM_CONFIG_FROM_TURN ? period_turns : rate[made->from].period;
        uint32_t const configured = wanted->period / wanted->decimation;
        if (source != configured)
            decimate_by(made, fmin((double)wanted->period / source, pow(RM_DECIMATION_MAX, RM_CONFIG_STAGES_MAX)));
        made->period = source * made->decimation;
        place[i] = count++;
    }
    return count;
}

uint64_t rm_instrument_records(struct rm_config const *config, uint32_t period_turns) {
    uint64_t const turns = config->buffers.turn_records;
    if (period_turns == 1)
        return turns;
    uint64_t records = SMALLEST_RING;
    while (records < turns / period_turns || records < 4ull * config->turn_window.late_turns)
        records *= 2;
    return records;
}

char const *rm_instrument_own_rate(uint32_t period_turns) { return period_turns == 1 ? "turn" : "raw"; }
