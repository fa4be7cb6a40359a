// SPDX-License-Identifier: Apache-2.0
/** One push into a decimator, for each design, version of the inner loop and number of streams, which take turns as they
 * do on a receive core. */
#include <stdio.h>

#include "cost.h"
#include "filter/decimator.h"

enum { PUSHES = 120000, NAME_BYTES = 48 };

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

static size_t filter_prepare(struct bench_case *cases) {
    static uint32_t const streams[] = {8, 96};
    static struct subject subjects[COST_CASES_MAX];
    struct rm_fir_design const *const designs[] = {rm_fir_find("low_latency", 12), rm_fir_find("sharp", 12)};
    struct rm_decimator_input const input = {.period = 1, .float_lanes = 0xF00};
    size_t count = 0;
    for (int d = 0; d < 2; ++d)
        for (int s = 0; s < 2; ++s)
            for (enum rm_simd simd = RM_SIMD_SCALAR; simd <= rm_simd_best(); ++simd, ++count) {
                struct subject *const subject = &subjects[count];
                *subject = (struct subject){bench_allocate(streams[s] * sizeof(struct rm_decimator)), streams[s], ""};
                for (uint32_t stream = 0; stream < streams[s]; ++stream)
                    rm_decimator_init(&subject->decimators[stream], designs[d], simd, &input);
                snprintf(subject->name, NAME_BYTES, "%s, %s, %u streams", designs[d]->name, rm_simd_name(simd),
                         streams[s]);
                cases[count] = (struct bench_case){subject->name, push_records, subject, NULL, NULL};
            }
    return count;
}

struct bench_cost const filter_cost = {.name = "filter",
                                       .about = "to push a record into a decimator",
                                       .rounds = 31,
                                       .unit = "ns per push",
                                       .unit_ns = 1,
                                       .prepare = filter_prepare};
