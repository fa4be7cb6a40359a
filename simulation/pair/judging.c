// SPDX-License-Identifier: Apache-2.0
/* The judge of what chains obey (instruments/chain_judge.h), told of a pair's chains. */
#include <stdlib.h>

#include "base/fail.h"
#include "pair.h"

enum {
    /** A successor begins within one slew of what was sent last. A chain whose cable was cut may have missed so many
     * cycles of that while the others obeyed. */
    MISSED_STEPS = 64,
};

static enum rm_code pair_make_judge(struct rm_pair *pair, uint32_t *supplies, struct rm_chain_judge_limits *limits,
                                    rm_counter **counters, struct rm_error *error) {
    struct rm_config const *const config = pair->config;
    double const cycle_s = pair->period_ns * 1e-9;
    for (uint32_t c = 0; c < config->chain_count; ++c) {
        supplies[c] = config->chain[c].supply_count;
        counters[c] = pair->plant.block[pair->ring_chain[c]];
    }
    for (uint32_t s = 0; s < config->supply_count; ++s)
        limits[s] = (struct rm_chain_judge_limits){config->supply[s].low, config->supply[s].high,
                                                   config->supply[s].slew_per_s * cycle_s};
    struct rm_chain_judge_setup const setup = {
        .chains = config->chain_count,
        .supplies = supplies,
        .limits = limits,
        .counters = counters,
        .period_turns = config->setpoints.period_turns,
        .cycle_s = cycle_s,
        .swap_steps = MISSED_STEPS,
        .divided_cycles = (double)pair->setup->missed_cycles + 2,
    };
    enum rm_code const code = rm_chain_judge_new(&setup, &pair->judge, error);
    for (uint32_t c = 0; code == RM_OK && c < config->chain_count; ++c) {
        struct rm_chain *const chain = &pair->plant.chains.chain[pair->ring_chain[c]];
        chain->judge = pair->judge;
        chain->judged_as = c;
    }
    return code;
}

enum rm_code rm_pair_judge_open(struct rm_pair *pair, struct rm_error *error) {
    uint32_t *const supplies = calloc(pair->config->chain_count, sizeof *supplies);
    struct rm_chain_judge_limits *const limits = calloc(pair->config->supply_count, sizeof *limits);
    rm_counter **const counters = calloc(pair->config->chain_count, sizeof *counters);
    enum rm_code code = RM_E_NO_SPACE;
    if (supplies != NULL && limits != NULL && counters != NULL)
        code = pair_make_judge(pair, supplies, limits, counters, error);
    else
        (void)rm_fail(error, code, "no memory for a judge of %u supplies", pair->config->supply_count);
    free(supplies);
    free(limits);
    free((void *)counters);
    return code;
}

struct rm_pair_judged rm_pair_judged(struct rm_pair const *pair) {
    struct rm_chain_verdict const *const verdict = rm_chain_judge_verdict(pair->judge);
    struct rm_pair_judged judged = {.two_masters = verdict->two_instances,
                                    .divided = verdict->divided,
                                    .divided_cycles = verdict->longest_divided_cycles};
    for (uint32_t c = 0; c < pair->config->chain_count; ++c) {
        rm_counter const *const counters = pair->plant.block[pair->ring_chain[c]];
        judged.two_masters += rm_counter_get(counters, RM_SUPPLY_TWO_MASTERS);
        judged.over_limit += rm_counter_get(counters, RM_SUPPLY_OVER_LIMIT);
        judged.over_slew += rm_counter_get(counters, RM_SUPPLY_OVER_SLEW);
    }
    return judged;
}
