// SPDX-License-Identifier: Apache-2.0
/** What does it cost to compose a frame of setpoints?
 *
 *     setpoint_frame_cost [ROUNDS]      default 15
 *
 * 64 chains of 1, 8, 10 or 40 supplies; each frame is made 20000 times a round, with new values: from its template
 * (setpoint_frame.h), and beside it from its parts (setpoint.h, frame.h). Medians, with the spread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/timebase.h"
#include "wire/setpoint_frame.h"

enum { CHAINS = 64, PASSES = 20000, ROUNDS_MOST = 1000 };

static struct rm_flow const flow = {
    .source_ipv4 = 0x0A1E0001, .destination_ipv4 = 0x0A1E0002, .destination_port = 4662};
static struct rm_setpoint_frame template[CHAINS];
static float values[CHAINS][RM_CHAIN_SUPPLIES_MAX];
static uint8_t buffer[CHAINS][256];

static int by_size(void const *a, void const *b) {
    double const left = *(double const *)a, right = *(double const *)b;
    return (left > right) - (left < right);
}

static uint32_t from_template(uint32_t chain, uint32_t count, uint64_t sequence) {
    (void)count;
    return rm_setpoint_frame_fill(&template[chain], buffer[chain], 0, 12 * sequence, 1, sequence, values[chain]);
}

static uint32_t from_parts(uint32_t chain, uint32_t count, uint64_t sequence) {
    uint32_t const header = rm_frame_write_header(buffer[chain], &flow, RM_SETPOINT_HEADER_BYTES + 4 * count);
    uint32_t const length =
        rm_setpoint_write(buffer[chain] + header, 0, (uint16_t)chain, 12 * sequence, 1, sequence, values[chain], count);
    rm_frame_write_udp_checksum(buffer[chain], length);
    return header + length;
}

static void setpoint_frame_cost_measure(char const *name, uint32_t (*make)(uint32_t, uint32_t, uint64_t),
                                        uint32_t count, int rounds, double ns_per_tick) {
    double ns[ROUNDS_MOST];
    uint64_t bytes = 0;
    for (uint32_t chain = 0; chain < CHAINS; ++chain)
        if (!rm_setpoint_frame_prepare(&template[chain], &flow, (uint16_t)chain, count))
            exit(1);
    for (int round = 0; round < rounds; ++round) {
        uint64_t const begin = rm_tsc();
        for (uint64_t pass = 0; pass < PASSES; ++pass)
            for (uint32_t chain = 0; chain < CHAINS; ++chain)
                bytes += make(chain, count, pass);
        ns[round] = (double)(rm_tsc() - begin) * ns_per_tick / (CHAINS * PASSES);
    }
    if (bytes != (uint64_t)rounds * PASSES * CHAINS * (RM_FRAME_HEADER_BYTES + RM_SETPOINT_HEADER_BYTES + 4 * count))
        exit(1);
    qsort(ns, (size_t)rounds, sizeof *ns, by_size);
    printf("%-14s %2u supplies %6.2f ns (%.2f to %.2f)\n", name, count, ns[rounds / 2], ns[0], ns[rounds - 1]);
}

int main(int argc, char **argv) {
    static uint32_t const counts[] = {1, 8, 10, RM_CHAIN_SUPPLIES_MAX};
    int const wanted = argc > 1 ? atoi(argv[1]) : 15;
    int const rounds = wanted >= 1 && wanted <= ROUNDS_MOST ? wanted : 15;
    double const ns_per_tick = 1e9 / rm_tsc_hz_measure();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        setpoint_frame_cost_measure("from template", from_template, counts[i], rounds, ns_per_tick);
        setpoint_frame_cost_measure("from its parts", from_parts, counts[i], rounds, ns_per_tick);
    }
    return 0;
}
