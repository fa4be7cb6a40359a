// SPDX-License-Identifier: Apache-2.0
/** How long does the machine keep a thread from its core, when all that thread does is look at the clock?
 *
 *     ringmaster-stall-floor [--gaps FILE] SECONDS CPU [CPU]…      prints a JSON object
 *
 * One thread on each CPU reads the time stamp counter over and over; from one reading to the next is a gap. No program
 * on these cores waits less than the longest of them: print it beside every longest wait.
 *
 * `--gaps` writes when they were: rows of three u64, little-endian: CPU, begin and end in TSC ticks. The first row of a
 * CPU is the whole watch, the others are its gaps of more than 200 ns in the order of their time, which is a few times
 * what two readings take. From them follows what a receiver without any fault would have seen of known traffic.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"

enum { CPUS_MAX = 64, GAPS_PER_SECOND = 1 << 16, GAPS_MORE = 1 << 12 };

struct gap {
    uint64_t begin, end; /**< TSC ticks */
};

struct watch {
    int cpu;
    bool pinned;
    uint64_t run_ticks;
    uint64_t ticks_200ns, ticks_10us, ticks_1ms;
    uint64_t longest_ticks;
    uint64_t over_10us, over_1ms; /**< gaps longer than that */
    struct gap whole;
    struct gap *gaps; /**< NULL where nobody asked for them */
    uint64_t noted, room;
    uint64_t left_out; /**< gaps for which there was no room */
};

static bool pin(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    return sched_setaffinity(0, sizeof only, &only) == 0;
}

static void note(struct watch *watch, uint64_t begin, uint64_t end) {
    if (watch->noted < watch->room)
        watch->gaps[watch->noted++] = (struct gap){begin, end};
    else
        ++watch->left_out;
}

static void count(struct watch *watch, uint64_t gap) {
    ++watch->over_10us;
    watch->over_1ms += gap > watch->ticks_1ms;
    if (gap > watch->longest_ticks)
        watch->longest_ticks = gap;
}

static void *look(void *argument) {
    struct watch *watch = argument;
    watch->pinned = pin(watch->cpu);
    if (!watch->pinned)
        return NULL;
    uint64_t const begin = rm_tsc();
    uint64_t now = begin;
    for (uint64_t last = begin; now - begin < watch->run_ticks; last = now) {
        now = rm_tsc();
        uint64_t const gap = now - last;
        if (gap > watch->ticks_200ns && watch->gaps)
            note(watch, last, now);
        if (gap > watch->ticks_10us)
            count(watch, gap);
    }
    watch->whole = (struct gap){begin, now};
    return NULL;
}

static struct watch watch_of(int cpu, double seconds, double tsc_hz) {
    return (struct watch){.cpu = cpu,
                          .run_ticks = (uint64_t)(seconds * tsc_hz),
                          .ticks_200ns = (uint64_t)(200e-9 * tsc_hz),
                          .ticks_10us = (uint64_t)(10e-6 * tsc_hz),
                          .ticks_1ms = (uint64_t)(1e-3 * tsc_hz)};
}

/** Room for the gaps of that many seconds. Its pages are there before the watch begins: a fault would be a gap. */
static bool make_room(struct watch *watch, double seconds) {
    watch->room = (uint64_t)(seconds * GAPS_PER_SECOND) + GAPS_MORE;
    watch->gaps = malloc(watch->room * sizeof *watch->gaps);
    if (watch->gaps)
        memset(watch->gaps, 0xFF, watch->room * sizeof *watch->gaps);
    return watch->gaps != NULL;
}

static bool write_row(FILE *file, int cpu, struct gap gap) {
    uint64_t const row[] = {(uint64_t)cpu, gap.begin, gap.end};
    return fwrite(row, sizeof row, 1, file) == 1;
}

static bool write_gaps(char const *path, struct watch const *watch, int cpus) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool whole = true;
    for (int i = 0; i < cpus; ++i) {
        whole &= write_row(file, watch[i].cpu, watch[i].whole);
        for (uint64_t g = 0; g < watch[i].noted; ++g)
            whole &= write_row(file, watch[i].cpu, watch[i].gaps[g]);
    }
    return fclose(file) == 0 && whole;
}

static void print(double seconds, double tsc_hz, struct watch const *watch, int cpus) {
    printf("{\"seconds\": %g, \"tsc_hz\": %.0f, \"cores\": [", seconds, tsc_hz);
    for (int i = 0; i < cpus; ++i)
        printf("%s{\"cpu\": %d, \"longest_us\": %.1f, \"over_10us\": %llu, \"over_1ms\": %llu, \"left_out\": %llu}",
               i == 0 ? "" : ", ", watch[i].cpu, (double)watch[i].longest_ticks / tsc_hz * 1e6,
               (unsigned long long)watch[i].over_10us, (unsigned long long)watch[i].over_1ms,
               (unsigned long long)watch[i].left_out);
    puts("]}");
}

static int fail(char const *what, char const *which) {
    fprintf(stderr, "ringmaster-stall-floor: %s%s\n", what, which);
    return 1;
}

/** Watches all CPUs at once. Returns whether it could. */
static bool watch_all(struct watch *watch, int cpus) {
    pthread_t thread[CPUS_MAX];
    int started = 0;
    while (started < cpus && pthread_create(&thread[started], NULL, look, &watch[started]) == 0)
        ++started;
    bool pinned = started == cpus;
    for (int i = 0; i < started; ++i) {
        pthread_join(thread[i], NULL);
        pinned &= watch[i].pinned;
    }
    return pinned;
}

static int run(struct watch *watch, int cpus, char const *path) {
    if (!watch_all(watch, cpus))
        return fail("needs CPUs that it may use", "");
    if (path && !write_gaps(path, watch, cpus))
        return fail("cannot write ", path);
    return 0;
}

int main(int argc, char **argv) {
    bool const noting = argc > 2 && strcmp(argv[1], "--gaps") == 0;
    char const *const path = noting ? argv[2] : NULL;
    int const first = noting ? 3 : 1;
    double const seconds = argc > first ? strtod(argv[first], NULL) : 0;
    int const cpus = argc - first - 1;
    if (cpus < 1 || cpus > CPUS_MAX || !(seconds > 0)) {
        fprintf(stderr, "Usage: %s [--gaps FILE] SECONDS CPU [CPU]…\n", argv[0]);
        return 2;
    }
    double const tsc_hz = rm_tsc_hz_measure();
    struct watch watch[CPUS_MAX] = {0};
    bool room = true;
    for (int i = 0; i < cpus; ++i) {
        watch[i] = watch_of(atoi(argv[first + 1 + i]), seconds, tsc_hz);
        room &= !path || make_room(&watch[i], seconds);
    }
    int const status = room ? run(watch, cpus, path) : fail("no memory for the gaps, which go to ", path);
    if (status == 0)
        print(seconds, tsc_hz, watch, cpus);
    for (int i = 0; i < cpus; ++i)
        free(watch[i].gaps);
    return status;
}
