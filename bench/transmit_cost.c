// SPDX-License-Identifier: Apache-2.0
/** What does a setpoint vector cost from the guard to the link, and how many datagrams a second does that make?
 *
 *     ringmaster-transmit-cost cost CHAINS SUPPLIES              guard and frames alone, hot, nanoseconds
 *     ringmaster-transmit-cost flood CHAINS SUPPLIES SOCKET CPU  over memif to the peer, until it is interrupted
 *     ringmaster-transmit-cost count CHAINS SUPPLIES CYCLES      to no peer, for callgrind
 *
 * SUPPLIES are those of each chain. One application owns them all and sets every one anew in each cycle, within its
 * slew: the guard judges every value, every supply goes a step, every datagram differs from the last. `cost` prints a
 * JSON object: per vector and per cycle of all supplies, at rest and on their way, and per datagram.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "engine/guard.h"
#include "net/port.h"
#include "rounds.h"
#include "wire/setpoint_frame.h"

enum { CHAINS_MAX = 128, SUPPLIES_MAX = 2048, SERIES = 101, ROUNDS = 100, WARM = 20 };

static uint64_t const GRANT_NUMBER = 7;
static double const LIMIT = 10.0;
static double const SLEW = 0.01; /* per cycle */
static double const SWING = 0.005;

struct bench {
    struct rm_setpoint_frame frame[CHAINS_MAX];
    double value[SUPPLIES_MAX];
    struct rm_burst burst;
    struct rm_guard *guard;
    struct rm_port *port;
    uint64_t vector;
    rm_turn turn;
    uint64_t sum;
    uint32_t chains, supplies; /**< supplies: of a chain */
    uint8_t buffer[RM_SETPOINT_FRAME_LONGEST];
};

static void prepare_guard(struct bench *bench) {
    static struct rm_guard_supply supply[SUPPLIES_MAX];
    static uint32_t owned[SUPPLIES_MAX];
    uint32_t const count = bench->chains * bench->supplies;
    for (uint32_t i = 0; i < count; ++i) {
        supply[i] = (struct rm_guard_supply){-LIMIT, LIMIT, SLEW, 0, SLEW};
        owned[i] = i;
    }
    struct rm_guard_application const application[] = {
        {0},
        {.supply_count = count,
         .supply = owned,
         .freshness_turns = 1000,
         .future_turns = 1000,
         .period_cycles = 1,
         .watchdog_cycles = 2},
    };
    struct rm_error error;
    bench_must(rm_guard_new(supply, count, application, 2, &bench->guard, &error), &error);
    for (uint32_t i = 0; i < count; ++i)
        rm_guard_join(bench->guard, i, 0);
    rm_guard_grant(bench->guard, 1, GRANT_NUMBER, false);
}

static void prepare_frames(struct bench *bench) {
    for (uint32_t chain = 0; chain < bench->chains; ++chain) {
        struct rm_flow const flow = {.destination_mac = {2, 0, 10, 30, 0, (uint8_t)chain},
                                     .source_mac = {2, 0, 10, 30, 1, 1},
                                     .source_ipv4 = 0x0A1E0101,
                                     .destination_ipv4 = 0x0A1E0001 + chain,
                                     .source_port = 4662,
                                     .destination_port = 4662};
        rm_setpoint_frame_prepare(&bench->frame[chain], &flow, (uint16_t)(chain + 1), bench->supplies);
    }
}

/** What an application wants next: up and down by half a slew. */
static void command_setpoints(struct bench *bench) {
    double const next = bench->vector % 2 == 0 ? SWING : 0;
    for (uint32_t i = 0; i < bench->chains * bench->supplies; ++i)
        bench->value[i] = next;
}

__attribute__((noinline)) static void give_vector(struct bench *bench) {
    struct rm_setpoint_reading const vector = {bench->vector++, GRANT_NUMBER, bench->turn, 0};
    if (!rm_guard_vector(bench->guard, 1, &vector, bench->value, bench->turn))
        exit(3);
}

__attribute__((noinline)) static void end_cycle(struct bench *bench) { rm_guard_cycle(bench->guard, bench->turn++); }

/** One datagram for each chain, to nowhere. */
__attribute__((noinline)) static void fill_cycle(struct bench *bench) {
    float const *const setpoint = rm_guard_setpoints(bench->guard);
    for (uint32_t chain = 0; chain < bench->chains; ++chain)
        bench->sum += rm_setpoint_frame_fill(&bench->frame[chain], bench->buffer, 0, bench->turn, 1, 1, bench->vector,
                                             setpoint + chain * bench->supplies);
}

static volatile sig_atomic_t stopped;

static void transmit_cost_stop(int number) {
    (void)number;
    stopped = 1;
}

static void send_burst(struct bench *bench) {
    while (bench->burst.count != 0 && !stopped)
        rm_port_send(bench->port, 0, &bench->burst);
    if (bench->burst.count != 0)
        rm_port_release(bench->port, 0, &bench->burst);
}

