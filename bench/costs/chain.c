// SPDX-License-Identifier: Apache-2.0
/** A virtual chain of supplies takes a setpoint datagram, without any port behind it. Bursts of 64 setpoint frames, chain
 * after chain, all of a chain's supplies moving at every cycle of 10 µs. Every round runs two loops in turn: one only
 * writes the frames, one hands each burst to rm_chain_port_poll as well, which takes them apart, moves the supplies,
 * judges what they obey and writes the answers. Printed, for each kind of supplies, is the median of the rounds'
 * differences per datagram, their middle half, and how many cycles per second one core would manage: the link's own
 * cost comes on top. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "config/config.h"
#include "cost.h"
#include "given_port.h"
#include "instruments/chain_port.h"
#include "wire/arp.h"
#include "wire/setpoint.h"

enum { CYCLES = 20 /**< of one loop */ };

static double const CYCLE_SECONDS = 10e-6;

struct bench {
    struct rm_ring_supplies config;
    struct rm_chains chains;
    struct rm_chain_port chain_port;
    struct rm_port port;
    uint64_t cycle;
};

static void chain_cost_make(struct bench *bench, uint32_t chains, uint32_t supplies,
                            struct rm_supply_config const *kind) {
    struct rm_error error = {0};
    bench->port.in = bench_allocate(RM_BURST * GIVEN_FRAME_BYTES);
    bench->port.spacing_bytes = GIVEN_FRAME_BYTES;
    bench->config = (struct rm_ring_supplies){
        .chains = bench_allocate(chains * sizeof *bench->config.chains),
        .chain_count = chains,
        .supplies = bench_allocate((size_t)chains * supplies * sizeof *bench->config.supplies),
        .supply_count = chains * supplies,
        .limits = bench_allocate((size_t)chains * supplies * sizeof *bench->config.limits),
        .period_turns = 1,
        .cycle_s = CYCLE_SECONDS,
    };
    rm_counter *counters = bench_allocate((size_t)chains * RM_SUPPLY_COUNTERS * sizeof *counters);
    rm_counter **blocks = bench_allocate(chains * sizeof *blocks);
    for (uint32_t s = 0; s < chains * supplies; ++s)
        bench->config.supplies[s] = *kind;
    for (uint32_t s = 0; s < chains * supplies; ++s)
        bench->config.limits[s] = (struct rm_chain_judge_limits){.low = -10, .high = 10, .slew = 2};
    for (uint32_t c = 0; c < chains; ++c) {
        struct rm_ring_chain *chain = &bench->config.chains[c];
        *chain = (struct rm_ring_chain){
            .ipv4 = 0x0A1E0001 + c, .udp_port = 4662, .answer_port = 4660, .answers = true, .first = c * supplies};
        chain->config = (struct rm_chain_config){(uint16_t)(c + 1), supplies, 0.1, false,
                                                 &bench->config.supplies[(size_t)c * supplies]};
        rm_arp_make_mac(chain->ipv4, chain->mac);
        blocks[c] = &counters[(size_t)c * RM_SUPPLY_COUNTERS];
    }
    bench_must(rm_chains_make(&bench->config, 1, blocks, 0, 1e9, &bench->chains, &error), &error);
    bench_must(rm_chain_port_make(&bench->port, NULL, 0, &bench->chains, &bench->chain_port, &error), &error);
}

static void write_answer_frame(struct bench *bench, uint32_t i, uint32_t chain) {
    uint32_t const supplies = bench->config.chains[0].config.supply_count;
    float values[RM_CHAIN_SUPPLIES_MAX];
    struct rm_flow const flow = {
        .source_ipv4 = 0x0A1EFF01,
        .destination_ipv4 = bench->config.chains[chain].ipv4,
        .source_port = 4662,
        .destination_port = 4662,
    };
    for (uint32_t s = 0; s < supplies; ++s)
        values[s] = bench->cycle % 2 == 0 ? 1 : -1;
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t const length =
        rm_setpoint_write(payload, 0, (uint16_t)(chain + 1), bench->cycle, 1, 1, bench->cycle, values, supplies);
    uint32_t const header = rm_frame_write_header(given_frame(&bench->port, i), &flow, length);
    memcpy(given_frame(&bench->port, i) + header, payload, length);
    bench->port.length[i] = header + length;
}

