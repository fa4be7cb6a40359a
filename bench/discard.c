// SPDX-License-Identifier: Apache-2.0
/** The far end of a link, which counts what comes and gives it back unseen: the same receiver for every sender.
 *
 *     ringmaster-discard [--rate HZ] SOCKET CPU SETTLE SECONDS      SOCKET is memif's, which it makes
 *
 * It waits for a first frame, lets SETTLE seconds pass, prints "begin", counts for so many SECONDS, and prints a JSON
 * object: how many, in how long, in each tenth of a second, what share of its core it had meanwhile, and the rate while
 * both ends ran ("stretches": stretches.h). With --rate it looks at the clock at every poll that brought something, and
 * prints the pace that the frames have which were the least late ("pace_hz": pace_fit.h), and by how much the time from
 * one frame to the next differs from that rate's ("jitter_ns"): frames of one poll came at once.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "net/port.h"
#include "pace_fit.h"
#include "rounds.h"
#include "stretches.h"

enum { TENTHS_MAX = 6000 };

static double const TIMEOUT_S = 15.0;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool wait_for_first(struct rm_port *port, uint64_t ticks) {
    for (uint64_t const begin = rm_tsc(); rm_tsc() - begin < ticks;) {
        if (rm_port_discard(port, 0) != 0)
            return true;
    }
    return false;
}

/** What is seen of the time between frames; nothing where `nominal_ticks` is 0. */
struct arrival_watch {
    double nominal_ticks;
    /** Of the last frame; 0: none came yet. */
    uint64_t last_tsc;
    struct bench_times jitter;
    struct bench_stretches stretches;
    struct bench_pace_fit fit;
};

static void watch_take(struct arrival_watch *watch, uint32_t frames) {
    uint64_t const now = rm_tsc();
    bench_pace_fit_take(&watch->fit, frames, now);
    for (uint32_t i = 0; i < frames; ++i) {
        double const gap = (double)(now - watch->last_tsc), nominal = watch->nominal_ticks;
        if (watch->last_tsc != 0)
            bench_times_take(&watch->jitter, (uint64_t)(gap > nominal ? gap - nominal : nominal - gap));
        watch->last_tsc = now;
    }
}

/** Frames until then. */
static uint64_t count_until(struct rm_port *port, struct arrival_watch *watch, uint64_t end) {
    uint64_t frames = 0;
    while (rm_tsc() < end) {
        uint32_t const more = rm_port_discard(port, 0);
        bench_stretches_poll(&watch->stretches, more, rm_tsc());
        if (more != 0 && watch->nominal_ticks != 0)
            watch_take(watch, more);
        frames += more;
    }
    return frames;
}

static void discard_measure(struct rm_port *port, struct arrival_watch *watch, double seconds, double tsc_hz) {
    static uint64_t tenth[TENTHS_MAX];
    uint64_t frames = 0;
    int count = 0;
    double const cpu = cpu_seconds();
    uint64_t const begin = rm_tsc();
    uint64_t const end = begin + (uint64_t)(seconds * tsc_hz);
    bench_pace_fit_begin(&watch->fit, watch->nominal_ticks, begin, end - begin);
    for (uint64_t now = begin; now < end && count < TENTHS_MAX; now = rm_tsc()) {
        uint64_t const next = begin + (uint64_t)((count + 1) * 0.1 * tsc_hz);
        tenth[count] = count_until(port, watch, next < end ? next : end);
        frames += tenth[count++];
    }
    double const took = (double)(rm_tsc() - begin) / tsc_hz;
    printf("{\"received\": %llu, \"seconds\": %.6f, \"share\": %.4f, \"sub_rates_pps\": [", (unsigned long long)frames,
           took, (cpu_seconds() - cpu) / took);
    for (int i = 0; i < count; ++i)
        printf("%s%.0f", i == 0 ? "" : ", ", (double)tenth[i] / 0.1);
    fputs("], ", stdout);
    bench_stretches_json(&watch->stretches, "");
    if (watch->nominal_ticks != 0) {
        double const ticks = bench_pace_fit_ticks(&watch->fit);
        printf(", \"pace_hz\": %.3f, ", ticks > 0 ? tsc_hz / ticks : 0);
        bench_times_json("jitter_ns", &watch->jitter, 1e9 / tsc_hz, "");
    }
    puts("}");
}

int main(int argc, char **argv) {
    char const *path = NULL;
    uint64_t cpu = 0;
    double settle = 0, seconds = 0, rate_hz = 0;
    struct rm_option options[] = {
        {"rate", &rate_hz, 1, 1e8, .kind = RM_OPTION_NUMBER},
        {"SOCKET", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"SETTLE", &settle, 0, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_WORD},
        {"SECONDS", &seconds, 1e-3, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_WORD},
    };
    rm_options_or_exit(argc, argv, "Usage: ringmaster-discard [--rate HZ] SOCKET CPU SETTLE SECONDS\n", options,
                       sizeof options / sizeof *options);
    struct rm_net_config const net = {.prefix = "ringmaster-discard"};
    struct rm_port_config config = {.name = "in", .kind = RM_PORT_MEMIF, .queues = 2, .memif_server = true};
    snprintf(config.socket_path, sizeof config.socket_path, "%s", path);
    struct rm_port *port;
    struct rm_error error;
    if (rm_net_start(&net, &error) != RM_OK || rm_port_open(&config, &port, &error) != RM_OK) {
        fprintf(stderr, "%s: %s\n", argv[0], error.text);
        return 1;
    }
    double const tsc_hz = rm_tsc_hz_measure();
    bool const pinned = rm_pin((uint32_t)cpu, &error) == RM_OK;
    bool const good = pinned && wait_for_first(port, (uint64_t)(TIMEOUT_S * tsc_hz));
    if (good) {
        static struct arrival_watch watch;
        watch.nominal_ticks = rate_hz > 0 ? tsc_hz / rate_hz : 0;
        bench_times_clear(&watch.jitter);
        bench_stretches_begin(&watch.stretches, tsc_hz, rm_tsc());
        count_until(port, &watch, rm_tsc() + (uint64_t)(settle * tsc_hz));
        watch.last_tsc = 0;
        bench_times_clear(&watch.jitter);
        bench_stretches_begin(&watch.stretches, tsc_hz, rm_tsc());
        puts("begin");
        fflush(stdout);
        discard_measure(port, &watch, seconds, tsc_hz);
    } else if (pinned) {
        fprintf(stderr, "%s: nothing came within %.0f s\n", argv[0], TIMEOUT_S);
    } else {
        fprintf(stderr, "%s: %s\n", argv[0], error.text);
    }
    rm_port_close(port);
    rm_net_stop();
    return good ? 0 : 1;
}
