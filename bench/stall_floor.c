// SPDX-License-Identifier: Apache-2.0
/** How long does the machine keep a thread from its core, when all that thread does is look at the clock?
 *
 *     ringmaster-stall-floor SECONDS CPU [CPU]…      prints a JSON object
 *
 * One thread on each CPU reads the time stamp counter over and over; from one reading to the next is a gap. No program
 * on these cores waits less than the longest of them: print it beside every longest wait.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/timebase.h"

enum { CPUS_MAX = 64 };

struct watch {
    int cpu;
    bool pinned;
    uint64_t run_ticks;
    uint64_t ticks_10us, ticks_1ms;
    uint64_t longest_ticks;
    uint64_t over_10us, over_1ms; /**< gaps longer than that */
};

static bool pin(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    return sched_setaffinity(0, sizeof only, &only) == 0;
}

static void *look(void *argument) {
    struct watch *watch = argument;
    watch->pinned = pin(watch->cpu);
    if (!watch->pinned)
        return NULL;
    uint64_t const begin = rm_tsc();
    for (uint64_t last = begin, now = begin; now - begin < watch->run_ticks; last = now) {
        now = rm_tsc();
        uint64_t const gap = now - last;
        if (gap <= watch->ticks_10us)
            continue;
        ++watch->over_10us;
        watch->over_1ms += gap > watch->ticks_1ms;
        if (gap > watch->longest_ticks)
            watch->longest_ticks = gap;
    }
    return NULL;
}

static void print(double seconds, double tsc_hz, struct watch const *watch, int count) {
    printf("{\"seconds\": %g, \"tsc_hz\": %.0f, \"cores\": [", seconds, tsc_hz);
    for (int i = 0; i < count; ++i)
        printf("%s{\"cpu\": %d, \"longest_us\": %.1f, \"over_10us\": %llu, \"over_1ms\": %llu}", i == 0 ? "" : ", ",
               watch[i].cpu, (double)watch[i].longest_ticks / tsc_hz * 1e6, (unsigned long long)watch[i].over_10us,
               (unsigned long long)watch[i].over_1ms);
    puts("]}");
}

int main(int argc, char **argv) {
    double const seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    int const count = argc - 2;
    if (count < 1 || count > CPUS_MAX || !(seconds > 0)) {
        fprintf(stderr, "Usage: %s SECONDS CPU [CPU]…\n", argv[0]);
        return 2;
    }
    double const tsc_hz = rm_tsc_hz_measure();
    struct watch watch[CPUS_MAX] = {0};
    pthread_t thread[CPUS_MAX];
    for (int i = 0; i < count; ++i) {
        watch[i] = (struct watch){.cpu = atoi(argv[2 + i]),
                                  .run_ticks = (uint64_t)(seconds * tsc_hz),
                                  .ticks_10us = (uint64_t)(10e-6 * tsc_hz),
                                  .ticks_1ms = (uint64_t)(1e-3 * tsc_hz)};
        if (pthread_create(&thread[i], NULL, look, &watch[i]) != 0) {
            fprintf(stderr, "%s: no thread for CPU %d\n", argv[0], watch[i].cpu);
            return 1;
        }
    }
    bool pinned = true;
    for (int i = 0; i < count; ++i) {
        pthread_join(thread[i], NULL);
        pinned &= watch[i].pinned;
    }
    if (!pinned) {
        fprintf(stderr, "%s: needs CPUs that it may use\n", argv[0]);
        return 1;
    }
    print(seconds, tsc_hz, watch, count);
    return 0;
}
