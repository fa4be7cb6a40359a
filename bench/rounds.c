// SPDX-License-Identifier: Apache-2.0
#include "rounds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pin.h"
#include "base/timebase.h"

enum { PAGE_BYTES = 4096, NAME_COLUMNS = 44 };

void bench_fail(char const *text) {
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
    exit(1);
}

void bench_must(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        bench_fail(error->text);
}

void bench_pin(uint32_t cpu) {
    struct rm_error error;
    bench_must(rm_pin(cpu, &error), &error);
}

void *bench_allocate(size_t bytes) {
    size_t const whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    void *const memory = aligned_alloc(PAGE_BYTES, whole);
    if (memory == NULL)
        bench_fail("no memory");
    return memset(memory, 0, whole);
}

uint64_t bench_draw_bits(void) {
    static uint64_t seed = 1;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

double bench_draw(void) { return (double)(int64_t)(bench_draw_bits() & ~(uint64_t)0x7ff) * 0x1p-63; }

static int by_size(void const *a, void const *b) {
    double const left = *(double const *)a, right = *(double const *)b;
    return (left > right) - (left < right);
}

struct bench_figure bench_figure_of(double *values, size_t count, double outside) {
    size_t const out = (size_t)(outside * (double)count);
    qsort(values, count, sizeof *values, by_size);
    return (struct bench_figure){.median = values[count / 2],
                                 .low = values[out],
                                 .high = values[count - 1 - out],
                                 .p99 = values[count - 1 - count / 100],
                                 .max = values[count - 1],
                                 .count = count};
}

void bench_figure_print(char const *name, struct bench_figure figure, char const *end, FILE *out) {
    fprintf(out,
            "\"%s\": {\"median\": %.3f, \"low\": %.3f, \"high\": %.3f, \"p99\": %.3f, \"max\": %.3f, \"count\": "
            "%zu}%s",
            name, figure.median, figure.low, figure.high, figure.p99, figure.max, figure.count, end);
}

void bench_figure_json(char const *name, double *values, size_t count, char const *end) {
    bench_figure_print(name, bench_figure_of(values, count, 0.1), end, stdout);
}

void bench_rounds(struct bench_case *cases, size_t count, size_t rounds) {
    double const ns_per_tick = 1e9 / rm_tsc_hz_measure();
    for (size_t i = 0; i < count; ++i) {
        cases[i].ns = bench_allocate(rounds * sizeof *cases[i].ns);
        cases[i].act(cases[i].subject);
    }
    for (size_t round = 0; round < rounds; ++round)
        for (size_t i = 0; i < count; ++i) {
            struct bench_case *const one = &cases[(i + round) % count];
            uint64_t const begin = rm_tsc();
            uint64_t const times = one->act(one->subject);
            one->ns[round] = (double)(rm_tsc() - begin) * ns_per_tick / (double)times;
        }
}

/** Median and middle half of a case, or of what it takes more than another. */
static struct bench_figure case_figure(struct bench_case const *one, struct bench_case const *other, size_t rounds,
                                       double unit_ns) {
    double *const values = bench_allocate(rounds * sizeof *values);
    for (size_t i = 0; i < rounds; ++i)
        values[i] = (one->ns[i] - (other != NULL ? other->ns[i] : 0)) / unit_ns;
    struct bench_figure const figure = bench_figure_of(values, rounds, 0.25);
    free(values);
    return figure;
}

void bench_print(struct bench_case const *cases, size_t count, size_t rounds, char const *unit, double unit_ns) {
    for (size_t i = 0; i < count; ++i) {
        struct bench_figure figure = case_figure(&cases[i], NULL, rounds, unit_ns);
        printf("%-*s %8.2f %s (%.2f to %.2f)", NAME_COLUMNS, cases[i].name, figure.median, unit, figure.low,
               figure.high);
        if (cases[i].beside != NULL) {
            figure = case_figure(&cases[i], cases[i].beside, rounds, unit_ns);
            printf(", %+.2f (%+.2f to %+.2f) beside %s", figure.median, figure.low, figure.high, cases[i].beside->name);
        }
        putchar('\n');
    }
}

void bench_times_clear(struct bench_times *times) {
    if (times->count == NULL)
        times->count = bench_allocate(BENCH_TICKS_MAX * sizeof *times->count);
    memset(times->count, 0, BENCH_TICKS_MAX * sizeof *times->count);
    times->total = times->longest = 0;
}

static double quantile_of(struct bench_times const *times, double share, double ns_per_tick) {
    uint64_t const wanted = (uint64_t)(share * (double)times->total);
    uint64_t seen = 0, ticks = 0;
    while (ticks < BENCH_TICKS_MAX - 1 && (seen += times->count[ticks]) <= wanted)
        ++ticks;
    return (double)ticks * ns_per_tick;
}

void bench_times_json(char const *name, struct bench_times const *times, double ns_per_tick, char const *end) {
    struct bench_figure const figure = {.median = quantile_of(times, 0.5, ns_per_tick),
                                        .low = quantile_of(times, 0.1, ns_per_tick),
                                        .high = quantile_of(times, 0.9, ns_per_tick),
                                        .p99 = quantile_of(times, 0.99, ns_per_tick),
                                        .max = (double)times->longest * ns_per_tick,
                                        .count = times->total};
    bench_figure_print(name, figure, end, stdout);
}
