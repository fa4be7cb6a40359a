// SPDX-License-Identifier: Apache-2.0
/** Sends groups of datagrams at a fixed rate, or as many as the links take; `ringmaster-pace --help` tells how.
 *
 * Prints {"ready": true} when the links have their peers and sending begins. The last line of standard output is a
 * JSON object:
 *
 *     ended              "done", "interrupted", or "link": a link has ended
 *     cycles, seconds    sequence numbers that there were, and how long that took
 *     began_s, ended_s   when, by the kernel's monotonic clock: for those who watch from outside
 *     rate_hz            as it was asked for
 *     behind_cycles      left out, because the pace could not be held
 *     longest_behind_us  that a cycle was late
 *     busy_share         of the time, in sending
 *     share              of the time, on its core, by the kernel's account: it never sleeps
 *     links              of each:
 *                          sent, bytes (of payload)
 *                          dropped             by --drop-every
 *                          unsent              refused by kernel or device, or left when the link ended
 *                          waits, waited_us, longest_wait_us   for room
 *
 * Of each link: sent + dropped + unsent = instruments · (cycles - behind_cycles), but for a cycle that was interrupted.
 */
#include <stdio.h>
#include <time.h>

#include "base/pin.h"
#include "base/timebase.h"
#include "departures.h"
#include "json_text.h"
#include "link_end.h"
#include "options.h"
#include "outbox.h"
#include "pace_options.h"
#include "polling.h"
#include "schedule.h"
#include "stop.h"

enum { SAY_END_TIMES = 3, NAP_NS = 20 * 1000 * 1000, PEER_NAPS = 250 };

static double const LEAD_S = 1e-3; /* from here to the first cycle */
static double const LOOK_S = 0.25; /* how often the links are looked at */

struct pace {
    struct rm_pace_options options;
    struct rm_stop stop;
    struct rm_link *link[RM_LINKS_MAX];
    struct rm_outbox outbox[RM_LINKS_MAX];
    struct rm_departures departures;
    struct rm_schedule schedule;
    struct rm_polling polling;
    double tsc_hz;
    uint64_t end_tsc; /**< without a rate */
    double began_s;   /**< by monotonic_s */
    double seconds;   /**< that it took */
    double cpu_s;     /**< of those, on its core */
};

static double monotonic_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void nap(void) {
    struct timespec const time = {.tv_nsec = NAP_NS};
    nanosleep(&time, NULL);
}

/** Waits for the peers of virtual links, which may be started later. */
static enum rm_code wait_for_peers(struct pace *pace, struct rm_error *error) {
    for (uint32_t i = 0; i < pace->options.link_count; ++i) {
        int naps = 0;
        while (rm_link_check(pace->link[i], error) != RM_OK && !rm_stop_asked(&pace->stop)) {
            if (++naps > PEER_NAPS)
                return RM_E_SYSTEM;
            nap();
        }
    }
    return RM_OK;
}

static bool pending(struct pace const *pace) {
    bool some = false;
    for (uint32_t i = 0; i < pace->options.link_count; ++i)
        some |= pace->outbox[i].count != 0;
    return some;
}

static void flush(struct pace *pace) {
    for (uint32_t i = 0; i < pace->options.link_count; ++i)
        if (pace->outbox[i].count != 0)
            rm_outbox_flush(&pace->outbox[i]);
}

static bool lost(struct pace const *pace) {
    bool one = false;
    for (uint32_t i = 0; i < pace->options.link_count; ++i)
        one |= pace->outbox[i].lost;
    return one;
}

/** The group of a link other than the first is due some time after. */
static void wait_for_group(struct pace *pace, uint64_t cycle, uint32_t link) {
    if (link == 0 || pace->options.group_gap_us == 0)
        return;
    double const after = pace->options.group_gap_us * 1e-6 * pace->tsc_hz * link;
    uint64_t const due = rm_schedule_due(&pace->schedule, cycle) + (uint64_t)after;
    flush(pace);
    while (rm_tsc() < due && !rm_stop_asked(&pace->stop))
        rm_pause();
}

