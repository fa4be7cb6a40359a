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
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"

enum { CPUS_MAX = 64, GAPS_PER_SECOND = 1 << 16, GAPS_MORE = 1 << 12 };

static double const SECONDS_MOST = 1e5;

struct gap {
    uint64_t begin, end; /**< TSC ticks */
};

struct core_watch {
    _Alignas(64) uint32_t cpu; /**< on cache lines of its own: what a neighbour notes is no gap here */
    struct rm_error error;     /**< code RM_OK, or why it could not watch */
    uint64_t run_ticks;
    uint64_t ticks_200ns, ticks_10us, ticks_1ms;
    uint64_t longest_ticks;       /**< 0: none was longer than 200 ns */
    uint64_t over_10us, over_1ms; /**< gaps longer than that */
    struct gap whole;
    struct gap *gaps; /**< NULL where they are not wanted */
    uint64_t noted, room;
    uint64_t left_out; /**< gaps for which there was no room */
};

static void watch_note_gap(struct core_watch *watch, uint64_t begin, uint64_t end) {
    if (watch->gaps == NULL)
        return;
    if (watch->noted < watch->room)
        watch->gaps[watch->noted++] = (struct gap){begin, end};
    else
        ++watch->left_out;
}

static void count_gap(struct core_watch *watch, uint64_t gap) {
    watch->over_10us += gap > watch->ticks_10us;
    watch->over_1ms += gap > watch->ticks_1ms;
    if (gap > watch->longest_ticks)
        watch->longest_ticks = gap;
}

static void *look_for_gaps(void *argument) {
    struct core_watch *watch = argument;
    watch->error.code = rm_pin(watch->cpu, &watch->error);
    if (watch->error.code != RM_OK)
        return NULL;
    uint64_t const begin = rm_tsc();
    uint64_t now = begin;
    for (uint64_t last = begin; now - begin < watch->run_ticks; last = now) {
        now = rm_tsc();
        uint64_t const gap = now - last;
        if (gap <= watch->ticks_200ns)
            continue;
        watch_note_gap(watch, last, now);
        count_gap(watch, gap);
    }
    watch->whole = (struct gap){begin, now};
    return NULL;
}

static struct core_watch watch_of(uint32_t cpu, double seconds, double tsc_hz) {
    return (struct core_watch){.cpu = cpu,
                               .run_ticks = (uint64_t)(seconds * tsc_hz),
                               .ticks_200ns = (uint64_t)(200e-9 * tsc_hz),
                               .ticks_10us = (uint64_t)(10e-6 * tsc_hz),
                               .ticks_1ms = (uint64_t)(1e-3 * tsc_hz)};
}

/** Room for the gaps of that many seconds. Its pages are there before the watch begins: a fault would be a gap. */
static bool make_gap_room(struct core_watch *watch, double seconds) {
    watch->room = (uint64_t)(seconds * GAPS_PER_SECOND) + GAPS_MORE;
    watch->gaps = malloc(watch->room * sizeof *watch->gaps);
    if (watch->gaps)
        memset(watch->gaps, 0xFF, watch->room * sizeof *watch->gaps);
    return watch->gaps != NULL;
}

static bool write_gap_row(FILE *file, uint32_t cpu, struct gap gap) {
    uint64_t const row[] = {cpu, gap.begin, gap.end};
    return fwrite(row, sizeof row, 1, file) == 1;
}

static bool write_gaps(char const *path, struct core_watch const *watch, int cpus) {
    FILE *file = fopen(path, "wbe");
    if (!file)
        return false;
    bool whole = true;
    for (int i = 0; i < cpus; ++i) {
        whole &= write_gap_row(file, watch[i].cpu, watch[i].whole);
        for (uint64_t g = 0; g < watch[i].noted; ++g)
            whole &= write_gap_row(file, watch[i].cpu, watch[i].gaps[g]);
    }
    return fclose(file) == 0 && whole;
}

