// SPDX-License-Identifier: Apache-2.0
/** The clocks: once a second where the turn clock stands, and each step of TAI or of TAI − UTC. */
#include <sys/timex.h>

#include "events.h"

static uint64_t const EVERY_NS = 1000000000;
/** What CLOCK_TAI may move against CLOCK_MONOTONIC between two looks: a slew of 500 ppm over a second, and the time
 * between reading the one and the other. */
static int64_t const STEP_NS = 20 * 1000 * 1000;

static void clock_write(struct rm_events_watch *watch) {
    struct rm_clock_reading const *clock = &watch->moment->clock;
    FILE *out = rm_events_line(watch, "clock", watch->moment->tai_ns);
    if (clock->anchored) {
        fprintf(out, ",\"turn\":%llu,\"turn_tai_ns\":%llu,\"turn_epoch\":%llu", (unsigned long long)clock->turn,
                (unsigned long long)rm_clock_tai_ns(clock, clock->turn_tsc), (unsigned long long)clock->turn_epoch);
        fprintf(out, ",\"turn_rate_hz\":%.12g,\"residual_ns\":%.4g,\"supported\":%s",
                clock->tsc_hz / clock->ticks_per_turn, clock->residual_ticks / clock->tsc_hz * 1e9,
                clock->supported ? "true" : "false");
    }
    fprintf(out, ",\"anchored\":%s,\"tai_minus_utc_s\":%d", clock->anchored ? "true" : "false", watch->tai_minus_utc_s);
    rm_events_line_end(watch);
}

static void clock_look_for_step(struct rm_events_watch *watch) {
    int64_t const offset_ns = (int64_t)(watch->moment->tai_ns - watch->moment->now_ns);
    int64_t const moved_ns = offset_ns - watch->tai_offset_ns;
    if (watch->tai_offset_ns != 0 && (moved_ns > STEP_NS || moved_ns < -STEP_NS)) {
        FILE *out = rm_events_line(watch, "clock_stepped", watch->moment->tai_ns);
        fprintf(out, ",\"by_ns\":%lld", (long long)moved_ns);
        rm_events_line_end(watch);
        watch->stepped = true;
    }
    watch->tai_offset_ns = offset_ns;
}

/** A difference that the kernel is told steps TAI, so it is asked at once then. */
static void clock_look_for_leap(struct rm_events_watch *watch) {
    struct timex state = {.modes = 0};
    int32_t const before = watch->tai_minus_utc_s;
    watch->tai_minus_utc_s = adjtimex(&state) >= 0 ? state.tai : 0;
    if (watch->clock_ns != 0 && watch->tai_minus_utc_s != before) {
        FILE *out = rm_events_line(watch, "leap", watch->moment->tai_ns);
        fprintf(out, ",\"tai_minus_utc_s\":%d,\"before\":%d", watch->tai_minus_utc_s, before);
        rm_events_line_end(watch);
        watch->leapt = true;
    }
}

void rm_events_look_clock(struct rm_events_watch *watch) {
    clock_look_for_step(watch);
    bool const due = watch->moment->now_ns - watch->clock_ns >= EVERY_NS;
    if (due || watch->stepped)
        clock_look_for_leap(watch);
    if (!due)
        return;
    watch->clock_ns = watch->moment->now_ns;
    clock_write(watch);
}
