// SPDX-License-Identifier: Apache-2.0
/** What does one end of a memif link cost, when the other keeps it full?
 *
 *     memif_cost [FRAME_BYTES [SLOTS [ROUNDS]]]        default 106 4096 11
 *
 * Two threads on the first two CPUs, a port each. The receiver lets the ring fill, and then takes half of it. Medians
 * of rounds of half a second:
 *
 *     discard    time per frame given back unseen
 *     look       of frames of which the receiver reads both lines (as much as a native one has) and gives back
 *     work       of the same with some 15 ns of other work for each frame, which is taken off again: what is left
 *                to pay where fetching goes on beside the work
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "net/port.h"
#include "rounds.h"

enum { LINE_BYTES = 64, ROUNDS_MOST = 101, WORK_STEPS = 8, FULL_TICKS = 50000, DEFAULT_SLOTS = 4096 };

static double const ROUND_SECONDS = 0.5;

enum act { DISCARD, LOOK, WORK, WORK_ALONE, ACTS };

struct bench {
    struct rm_port *in, *out;
    uint32_t frame_bytes, slots;
    atomic_bool stop;
    _Atomic uint64_t sent;
    uint64_t sum; /**< of what was read, so that it is */
};

static void memif_cost_pin(uint32_t cpu) {
    struct rm_error error;
    if (rm_pin(cpu, &error) != RM_OK)
        fprintf(stderr, "memif_cost: %s; its figures are of wherever it ran\n", error.text);
}

static void *send_bench_frames(void *argument) {
    struct bench *const bench = argument;
    struct rm_burst burst = {0};
    uint64_t number = 0;
    memif_cost_pin(0);
    while (!atomic_load_explicit(&bench->stop, memory_order_relaxed)) {
        rm_port_reserve(bench->out, 0, &burst, RM_BURST);
        for (uint32_t i = 0; i < burst.count; ++i) {
            memset(burst.data[i], (int)++number, bench->frame_bytes);
            burst.length[i] = bench->frame_bytes;
        }
        while (burst.count != 0 && !atomic_load_explicit(&bench->stop, memory_order_relaxed)) {
            uint32_t const gone = rm_port_send(bench->out, 0, &burst);
            atomic_store_explicit(&bench->sent, bench->sent + gone, memory_order_relaxed);
        }
        rm_port_release(bench->out, 0, &burst);
    }
    return NULL;
}

static uint64_t read_lines(struct rm_burst const *burst, uint32_t index) {
    uint64_t sum = 0;
    for (uint32_t at = 0; at + 8 <= burst->length[index] && at < 2 * LINE_BYTES; at += LINE_BYTES) {
        uint64_t word;
        memcpy(&word, burst->data[index] + at, sizeof word);
        sum += word;
    }
    return sum;
}

/** Some 15 ns that wait for nothing but themselves. */
static uint64_t work_on_datagram(uint64_t number) {
    for (int i = 0; i < WORK_STEPS; ++i)
        number = number * 0x9E3779B97F4A7C15u ^ number >> 29;
    return number;
}

static uint64_t memif_cost_receive(struct bench *bench, enum act act) {
    struct rm_burst burst;
    if (act == DISCARD)
        return rm_port_discard(bench->in, 0);
    uint32_t const count = act == WORK_ALONE ? RM_BURST : rm_port_receive(bench->in, 0, &burst);
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t const read = act == WORK_ALONE ? i : read_lines(&burst, i);
        bench->sum += act == LOOK ? read : work_on_datagram(read);
    }
    if (act != WORK_ALONE)
        rm_port_release(bench->in, 0, &burst);
    return count;
}

/** Waits until the sender has filled the ring. */
static void wait_for_full(struct bench const *bench) {
    uint64_t before = 0, now = atomic_load(&bench->sent) + 1;
    for (; before != now; now = atomic_load(&bench->sent)) {
        before = now;
        for (uint64_t const end = rm_tsc() + FULL_TICKS; rm_tsc() < end;)
            rm_pause();
    }
}