static void stall_floor_print(double seconds, double tsc_hz, struct core_watch const *watch, int cpus) {
    printf("{\"seconds\": %g, \"tsc_hz\": %.0f, \"cores\": [", seconds, tsc_hz);
    for (int i = 0; i < cpus; ++i)
        printf("%s{\"cpu\": %u, \"longest_us\": %.1f, \"over_10us\": %llu, \"over_1ms\": %llu, \"left_out\": %llu}",
               i == 0 ? "" : ", ", watch[i].cpu, (double)watch[i].longest_ticks / tsc_hz * 1e6,
               (unsigned long long)watch[i].over_10us, (unsigned long long)watch[i].over_1ms,
               (unsigned long long)watch[i].left_out);
    puts("]}");
}

static int stall_floor_fail(char const *what, char const *which) {
    fprintf(stderr, "ringmaster-stall-floor: %s%s\n", what, which);
    return 1;
}

/** Watches all CPUs at once. False when it could not, and has said why. */
static bool watch_all(struct core_watch *watch, int cpus) {
    pthread_t thread[CPUS_MAX];
    int started = 0;
    while (started < cpus && pthread_create(&thread[started], NULL, look_for_gaps, &watch[started]) == 0)
        ++started;
    for (int i = 0; i < started; ++i)
        pthread_join(thread[i], NULL);
    if (started < cpus)
        stall_floor_fail("cannot start a thread", "");
    bool good = started == cpus;
    for (int i = 0; i < cpus && good; ++i) {
        good = watch[i].error.code == RM_OK;
        if (!good)
            stall_floor_fail(watch[i].error.text, "");
    }
    return good;
}

static int run_watches(struct core_watch *watch, int cpus, char const *path) {
    if (!watch_all(watch, cpus))
        return 1;
    if (path && !write_gaps(path, watch, cpus))
        return stall_floor_fail("cannot write ", path);
    return 0;
}

struct cpu_list {
    uint64_t cpu[CPUS_MAX];
    int count;
};

static enum rm_code take_cpu(void *value, char const *text, struct rm_error *error) {
    struct cpu_list *const list = value;
    if (list->count == CPUS_MAX)
        return rm_fail(error, RM_E_ARGUMENT, "CPU: expected at most %d of them", CPUS_MAX);
    if (!rm_whole_parse(text, 0, RM_CORE_MOST, &list->cpu[list->count++]))
        return rm_fail(error, RM_E_ARGUMENT, "CPU: found \"%s\", expected a whole number from 0 to %d", text,
                       RM_CORE_MOST);
    return RM_OK;
}

int main(int argc, char **argv) {
    char const *path = NULL;
    double seconds = 0;
    struct cpu_list cpus = {.count = 0};
    struct rm_option options[] = {
        {"gaps", &path, .kind = RM_OPTION_TEXT},
        {"SECONDS", &seconds, 1e-3, SECONDS_MOST, .kind = RM_OPTION_NUMBER, .place = RM_WORD},
        {"CPU", &cpus, .kind = RM_OPTION_TAKE, .take = take_cpu, .place = RM_WORD},
    };
    rm_options_or_exit(argc, argv, "Usage: ringmaster-stall-floor [--gaps FILE] SECONDS CPU [CPU]…\n", options,
                       sizeof options / sizeof *options);
    double const tsc_hz = rm_tsc_hz_measure();
    static struct core_watch watch[CPUS_MAX];
    bool room = true;
    for (int i = 0; i < cpus.count; ++i) {
        watch[i] = watch_of((uint32_t)cpus.cpu[i], seconds, tsc_hz);
        room &= !path || make_gap_room(&watch[i], seconds);
    }
    int const status =
        room ? run_watches(watch, cpus.count, path) : stall_floor_fail("no memory for the gaps, which go to ", path);
    if (status == 0)
        stall_floor_print(seconds, tsc_hz, watch, cpus.count);
    for (int i = 0; i < cpus.count; ++i)
        free(watch[i].gaps);
    return status;
}
