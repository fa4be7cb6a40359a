// SPDX-License-Identifier: Apache-2.0
#include "chains.h"

#include <stdlib.h>

#include "base/fail.h"
#include "config/config.h"
#include "noise.h"

/** Four places for each chain there may be: hardly any two want the same. */
enum { TABLE_BITS = 10, TABLE = 1 << TABLE_BITS };

/* What the judge allows a take-over: 3 cycles are missed until the standby suspects, as many until its own majority. */
enum { SWAP_STEPS = 8, DIVIDED_CYCLES = 16 };

_Static_assert(TABLE >= 4 * RM_CONFIG_CHAINS_MAX, "the table is mostly free");

static uint32_t place_of(uint32_t ipv4) { return ipv4 * 0x9E3779B1u >> (32 - TABLE_BITS); }

static void enter_chain(struct rm_chains *chains, uint32_t index) {
    uint32_t place = place_of(chains->config->chains[index].ipv4);
    while (chains->table[place] != RM_CHAINS_NOBODY)
        place = (place + 1) % TABLE;
    chains->table[place] = index;
}

uint32_t rm_chains_find(struct rm_chains const *chains, uint32_t ipv4, uint16_t udp_port) {
    uint32_t index;
    for (uint32_t place = place_of(ipv4); (index = chains->table[place]) != RM_CHAINS_NOBODY;
         place = (place + 1) % TABLE)
        if (chains->config->chains[index].ipv4 == ipv4)
            return chains->config->chains[index].udp_port == udp_port ? index : (uint32_t)RM_CHAINS_NOBODY;
    return RM_CHAINS_NOBODY;
}

/** The faults of one chain, each with its own draws. */
static uint32_t find_faults(struct rm_ring_supplies const *config, uint32_t chain, uint64_t seed,
                            struct rm_chain_fault *faults) {
    uint32_t count = 0;
    for (uint32_t f = 0; f < config->fault_count; ++f) {
        struct rm_ring_chain_fault const *from = &config->faults[f];
        if (chain - from->first_chain >= from->chain_count)
            continue;
        faults[count] = from->fault;
        faults[count++].key = rm_noise_u64(seed ^ rm_noise_u64((uint64_t)chain << 32 | (f + 1)));
    }
    return count;
}

/** Lets all that the chains obey be judged. */
static enum rm_code begin_judging(struct rm_chains *chains, rm_counter *const *counters, struct rm_error *error) {
    struct rm_ring_supplies const *const config = chains->config;
    if (config->limits == NULL)
        return RM_OK;
    uint32_t supplies[RM_CONFIG_CHAINS_MAX];
    for (uint32_t c = 0; c < config->chain_count; ++c)
        supplies[c] = config->chains[c].config.supply_count;
    struct rm_chain_judge_setup const setup = {
        .chains = config->chain_count,
        .supplies = supplies,
        .limits = config->limits,
        .counters = counters,
        .period_turns = config->period_turns,
        .cycle_s = config->cycle_s,
        .swap_steps = SWAP_STEPS,
        .divided_cycles = DIVIDED_CYCLES,
    };
    enum rm_code const code = rm_chain_judge_new(&setup, &chains->judge, error);
    for (uint32_t c = 0; code == RM_OK && c < config->chain_count; ++c) {
        chains->chain[c].judge = chains->judge;
        chains->chain[c].judged_as = c;
    }
    return code;
}

static bool virtual_chains_allocate(struct rm_chains *chains, struct rm_ring_supplies const *config) {
    chains->chain = calloc(config->chain_count, sizeof *chains->chain);
    chains->supply = calloc(config->supply_count, sizeof *chains->supply);
    chains->fault = calloc((size_t)config->chain_count * config->fault_count + 1, sizeof *chains->fault);
    chains->table = calloc(TABLE, sizeof *chains->table);
    return chains->chain != NULL && chains->supply != NULL && chains->fault != NULL && chains->table != NULL;
}

