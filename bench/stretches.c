// SPDX-License-Identifier: Apache-2.0
#include "stretches.h"

#include <stdbool.h>
#include <stdio.h>

#include "rounds.h"

static double const OUTSIDE = 0.1;

void bench_stretches_begin(struct bench_stretches *stretches, double tsc_hz, uint64_t tsc) {
    stretches->tsc_hz = tsc_hz;
    stretches->poll_tsc = stretches->arrival_tsc = stretches->begin_tsc = tsc;
    stretches->count_tsc = stretches->frames = stretches->ticks = stretches->count = 0;
}

static bool is_beyond(struct bench_stretches const *stretches, uint64_t from, uint64_t to, double seconds) {
    return (double)(to - from) > seconds * stretches->tsc_hz;
}

/** Notes the stretch that the last arrival ended. */
static void end_stretch(struct bench_stretches *stretches) {
    uint64_t const from = stretches->count_tsc, to = stretches->arrival_tsc;
    if (from == 0 || stretches->count == BENCH_STRETCHES_MAX || !is_beyond(stretches, from, to, BENCH_STRETCH_S))
        return;
    stretches->rate_pps[stretches->count++] = (double)stretches->frames / (double)(to - from) * stretches->tsc_hz;
    stretches->ticks += to - from;
}

void bench_stretches_poll(struct bench_stretches *stretches, uint32_t frames, uint64_t tsc) {
    if (is_beyond(stretches, stretches->poll_tsc, tsc, BENCH_GAP_S) ||
        is_beyond(stretches, stretches->arrival_tsc, tsc, BENCH_GAP_S)) {
        end_stretch(stretches);
        stretches->begin_tsc = stretches->arrival_tsc = tsc;
        stretches->count_tsc = 0;
    } else if (frames != 0 && stretches->count_tsc != 0) {
        stretches->frames += frames;
        stretches->arrival_tsc = tsc;
    } else if (frames != 0) {
        stretches->arrival_tsc = tsc;
        stretches->frames = 0;
        if (is_beyond(stretches, stretches->begin_tsc, tsc, BENCH_BACKLOG_S))
            stretches->count_tsc = tsc;
    }
    stretches->poll_tsc = tsc;
}

void bench_stretches_json(struct bench_stretches *stretches, char const *end) {
    end_stretch(stretches);
    stretches->count_tsc = 0;
    struct bench_figure figure = {.count = 0};
    if (stretches->count != 0)
        figure = bench_figure_of(stretches->rate_pps, stretches->count, OUTSIDE);
    printf("\"stretches\": {\"seconds\": %.6f, ", (double)stretches->ticks / stretches->tsc_hz);
    bench_figure_print("rate_pps", figure, "}", stdout);
    fputs(end, stdout);
}