static void put_group(struct pace *pace, uint32_t link, struct rm_probe *probe) {
    struct rm_outbox *const outbox = &pace->outbox[link];
    uint64_t const first_tsc = rm_tsc();
    for (uint32_t instrument = 0; instrument < pace->options.instruments; ++instrument) {
        probe->flow = (uint16_t)(pace->options.first_flow + instrument);
        rm_outbox_put(outbox, probe);
    }
    if (pace->departures.path == NULL)
        return;
    rm_outbox_flush(outbox);
    uint32_t const group = (uint32_t)pace->options.instruments;
    rm_cycles_put(&pace->departures.of_link[link], probe->sequence, group, first_tsc, rm_tsc());
}

static void put_cycle(struct pace *pace, uint64_t cycle, uint64_t now) {
    struct rm_pace_options const *const options = &pace->options;
    struct rm_probe probe = {.sequence = cycle,
                             .stamp = options->rate_hz > 0 ? rm_schedule_nominal(&pace->schedule, cycle) : now};
    for (uint32_t i = 0; i < options->link_count; ++i) {
        wait_for_group(pace, cycle, i);
        put_group(pace, i, &probe);
    }
}

/** Sends what is due, in bursts: until nothing more is. False when all is over. */
static bool turn(struct pace *pace, uint64_t now) {
    uint64_t cycle;
    bool busy = rm_schedule_take(&pace->schedule, now, &cycle);
    if (busy) {
        put_cycle(pace, cycle, now);
    } else {
        busy = pending(pace);
        if (busy)
            flush(pace);
        rm_pause();
    }
    rm_polling_loop(&pace->polling, rm_tsc(), busy);
    return now < pace->end_tsc && (!rm_schedule_over(&pace->schedule) || pending(pace));
}

/** How many there are to be. */
static uint64_t cycles_of(struct rm_pace_options const *options) {
    return options->rate_hz > 0 ? (uint64_t)(options->rate_hz * options->seconds + 0.5) : UINT64_MAX;
}

static void run(struct pace *pace) {
    struct rm_pace_options const *const options = &pace->options;
    double const jitter_s = options->jitter_us * 1e-6;
    struct rm_schedule_plan const plan = {
        .rate_hz = options->rate_hz,
        .tsc_hz = pace->tsc_hz,
        .jitter_s = jitter_s,
        .seed = options->seed,
        .cycles = cycles_of(options),
    };
    uint64_t const start = rm_tsc() + (uint64_t)((LEAD_S + jitter_s) * pace->tsc_hz);
    rm_schedule_start(&pace->schedule, &plan, start);
    pace->end_tsc = options->rate_hz > 0 ? UINT64_MAX : start + (uint64_t)(options->seconds * pace->tsc_hz);
    while (rm_tsc() < start - (uint64_t)(jitter_s * pace->tsc_hz))
        rm_pause();
    uint64_t const look_ticks = (uint64_t)(LOOK_S * pace->tsc_hz);
    double const cpu_begin_s = rm_thread_seconds();
    pace->began_s = monotonic_s();
    uint64_t now = rm_tsc(), look = now + look_ticks;
    rm_polling_begin(&pace->polling, now, pace->tsc_hz);
    while (turn(pace, now) && !lost(pace) && !rm_stop_asked(&pace->stop)) {
        now = rm_tsc();
        if (now < look)
            continue;
        look = now + look_ticks;
        for (uint32_t i = 0; i < options->link_count; ++i)
            rm_outbox_check(&pace->outbox[i]);
    }
    flush(pace);
    pace->seconds = (double)(rm_tsc() - pace->polling.begin) / pace->tsc_hz;
    pace->cpu_s = rm_thread_seconds() - cpu_begin_s;
}

/** Says that it is over often enough that the receiver hears it, who may have much to do just now. */
static void say_end(struct pace *pace) {
    struct rm_pace_options const *const options = &pace->options;
    for (int time = 0; time < SAY_END_TIMES; ++time) {
        for (uint32_t i = 0; i < options->link_count; ++i)
            if (!pace->outbox[i].lost)
                rm_outbox_say_end(&pace->outbox[i], (uint32_t)options->first_flow, (uint32_t)options->instruments,
                                  pace->schedule.next);
        nap();
    }
}

static unsigned long long whole(uint64_t number) { return number; }