/** Nanoseconds per frame of half a ring at a time. */
static double round_of(struct bench *bench, enum act act, double tsc_hz) {
    uint64_t frames = 0, ticks = 0;
    for (uint64_t const end = rm_tsc() + (uint64_t)(ROUND_SECONDS * tsc_hz); rm_tsc() < end;) {
        wait_for_full(bench);
        uint64_t const begin = rm_tsc();
        for (uint32_t burst = 0; burst < bench->slots / RM_BURST / 2; ++burst)
            frames += memif_cost_receive(bench, act);
        ticks += rm_tsc() - begin;
    }
    return (double)ticks / tsc_hz * 1e9 / (double)(frames != 0 ? frames : 1);
}

static void memif_cost_print(char const *what, double *ns, int rounds) {
    struct bench_figure const figure = bench_figure_of(ns, (size_t)rounds, 0);
    printf("%-8s %6.1f ns a frame (%.1f-%.1f)\n", what, figure.median, figure.low, figure.high);
}

static bool open_ports(struct bench *bench) {
    struct rm_net_config const net = {.prefix = "ringmaster-memif-cost"};
    struct rm_port_config config = {.name = "in", .kind = RM_PORT_MEMIF, .queues = 1, .memif_server = true};
    struct rm_error error;
    snprintf(config.socket_path, sizeof config.socket_path, "/tmp/ringmaster-memif-cost-%d.sock", getpid());
    bool good = rm_net_start(&net, &error) == RM_OK && rm_port_open(&config, &bench->in, &error) == RM_OK;
    snprintf(config.name, sizeof config.name, "out");
    config.memif_server = false;
    config.ring_slots = bench->slots;
    good = good && rm_port_open(&config, &bench->out, &error) == RM_OK;
    if (!good)
        fprintf(stderr, "%s\n", error.text);
    struct rm_port_statistics totals = {0};
    while (good && !totals.link_up) {
        usleep(1000);
        rm_port_totals(bench->out, &totals);
    }
    return good;
}

int main(int argc, char **argv) {
    uint64_t frame_bytes = 106, slots = DEFAULT_SLOTS, rounds = 11;
    struct rm_option options[] = {
        {"FRAME_BYTES", &frame_bytes, 1, RM_SEND_BYTES, .kind = RM_OPTION_WHOLE, .place = RM_OPTIONAL_WORD},
        {"SLOTS", &slots, 1, UINT16_MAX, .kind = RM_OPTION_WHOLE, .place = RM_OPTIONAL_WORD},
        {"ROUNDS", &rounds, 1, ROUNDS_MOST, .kind = RM_OPTION_WHOLE, .place = RM_OPTIONAL_WORD},
    };
    rm_options_or_exit(argc, argv, "Usage: memif_cost [FRAME_BYTES [SLOTS [ROUNDS]]]\n", options,
                       sizeof options / sizeof *options);
    struct bench bench = {.frame_bytes = (uint32_t)frame_bytes, .slots = (uint32_t)slots};
    if (!open_ports(&bench))
        return 1;
    pthread_t sender;
    pthread_create(&sender, NULL, send_bench_frames, &bench);
    memif_cost_pin(1);
    double const tsc_hz = rm_tsc_hz_measure();
    static double ns[ACTS][ROUNDS_MOST];
    for (uint64_t round = 0; round < rounds; ++round) {
        for (int act = 0; act < ACTS; ++act) {
            ns[act][round] = round_of(&bench, (enum act)act, tsc_hz);
        }
        ns[WORK][round] -= ns[WORK_ALONE][round];
    }
    atomic_store(&bench.stop, true);
    pthread_join(sender, NULL);
    memif_cost_print("discard", ns[DISCARD], (int)rounds);
    memif_cost_print("look", ns[LOOK], (int)rounds);
    memif_cost_print("work", ns[WORK], (int)rounds);
    rm_port_close(bench.out);
    rm_port_close(bench.in);
    rm_net_stop();
    return bench.sum == 1;
}