/** Nanoseconds of some cycles of all chains; with their answers, or only of writing what they would be given. */
static double loop_ns(struct bench *bench, bool answer, double ns_per_tick) {
    uint64_t const begin = rm_tsc();
    for (uint32_t cycle = 0; cycle < CYCLES; ++cycle) {
        ++bench->cycle;
        for (uint32_t chain = 0; chain < bench->config.chain_count;) {
            for (bench->port.ready = 0; bench->port.ready < RM_BURST && chain < bench->config.chain_count; ++chain)
                write_answer_frame(bench, bench->port.ready++, chain);
            if (answer)
                rm_chain_port_poll(&bench->chain_port, (double)bench->cycle * CYCLE_SECONDS);
        }
    }
    return (double)(rm_tsc() - begin) * ns_per_tick;
}

static void chain_cost_measure(char const *name, struct rm_supply_config const *kind, uint32_t chains,
                               uint32_t supplies, uint32_t rounds, double ns_per_tick) {
    struct bench *bench = bench_allocate(sizeof *bench);
    double *cost = bench_allocate(rounds * sizeof *cost);
    chain_cost_make(bench, chains, supplies, kind);
    for (uint32_t r = 0; r < rounds; ++r) {
        double const empty = loop_ns(bench, false, ns_per_tick);
        cost[r] = (loop_ns(bench, true, ns_per_tick) - empty) / (CYCLES * chains);
    }
    if (bench->port.sent != (uint64_t)rounds * CYCLES * chains * ((supplies + 9) / 10))
        bench_fail("not every datagram was answered");
    struct bench_figure const figure = bench_figure_of(cost, rounds, 0.25);
    printf("%-44s %6.0f ns per datagram (%.0f to %.0f), %5.1f per supply: %6.1f kHz of %u chains\n", name,
           figure.median, figure.low, figure.high, figure.median / supplies, 1e6 / (figure.median * chains), chains);
    free(cost);
    free(bench); /* what it holds goes with the process */
}

static uint64_t asked_chains = 96, asked_supplies = 13;

static void chain_run(uint32_t rounds) {
    uint32_t const chains = (uint32_t)asked_chains, supplies = (uint32_t)asked_supplies;
    double const ns_per_tick = 1e9 / rm_tsc_hz_measure();
    struct rm_supply_config kind = {.low = -10, .high = 10, .slew = INFINITY, .safe_slew = INFINITY};
    chain_cost_measure("ideal", &kind, chains, supplies, rounds, ns_per_tick);
    kind.bandwidth_hz = 1000;
    chain_cost_measure("+ first order of 1 kHz", &kind, chains, supplies, rounds, ns_per_tick);
    kind.regulation_hz = 100000;
    kind.drift_ppm = 20;
    kind.delay_s = 20e-6;
    chain_cost_measure("+ 20 us of delay, 100 kHz of regulation", &kind, chains, supplies, rounds, ns_per_tick);
    kind.slew = 2000;
    kind.resolution = 1e-5;
    kind.noise = 1e-4;
    chain_cost_measure("+ slew, resolution, noise", &kind, chains, supplies, rounds, ns_per_tick);
    kind.ripple_count = 1;
    kind.ripple[0].hz = 300;
    kind.ripple[0].amplitude = 1e-3;
    chain_cost_measure("+ ripple of one frequency", &kind, chains, supplies, rounds, ns_per_tick);
}

struct bench_cost const chain_cost = {
    .name = "chain",
    .about = "to take a setpoint datagram in a virtual chain of supplies",
    .rounds = 101,
    .words = {{"CHAINS", &asked_chains, 1, RM_CONFIG_CHAINS_MAX, .kind = RM_OPTION_WHOLE, .place = RM_OPTIONAL_WORD},
              {"SUPPLIES", &asked_supplies, 1, RM_CHAIN_SUPPLIES_MAX, .kind = RM_OPTION_WHOLE,
               .place = RM_OPTIONAL_WORD}},
    .run = chain_run};