enum rm_code rm_chains_make(struct rm_ring_supplies const *config, uint64_t seed, rm_counter *const *counters,
                            uint64_t start_tsc, double tsc_hz, struct rm_chains *chains, struct rm_error *error) {
    *chains = (struct rm_chains){.config = config, .start_tsc = start_tsc, .seconds_per_tick = 1 / tsc_hz};
    if (!virtual_chains_allocate(chains, config)) {
        rm_chains_free(chains);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u supplies", config->supply_count);
    }
    for (uint32_t p = 0; p < TABLE; ++p)
        chains->table[p] = RM_CHAINS_NOBODY;
    for (uint32_t c = 0; c < config->chain_count; ++c) {
        struct rm_ring_chain const *from = &config->chains[c];
        struct rm_chain_fault *faults = &chains->fault[(size_t)c * config->fault_count];
        uint32_t const fault_count = find_faults(config, c, seed, faults);
        rm_chain_make(&chains->chain[c], &from->config, &chains->supply[from->first], faults, fault_count,
                      rm_noise_u64(seed) ^ rm_noise_u64(c + 1), counters[c]);
        enter_chain(chains, c);
    }
    enum rm_code const code = begin_judging(chains, counters, error);
    if (code != RM_OK)
        rm_chains_free(chains);
    return code;
}

void rm_chains_free(struct rm_chains *chains) {
    free(chains->chain);
    free(chains->supply);
    free(chains->fault);
    free(chains->table);
    rm_chain_judge_free(chains->judge);
    *chains = (struct rm_chains){0};
}

void rm_chains_switch_on(struct rm_chains *chains, double time) {
    for (uint32_t c = 0; c < chains->config->chain_count; ++c)
        rm_chain_switch_on(&chains->chain[c], time);
}

void rm_chains_tick(struct rm_chains *chains, double time) {
    for (uint32_t c = 0; c < chains->config->chain_count; ++c)
        rm_chain_tick(&chains->chain[c], time);
}

void rm_chains_reset(struct rm_chains *chains) {
    for (uint32_t c = 0; c < chains->config->chain_count; ++c)
        rm_chain_reset(&chains->chain[c]);
}

uint32_t rm_chains_of_supply(struct rm_chains const *chains, uint32_t supply) {
    uint32_t c = 0;
    while (supply - chains->config->chains[c].first >= chains->config->chains[c].config.supply_count)
        ++c;
    return c;
}

void rm_chains_trip(struct rm_chains *chains, uint32_t supply, double time) {
    rm_chain_trip(&chains->supply[supply], time, chains->chain[rm_chains_of_supply(chains, supply)].counters);
}

void rm_chains_power(struct rm_chains *chains, uint32_t chain, double time, bool on) {
    rm_chain_power(&chains->chain[chain], time, on);
}

bool rm_chains_have(struct rm_chains const *chains, rm_turn turn) {
    for (uint32_t c = 0; c < chains->config->chain_count; ++c)
        if (chains->chain[c].heard && chains->chain[c].turn < turn)
            return false;
    return true;
}

void rm_chains_forget(struct rm_chains *chains) {
    for (uint32_t c = 0; c < chains->config->chain_count; ++c)
        chains->chain[c].turn = RM_TURN_NONE;
}

void rm_chains_currents(struct rm_chains *chains, double time, double *currents) {
    for (uint32_t s = 0; s < chains->config->supply_count; ++s) {
        rm_supply_advance(&chains->supply[s], time);
        currents[s] = rm_supply_current(&chains->supply[s], time);
    }
}

void rm_chains_currents_of(struct rm_chains *chains, double time, uint32_t const *supply, uint32_t count,
                           double *currents) {
    for (uint32_t s = 0; s < count; ++s) {
        rm_supply_advance(&chains->supply[supply[s]], time);
        currents[s] = rm_supply_current(&chains->supply[supply[s]], time);
    }
}
