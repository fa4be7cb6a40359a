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

#include "filter/decimator.h"
#include "rounds.h"

enum { ROUNDS = 9, PUSHES = 1200000, VERSIONS = RM_SIMD_AVX512, NAME_BYTES = 48 };

/** Streams of one design and version. */
struct subject {
    struct rm_decimator *decimators;
    uint32_t streams;
    char name[NAME_BYTES];
};

static uint64_t push_records(void *argument) {
    struct subject const *const subject = argument;
    uint32_t const turns = PUSHES / subject->streams;
    struct rm_record record = {.turn = subject->decimators[0].own.next_turn};
    struct rm_decimated output;
    for (int lane = 0; lane < RM_LANES; ++lane)
        record.lane[lane].i = 1000 * lane;
    for (uint32_t turn = 0; turn < turns; ++turn, ++record.turn)
        for (uint32_t stream = 0; stream < subject->streams; ++stream)
            rm_decimator_push(&subject->decimators[stream], &record, &output);
    return (uint64_t)turns * subject->streams;
}

static void filter_push_measure(struct rm_fir_design const *design, uint32_t streams) {
    uint32_t const versions = (uint32_t)rm_simd_best();
    struct subject subjects[VERSIONS];
    struct bench_case cases[VERSIONS];
    struct rm_decimator_input const input = {.period = 1, .float_lanes = 0xF00};
    for (uint32_t v = 0; v < versions; ++v) {
        enum rm_simd const simd = (enum rm_simd)(v + 1);
        subjects[v] = (struct subject){bench_allocate(streams * sizeof(struct rm_decimator)), streams, ""};
        for (uint32_t stream = 0; stream < streams; ++stream)
            rm_decimator_init(&subjects[v].decimators[stream], design, simd, &input);
        snprintf(subjects[v].name, NAME_BYTES, "%s, %s, %u streams", design->name, rm_simd_name(simd), streams);
        cases[v] = (struct bench_case){subjects[v].name, push_records, &subjects[v], NULL};
    }
    bench_rounds(cases, versions, ROUNDS);
    bench_print(cases, versions, ROUNDS, "ns per push");
    for (uint32_t v = 0; v < versions; ++v)
        free(subjects[v].decimators);
}

int main(void) {
    uint32_t const streams[] = {8, 96};
    struct rm_fir_design const *const designs[] = {rm_fir_find("low_latency", 12), rm_fir_find("sharp", 12)};
    for (size_t d = 0; d < sizeof designs / sizeof designs[0]; ++d)
        for (size_t s = 0; s < sizeof streams / sizeof streams[0]; ++s)
            filter_push_measure(designs[d], streams[s]);
    return 0;
}
