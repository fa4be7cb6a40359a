// SPDX-License-Identifier: Apache-2.0
/** What does it cost to take a frame apart, and to put fragments together?
 *
 *     frame_cost [ROUNDS]      default 15
 *
 * For each shape of frame: 64 frames of native datagrams with 8 lanes lie in memory, and are gone through 20000 times a
 * round. Then a Libera Grouping datagram of 168 BPMs, 2688 bytes, in two fragments: parsed, put together, its checksum
 * verified; and beside it the copy alone. Medians, with the spread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "wire/fragment.h"
#include "wire/frame.h"
#include "wire/reassembly.h"

enum { FRAMES = 64, FRAME_BYTES = 1536, PASSES = 20000, ROUNDS_MOST = 1000, NATIVE_PAYLOAD = 48, GROUPING = 2688 };

struct frame_shape {
    char const *name;
    uint16_t vlan;
    bool checksum;
};

static int by_size(void const *a, void const *b) {
    double const left = *(double const *)a, right = *(double const *)b;
    return (left > right) - (left < right);
}

static void frame_cost_report(char const *name, double *ns, int rounds) {
    qsort(ns, (size_t)rounds, sizeof *ns, by_size);
    printf("%-36s %6.2f ns (%.2f to %.2f)\n", name, ns[rounds / 2], ns[0], ns[rounds - 1]);
}

static uint32_t write_bench_frame(uint8_t *frame, uint16_t vlan, bool checksum, uint32_t payload_length) {
    struct rm_flow const flow = {.source_ipv4 = 0x0A000001, .destination_ipv4 = 0x0A00FF01, .vlan = vlan};
    uint32_t const header = rm_frame_write_header(frame, &flow, payload_length);
    memset(frame + header, 0x5A, payload_length);
    if (checksum)
        rm_frame_write_udp_checksum(frame, payload_length);
    return header + payload_length;
}

static void measure_parse(struct frame_shape const *shape, int rounds, double ns_per_tick) {
    static uint8_t frame[FRAMES][FRAME_BYTES];
    uint32_t length = 0;
    for (int i = 0; i < FRAMES; ++i)
        length = write_bench_frame(frame[i], shape->vlan, shape->checksum, NATIVE_PAYLOAD);
    double ns[ROUNDS_MOST];
    uint64_t decoded = 0;
    for (int round = 0; round < rounds; ++round) {
        uint64_t const begin = rm_tsc();
        for (int pass = 0; pass < PASSES; ++pass) {
            for (int i = 0; i < FRAMES; ++i) {
                struct rm_datagram datagram;
                decoded += rm_frame_parse(frame[i], length, false, &datagram) == RM_PORT_DECODED;
            }
        }
        ns[round] = (double)(rm_tsc() - begin) * ns_per_tick / (FRAMES * PASSES);
    }
    if (decoded != (uint64_t)rounds * PASSES * FRAMES)
        exit(1);
    frame_cost_report(shape->name, ns, rounds);
}

static void measure_reassembly(int rounds, double ns_per_tick) {
    static uint8_t whole[4096], fragment[2][FRAME_BYTES];
    uint32_t const length = write_bench_frame(whole, 0, true, GROUPING);
    uint32_t piece[2];
    for (uint32_t i = 0; i < 2; ++i)
        piece[i] = rm_fragment_write(whole, length, 1500, 1, i, fragment[i]);
    struct rm_reassembly *const reassembly = rm_reassembly_new(256, 9216, UINT64_MAX / 2);
    if (reassembly == NULL)
        exit(1);
    double ns[ROUNDS_MOST];
    uint64_t decoded = 0;
    for (int round = 0; round < rounds; ++round) {
        uint64_t const begin = rm_tsc();
        for (uint32_t i = 0; i < 2 * PASSES; ++i) {
            struct rm_datagram datagram;
            if (rm_frame_parse(fragment[i % 2], piece[i % 2], false, &datagram) == RM_PORT_FRAGMENT)
                decoded +=
                    rm_reassembly_put(reassembly, fragment[i % 2], piece[i % 2], 0, &datagram) == RM_PORT_DECODED;
        }
        ns[round] = (double)(rm_tsc() - begin) * ns_per_tick / PASSES;
    }
    if (decoded != (uint64_t)rounds * PASSES)
        exit(1);
    frame_cost_report("168 BPMs in two fragments", ns, rounds);
    rm_reassembly_free(reassembly);
}

/** What putting it together cannot do without: its bytes, copied. */
static void measure_copy(int rounds, double ns_per_tick) {
    static uint8_t from[4096], to[4096];
    double ns[ROUNDS_MOST];
    for (int round = 0; round < rounds; ++round) {
        uint64_t const begin = rm_tsc();
        for (int pass = 0; pass < PASSES; ++pass) {
            memcpy(to, from, RM_UDP_BYTES + GROUPING);
            __asm__ volatile("" ::: "memory");
        }
        ns[round] = (double)(rm_tsc() - begin) * ns_per_tick / PASSES;
    }
    frame_cost_report("their bytes copied, and nothing else", ns, rounds);
}

int main(int argc, char **argv) {
    static struct frame_shape const shapes[] = {
        {"untagged, no UDP checksum", 0, false},
        {"untagged, UDP checksum", 0, true},
        {"VLAN tag, no UDP checksum", 100, false},
        {"VLAN tag, UDP checksum", 100, true},
    };
    int const wanted = argc > 1 ? atoi(argv[1]) : 15;
    int const rounds = wanted >= 1 && wanted <= ROUNDS_MOST ? wanted : 15;
    double const ns_per_tick = 1e9 / rm_tsc_hz_measure();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i)
        measure_parse(&shapes[i], rounds, ns_per_tick);
    measure_reassembly(rounds, ns_per_tick);
    measure_copy(rounds, ns_per_tick);
    return 0;
}