/** The same into the link's buffers. */
__attribute__((noinline)) static void send_cycle(struct bench *bench) {
    float const *const setpoint = rm_guard_setpoints(bench->guard);
    for (uint32_t chain = 0; chain < bench->chains && !stopped;) {
        uint32_t const left = bench->chains - chain;
        uint32_t const count = rm_port_reserve(bench->port, 0, &bench->burst, left < RM_BURST ? left : RM_BURST);
        for (uint32_t i = 0; i < count; ++i, ++chain)
            bench->burst.length[i] = rm_setpoint_frame_fill(&bench->frame[chain], bench->burst.data[i], 0, bench->turn,
                                                            1, 1, bench->vector, setpoint + chain * bench->supplies);
        send_burst(bench);
    }
}

/* ── what is measured ── */

/** Nanoseconds of one call. */
static double time_act(struct bench *bench, void (*act)(struct bench *), double tsc_hz) {
    uint64_t const begin = rm_tsc();
    act(bench);
    return (double)(rm_tsc() - begin) / tsc_hz * 1e9;
}

static int transmit_cost_report(struct bench *bench) {
    static double vector[SERIES], moving[SERIES], resting[SERIES], fill[SERIES];
    double const tsc_hz = rm_tsc_hz_measure();
    for (int i = -WARM; i < SERIES; ++i) {
        double sums[4] = {0};
        for (int round = 0; round < ROUNDS; ++round) {
            command_setpoints(bench);
            sums[0] += time_act(bench, give_vector, tsc_hz);
            sums[1] += time_act(bench, end_cycle, tsc_hz);
            sums[2] += time_act(bench, fill_cycle, tsc_hz);
            give_vector(bench); // the same again: they are there
            sums[3] += time_act(bench, end_cycle, tsc_hz);
        }
        if (i < 0)
            continue;
        vector[i] = sums[0] / ROUNDS;
        moving[i] = sums[1] / ROUNDS;
        fill[i] = sums[2] / ROUNDS / bench->chains;
        resting[i] = sums[3] / ROUNDS;
    }
    printf("{\"chains\": %u, \"supplies\": %u, ", bench->chains, bench->chains * bench->supplies);
    bench_figure_json("vector_ns", vector, SERIES, ", ");
    bench_figure_json("cycle_moving_ns", moving, SERIES, ", ");
    bench_figure_json("cycle_resting_ns", resting, SERIES, ", ");
    bench_figure_json("fill_datagram_ns", fill, SERIES, "}\n");
    return 0;
}

static void transmit_cost_open_port(struct bench *bench, char const *socket) {
    struct rm_net_config const net = {.prefix = "ringmaster-transmit-cost"};
    struct rm_port_config config = {.name = "out", .kind = socket ? RM_PORT_MEMIF : RM_PORT_NULL, .queues = 1};
    snprintf(config.socket_path, sizeof config.socket_path, "%s", socket ? socket : "");
    struct rm_error error;
    bench_must(rm_net_start(&net, &error), &error);
    bench_must(rm_port_open(&config, &bench->port, &error), &error);
}

static int flood_socket(struct bench *bench, char const *socket, uint64_t cycles) {
    transmit_cost_open_port(bench, socket);
    signal(SIGINT, transmit_cost_stop);
    signal(SIGTERM, transmit_cost_stop);
    for (uint64_t cycle = 0; cycle < cycles && !stopped; ++cycle) {
        command_setpoints(bench);
        give_vector(bench);
        end_cycle(bench);
        send_cycle(bench);
    }
    rm_port_close(bench->port);
    rm_net_stop();
    return 0;
}

static char const USAGE[] = "Usage: ringmaster-transmit-cost cost CHAINS SUPPLIES\n"
                            "       ringmaster-transmit-cost flood CHAINS SUPPLIES SOCKET CPU\n"
                            "       ringmaster-transmit-cost count CHAINS SUPPLIES CYCLES\n";

int main(int argc, char **argv) {
    enum { COST, FLOOD, COUNT };
    static char const *const commands[] = {[COST] = "cost", [FLOOD] = "flood", [COUNT] = "count", NULL};
    static struct bench bench;
    uint64_t chains = 0, supplies = 0, cycles = UINT64_MAX, cpu = 0;
    char const *socket = NULL;
    struct rm_option options[] = {
        {"CHAINS", &chains, 1, CHAINS_MAX, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"SUPPLIES", &supplies, 1, RM_CHAIN_SUPPLIES_MAX, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"SOCKET", &socket, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
    };
    uint64_t const command = rm_options_command_or_exit(argc, argv, USAGE, commands);
    if (command == COUNT)
        options[2] = (struct rm_option){"CYCLES", &cycles, 0, 1e12, .kind = RM_OPTION_WHOLE, .place = RM_WORD};
    rm_options_or_exit(argc - 1, argv + 1, USAGE, options, command == COST ? 2 : command == COUNT ? 3 : 4);
    if (chains * supplies > SUPPLIES_MAX) {
        struct rm_error error;
        rm_fail(&error, RM_E_ARGUMENT, "found %u supplies in all, expected at most %d", (unsigned)(chains * supplies),
                SUPPLIES_MAX);
        return rm_options_refuse(&error);
    }
    bench.chains = (uint32_t)chains;
    bench.supplies = (uint32_t)supplies;
    prepare_guard(&bench);
    prepare_frames(&bench);
    if (command == COST)
        return transmit_cost_report(&bench);
    if (command == FLOOD)
        bench_pin((uint32_t)cpu);
    return flood_socket(&bench, socket, cycles);
}
