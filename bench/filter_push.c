// SPDX-License-Identifier: Apache-2.0
/** What does one push into a decimator cost?
 *
 *     build/bench/filter_push
 *
 * For each design, version of the inner loop and number of streams: nanoseconds per push, as median and spread (lowest
 * and highest) over ROUNDS rounds of PUSHES pushes each, the versions alternating within a round. The streams take
 * turns, as they do on a receive core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "filter/decimator.h"

enum { ROUNDS = 9, PUSHES = 1200000, VERSIONS = RM_SIMD_AVX512 };

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/** Nanoseconds per push of a round over `streams` decimators. */
static double round_ns(struct rm_decimator *decimators, uint32_t streams) {
    uint32_t const turns = PUSHES / streams;
    struct rm_record record = {.turn = 0};
    struct rm_decimated output;
    for (int lane = 0; lane < RM_LANES; ++lane)
        record.lane[lane].i = 1000 * lane;
    record.turn = decimators[0].own.next_turn;
    double const start = now_ns();
    for (uint32_t turn = 0; turn < turns; ++turn, ++record.turn)
        for (uint32_t stream = 0; stream < streams; ++stream)
            rm_decimator_push(&decimators[stream], &record, &output);
    return (now_ns() - start) / ((double)turns * streams);
}

static int by_size(void const *a, void const *b) {
    double const left = *(double const *)a, right = *(double const *)b;
    return (left > right) - (left < right);
}

static void filter_push_measure(struct rm_fir_design const *design, uint32_t streams) {
    uint32_t const versions = (uint32_t)rm_simd_best();
    struct rm_decimator *decimators[VERSIONS];
    double ns[VERSIONS][ROUNDS];
    struct rm_decimator_input const input = {.period = 1, .float_lanes = 0xF00};
    for (uint32_t v = 0; v < versions; ++v) {
        decimators[v] = aligned_alloc(RM_CACHE_LINE, streams * sizeof *decimators[v]);
        if (!decimators[v])
            abort();
        for (uint32_t stream = 0; stream < streams; ++stream)
            rm_decimator_init(&decimators[v][stream], design, (enum rm_simd)(v + 1), &input);
        round_ns(decimators[v], streams); /* warm up */
    }
    for (int round = 0; round < ROUNDS; ++round)
        for (uint32_t v = 0; v < versions; ++v)
            ns[v][round] = round_ns(decimators[v], streams);
    for (uint32_t v = 0; v < versions; ++v) {
        qsort(ns[v], ROUNDS, sizeof ns[v][0], by_size);
        printf("%-7s %-8s %3u streams: %7.2f ns per push (%.2f to %.2f)\n", design->name,
               rm_simd_name((enum rm_simd)(v + 1)), streams, ns[v][ROUNDS / 2], ns[v][0], ns[v][ROUNDS - 1]);
        free(decimators[v]);
    }
}

int main(void) {
    uint32_t const streams[] = {8, 96};
    struct rm_fir_design const *const designs[] = {rm_fir_find("low_latency", 12), rm_fir_find("sharp", 12)};
    for (size_t d = 0; d < sizeof designs / sizeof designs[0]; ++d)
        for (size_t s = 0; s < sizeof streams / sizeof streams[0]; ++s)
            filter_push_measure(designs[d], streams[s]);
    return 0;
}
