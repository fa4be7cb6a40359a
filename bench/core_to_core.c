// SPDX-License-Identifier: Apache-2.0
/** How far apart are two cores, just now? A cache line goes back and forth between them.
 *
 *     ringmaster-core-to-core 0 1      prints the median round trip in nanoseconds of 101 short series
 *
 * On virtual machines the answer changes from one second to the next, and with it every two-core figure: print this
 * beside them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "rounds.h"

enum { SERIES = 101, ROUNDS = 200 };

struct line {
    _Alignas(64) atomic_uint ball;
};

struct partner {
    struct line *line;
    uint32_t cpu;
};

/** Answers every odd number with the next even one, until it sees 0. */
static void *answer_line(void *argument) {
    struct partner *partner = argument;
    (void)rm_pin(partner->cpu, NULL); /* main has been there */
    for (;;) {
        unsigned const seen = atomic_load_explicit(&partner->line->ball, memory_order_acquire);
        if (seen == 0)
            return NULL;
        if (seen & 1)
            atomic_store_explicit(&partner->line->ball, seen + 1, memory_order_release);
        else
            rm_pause();
    }
}

/** Ticks of one series. */
static uint64_t measure_series(struct line *line) {
    uint64_t const begin = rm_tsc();
    for (unsigned round = 0; round < ROUNDS; ++round) {
        unsigned const call = 2 * round + 3;
        atomic_store_explicit(&line->ball, call, memory_order_release);
        while (atomic_load_explicit(&line->ball, memory_order_acquire) != call + 1)
            rm_pause();
    }
    return rm_tsc() - begin;
}

int main(int argc, char **argv) {
    uint64_t first = 0, second = 0;
    struct rm_option options[] = {
        {"CPU", &first, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"other CPU", &second, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
    };
    rm_options_or_exit(argc, argv, "Usage: ringmaster-core-to-core CPU CPU\n", options,
                       sizeof options / sizeof *options);
    struct line line = {.ball = 2};
    uint32_t const cpu = (uint32_t)first;
    struct partner partner = {&line, (uint32_t)second};
    struct rm_error error = {.text = "needs two CPUs"};
    pthread_t thread;
    if (partner.cpu == cpu || rm_pin(partner.cpu, &error) != RM_OK || rm_pin(cpu, &error) != RM_OK ||
        pthread_create(&thread, NULL, answer_line, &partner) != 0) {
        fprintf(stderr, "%s: %s\n", argv[0], error.text);
        return 1;
    }
    double ticks[SERIES];
    for (int i = 0; i < SERIES; ++i)
        ticks[i] = (double)measure_series(&line);
    atomic_store(&line.ball, 0);
    pthread_join(thread, NULL);
    printf("%.1f\n", bench_figure_of(ticks, SERIES, 0).median / ROUNDS / rm_tsc_hz_measure() * 1e9);
    return 0;
}