static void print_link(struct pace *pace, uint32_t i, uint64_t refused) {
    struct rm_outbox const *const outbox = &pace->outbox[i];
    uint64_t const sent = outbox->sent > refused ? outbox->sent - refused : 0;
    uint64_t const bytes = sent * outbox->payload_bytes;
    double const us = 1e6 / pace->tsc_hz;
    printf("%s{\"link\": ", i == 0 ? "" : ", ");
    rm_json_text(rm_link_text(pace->link[i]));
    printf(", \"sent\": %llu, \"bytes\": %llu, \"dropped\": %llu, \"unsent\": %llu, \"waits\": %llu, ", whole(sent),
           whole(bytes), whole(outbox->dropped), whole(outbox->unsent + refused), whole(outbox->waits));
    printf("\"waited_us\": %.1f, \"longest_wait_us\": %.1f}", (double)outbox->waited_ticks * us,
           (double)outbox->longest_wait_ticks * us);
}

static void print(struct pace *pace, uint64_t const *refused) {
    char const *const ended = lost(pace) ? "link" : rm_stop_asked(&pace->stop) ? "interrupted" : "done";
    printf("{\"ended\": \"%s\", \"tsc_hz\": %.0f, \"cycles\": %llu, \"seconds\": %.6f, ", ended, pace->tsc_hz,
           whole(pace->schedule.next), pace->seconds);
    printf("\"began_s\": %.6f, \"ended_s\": %.6f, \"rate_hz\": %g, ", pace->began_s, pace->began_s + pace->seconds,
           pace->options.rate_hz);
    printf("\"behind_cycles\": %llu, \"longest_behind_us\": %.1f, \"busy_share\": %.4f, ", whole(pace->schedule.behind),
           (double)pace->schedule.longest_behind_ticks / pace->tsc_hz * 1e6, rm_polling_busy_share(&pace->polling));
    printf("\"share\": %.4f, \"links\": [", pace->seconds > 0 ? pace->cpu_s / pace->seconds : 0);
    for (uint32_t i = 0; i < pace->options.link_count; ++i)
        print_link(pace, i, refused[i]);
    puts("]}");
}

/** With the links open. */
static enum rm_code send_all(struct pace *pace, struct rm_error *error) {
    enum rm_code code = rm_pin((uint32_t)pace->options.core, error);
    if (code == RM_OK)
        code = rm_departures_new(&pace->departures, pace->options.cycles_path, pace->options.link_count,
                                 cycles_of(&pace->options), error);
    if (code == RM_OK)
        code = wait_for_peers(pace, error);
    if (code != RM_OK)
        return code;
    uint64_t refused[RM_LINKS_MAX] = {0};
    for (uint32_t i = 0; i < pace->options.link_count; ++i)
        rm_outbox_start(&pace->outbox[i], pace->link[i], (uint32_t)pace->options.payload_bytes,
                        pace->options.drop_every, pace->tsc_hz, &pace->stop);
    puts("{\"ready\": true}");
    fflush(stdout);
    run(pace);
    for (uint32_t i = 0; i < pace->options.link_count; ++i) {
        struct rm_link_totals totals;
        rm_link_totals(pace->link[i], &totals);
        refused[i] = totals.unsent;
    }
    say_end(pace);
    for (uint32_t i = 0; i < pace->options.link_count; ++i)
        if (pace->outbox[i].lost)
            fprintf(stderr, "ringmaster-pace: %s\n", pace->outbox[i].error.text);
    print(pace, refused);
    return rm_departures_write(&pace->departures, pace->schedule.next, error);
}

int main(int argc, char **argv) {
    static struct pace pace;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(rm_pace_usage, stdout);
        return 0;
    }
    if (rm_pace_options_read(argc, argv, &pace.options, &error) != RM_OK) {
        fprintf(stderr, "ringmaster-pace: %s\n", error.text);
        return 2;
    }
    pace.tsc_hz = rm_tsc_hz_measure();
    enum rm_code code = rm_stop_start(&pace.stop, &error);
    if (code == RM_OK) {
        code = rm_links_open(pace.options.link, pace.options.link_count, pace.link, &error);
        if (code == RM_OK) {
            code = send_all(&pace, &error);
            rm_links_close(pace.link, pace.options.link_count);
            rm_departures_free(&pace.departures);
        }
        rm_stop_finish(&pace.stop);
    }
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-pace: %s\n", error.text);
    return code == RM_OK && !lost(&pace) ? 0 : 1;
}
