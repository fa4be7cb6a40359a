// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

#include <time.h>

#include "base/timebase.h"

/* A sleep of the kernel ends some 20 to 60 µs late; ten times that is worth sleeping for, and the lateness is caught
 * up. */
static double const SLEEP_SECONDS = 500e-6;
static double const WAKE_EARLY_SECONDS = 100e-6;

void rm_turn_pace_start(struct rm_turn_pace *pace, double turn_rate_hz, double tsc_hz, uint64_t start_tsc) {
    *pace = (struct rm_turn_pace){
        .start_tsc = start_tsc,
        .sleep_ticks = (uint64_t)(SLEEP_SECONDS * tsc_hz),
        .tsc_hz = tsc_hz,
        .ticks_per_turn = turn_rate_hz > 0 ? tsc_hz / turn_rate_hz : 0,
    };
}

uint64_t rm_turn_pace_due(struct rm_turn_pace const *pace, uint64_t tsc) {
    if (pace->ticks_per_turn == 0)
        return UINT64_MAX;
    if (tsc < pace->start_tsc)
        return 0;
    return (uint64_t)((double)(tsc - pace->start_tsc) / pace->ticks_per_turn) + 1;
}

uint64_t rm_turn_pace_tsc(struct rm_turn_pace const *pace, uint64_t n) {
    return pace->start_tsc + (uint64_t)((double)n * pace->ticks_per_turn);
}

void rm_turn_pace_idle(struct rm_turn_pace const *pace, uint64_t n) {
    uint64_t const due = rm_turn_pace_tsc(pace, n);
    uint64_t const now = rm_tsc();
    if (due <= now + pace->sleep_ticks) {
        rm_pause();
        return;
    }
    double seconds = (double)(due - now) / pace->tsc_hz - WAKE_EARLY_SECONDS;
    if (seconds > 0.01)
        seconds = 0.01; /* so that the caller looks whether it is to stop */
    struct timespec const pause = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&pause, NULL);
}
