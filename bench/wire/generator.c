// SPDX-License-Identifier: Apache-2.0
/** Sends groups of datagrams at a fixed rate, or as many as the links take; `ringmaster-generator --help` tells how.
 *
 * Prints {"ready": true} when the links have their peers and sending begins. The last line of standard output is a
 * JSON object:
 *
 *     ended              "done", "interrupted", or "link": a link has ended
 *     cycles, seconds    sequence numbers that there were, and how long that took
 *     began_s, ended_s   when, by the kernel's monotonic clock: for programs that watch from outside
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

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "cycles.h"
#include "generator_options.h"
#include "json_text.h"
#include "link_endpoint.h"
#include "outbox.h"
#include "polling.h"
#include "schedule.h"
#include "stop.h"

enum { SAY_END_TIMES = 3, NAP_NS = 20 * 1000 * 1000, PEER_NAPS = 250 };

static double const LEAD_S = 1e-3; /* from here to the first cycle */
static double const LOOK_S = 0.25; /* how often the links are looked at */

struct generator {
    struct rm_generator_options options;
    struct rm_stop stop;
    struct rm_link *link[RM_LINKS_MAX];
    struct rm_outbox outbox[RM_LINKS_MAX];
    FILE *rows;                            /**< of cycles, or NULL */
    struct rm_cycles cycles[RM_LINKS_MAX]; /**< when a link's groups left: of one that was left out none did */
    struct rm_schedule schedule;
    struct rm_poll_times polling;
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

static void generator_nap(void) {
    struct timespec const time = {.tv_nsec = NAP_NS};
    nanosleep(&time, NULL);
}

/** Waits for the peers of virtual links, which may be started later. */
static enum rm_code wait_for_peers(struct generator *generator, struct rm_error *error) {
    for (uint32_t i = 0; i < generator->options.link_count; ++i) {
        int naps = 0;
        while (rm_link_check(generator->link[i], error) != RM_OK && !rm_stop_requested(&generator->stop)) {
            if (++naps > PEER_NAPS)
                return RM_E_SYSTEM;
            generator_nap();
        }
    }
    return RM_OK;
}

static bool generator_has_pending(struct generator const *generator) {
    bool some = false;
    for (uint32_t i = 0; i < generator->options.link_count; ++i)
        some |= generator->outbox[i].count != 0;
    return some;
}

static void generator_flush(struct generator *generator) {
    for (uint32_t i = 0; i < generator->options.link_count; ++i)
        if (generator->outbox[i].count != 0)
            rm_outbox_flush(&generator->outbox[i]);
}

static bool generator_has_lost(struct generator const *generator) {
    bool one = false;
    for (uint32_t i = 0; i < generator->options.link_count; ++i)
        one |= generator->outbox[i].lost;
    return one;
}

/** The group of a link other than the first is due some time after. */
static void wait_for_group(struct generator *generator, uint64_t cycle, uint32_t link) {
    if (link == 0 || generator->options.group_gap_us == 0)
        return;
    double const after = generator->options.group_gap_us * 1e-6 * generator->tsc_hz * link;
    uint64_t const due = rm_schedule_due(&generator->schedule, cycle) + (uint64_t)after;
    generator_flush(generator);
    while (rm_tsc() < due && !rm_stop_requested(&generator->stop))
        rm_pause();
}

static void put_group(struct generator *generator, uint32_t link, struct rm_probe *probe) {
    struct rm_outbox *const outbox = &generator->outbox[link];
    uint64_t const first_tsc = rm_tsc();
    for (uint32_t instrument = 0; instrument < generator->options.instruments; ++instrument) {
        probe->flow = (uint16_t)(generator->options.first_flow + instrument);
        rm_outbox_put(outbox, probe);
    }
    if (generator->rows == NULL)
        return;
    rm_outbox_flush(outbox);
    uint32_t const group = (uint32_t)generator->options.instruments;
    rm_cycles_put(&generator->cycles[link], probe->sequence, group, first_tsc, rm_tsc());
}

static void put_cycle(struct generator *generator, uint64_t cycle, uint64_t now) {
    struct rm_generator_options const *const options = &generator->options;
    struct rm_probe probe = {.sequence = cycle,
                             .stamp = options->rate_hz > 0 ? rm_schedule_nominal(&generator->schedule, cycle) : now};
    for (uint32_t i = 0; i < options->link_count; ++i) {
        wait_for_group(generator, cycle, i);
        put_group(generator, i, &probe);
    }
}

/** Sends what is due, in bursts: until nothing more is. False when all is over. */
static bool generator_send_turn(struct generator *generator, uint64_t now) {
    uint64_t cycle;
    bool busy = rm_schedule_take(&generator->schedule, now, &cycle);
    if (busy) {
        put_cycle(generator, cycle, now);
    } else {
        busy = generator_has_pending(generator);
        if (busy)
            generator_flush(generator);
        rm_pause();
    }
    rm_poll_times_loop(&generator->polling, rm_tsc(), busy);
    return now < generator->end_tsc && (!rm_schedule_over(&generator->schedule) || generator_has_pending(generator));
}

/** How many there are to be. */
static uint64_t cycles_of(struct rm_generator_options const *options) {
    return options->rate_hz > 0 ? (uint64_t)(options->rate_hz * options->seconds + 0.5) : UINT64_MAX;
}

static void generator_run(struct generator *generator) {
    struct rm_generator_options const *const options = &generator->options;
    double const jitter_s = options->jitter_us * 1e-6;
    struct rm_schedule_plan const plan = {
        .rate_hz = options->rate_hz,
        .tsc_hz = generator->tsc_hz,
        .jitter_s = jitter_s,
        .seed = options->seed,
        .cycles = cycles_of(options),
    };
    uint64_t const start = rm_tsc() + (uint64_t)((LEAD_S + jitter_s) * generator->tsc_hz);
    rm_schedule_start(&generator->schedule, &plan, start);
    generator->end_tsc = options->rate_hz > 0 ? UINT64_MAX : start + (uint64_t)(options->seconds * generator->tsc_hz);
    while (rm_tsc() < start - (uint64_t)(jitter_s * generator->tsc_hz))
        rm_pause();
    uint64_t const look_ticks = (uint64_t)(LOOK_S * generator->tsc_hz);
    double const cpu_begin_s = rm_thread_seconds();
    generator->began_s = monotonic_s();
    uint64_t now = rm_tsc(), look = now + look_ticks;
    rm_poll_times_begin(&generator->polling, now, generator->tsc_hz);
    while (generator_send_turn(generator, now) && !generator_has_lost(generator) &&
           !rm_stop_requested(&generator->stop)) {
        now = rm_tsc();
        if (now < look)
            continue;
        look = now + look_ticks;
        for (uint32_t i = 0; i < options->link_count; ++i)
            rm_outbox_check(&generator->outbox[i]);
    }
    generator_flush(generator);
    generator->seconds = (double)(rm_tsc() - generator->polling.begin) / generator->tsc_hz;
    generator->cpu_s = rm_thread_seconds() - cpu_begin_s;
}

/** Sends the end often enough for the receiver to hear it: it may be busy just now. */
static void say_end(struct generator *generator) {
    struct rm_generator_options const *const options = &generator->options;
    for (int time = 0; time < SAY_END_TIMES; ++time) {
        for (uint32_t i = 0; i < options->link_count; ++i)
            if (!generator->outbox[i].lost)
                rm_outbox_say_end(&generator->outbox[i], (uint32_t)options->first_flow, (uint32_t)options->instruments,
                                  generator->schedule.next);
        generator_nap();
    }
}

static unsigned long long generator_whole(uint64_t number) { return number; }

static void print_link(struct generator *generator, uint32_t i, uint64_t refused) {
    struct rm_outbox const *const outbox = &generator->outbox[i];
    uint64_t const sent = outbox->sent > refused ? outbox->sent - refused : 0;
    uint64_t const bytes = sent * outbox->payload_bytes;
    double const us = 1e6 / generator->tsc_hz;
    printf("%s{\"link\": ", i == 0 ? "" : ", ");
    rm_json_text(rm_link_text(generator->link[i]));
    printf(", \"sent\": %llu, \"bytes\": %llu, \"dropped\": %llu, \"unsent\": %llu, \"waits\": %llu, ",
           generator_whole(sent), generator_whole(bytes), generator_whole(outbox->dropped),
           generator_whole(outbox->unsent + refused), generator_whole(outbox->waits));
    printf("\"waited_us\": %.1f, \"longest_wait_us\": %.1f}", (double)outbox->waited_ticks * us,
           (double)outbox->longest_wait_ticks * us);
}

static void generator_print(struct generator *generator, uint64_t const *refused) {
    char const *const ended = generator_has_lost(generator)         ? "link"
                              : rm_stop_requested(&generator->stop) ? "interrupted"
                                                                    : "done";
    printf("{\"ended\": \"%s\", \"tsc_hz\": %.0f, \"cycles\": %llu, \"seconds\": %.6f, ", ended, generator->tsc_hz,
           generator_whole(generator->schedule.next), generator->seconds);
    printf("\"began_s\": %.6f, \"ended_s\": %.6f, \"rate_hz\": %g, ", generator->began_s,
           generator->began_s + generator->seconds, generator->options.rate_hz);
    printf("\"behind_cycles\": %llu, \"longest_behind_us\": %.1f, \"busy_share\": %.4f, ",
           generator_whole(generator->schedule.behind),
           (double)generator->schedule.longest_behind_ticks / generator->tsc_hz * 1e6,
           rm_poll_times_busy_share(&generator->polling));
    printf("\"share\": %.4f, \"links\": [", generator->seconds > 0 ? generator->cpu_s / generator->seconds : 0);
    for (uint32_t i = 0; i < generator->options.link_count; ++i)
        print_link(generator, i, refused[i]);
    puts("]}");
}

static enum rm_code make_rows(struct generator *generator, struct rm_error *error) {
    enum rm_code code = RM_OK;
    uint64_t const rows = generator->rows != NULL ? cycles_of(&generator->options) : 0;
    for (uint32_t i = 0; i < generator->options.link_count && code == RM_OK; ++i)
        code = rm_cycles_new(&generator->cycles[i], rows, error);
    return code;
}

/** Link by link: the sender's own unevenness, to be told from that of link and receiver. */
static enum rm_code write_rows(struct generator *generator, struct rm_error *error) {
    struct rm_tally_range const all = {0, generator->schedule.next};
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < generator->options.link_count && generator->rows != NULL && code == RM_OK; ++i)
        code = rm_cycles_write(&generator->cycles[i], i, &all, generator->rows, error);
    return code;
}

/** With the links open. */
static enum rm_code send_all_turns(struct generator *generator, struct rm_error *error) {
    enum rm_code code = rm_pin((uint32_t)generator->options.core, error);
    if (code == RM_OK)
        code = make_rows(generator, error);
    if (code == RM_OK)
        code = wait_for_peers(generator, error);
    if (code != RM_OK)
        return code;
    uint64_t refused[RM_LINKS_MAX] = {0};
    for (uint32_t i = 0; i < generator->options.link_count; ++i)
        rm_outbox_start(&generator->outbox[i], generator->link[i], (uint32_t)generator->options.payload_bytes,
                        generator->options.drop_every, generator->tsc_hz, &generator->stop);
    puts("{\"ready\": true}");
    fflush(stdout);
    generator_run(generator);
    for (uint32_t i = 0; i < generator->options.link_count; ++i) {
        struct rm_link_statistics totals;
        rm_link_totals(generator->link[i], &totals);
        refused[i] = totals.unsent;
    }
    say_end(generator);
    for (uint32_t i = 0; i < generator->options.link_count; ++i)
        if (generator->outbox[i].lost)
            fprintf(stderr, "ringmaster-generator: %s\n", generator->outbox[i].error.text);
    generator_print(generator, refused);
    return write_rows(generator, error);
}

static enum rm_code generator_open_and_run(struct generator *generator, struct rm_error *error) {
    struct rm_generator_options const *const options = &generator->options;
    enum rm_code code = rm_cycles_open(options->cycles_path, &generator->rows, error);
    if (code == RM_OK)
        code = rm_stop_start(&generator->stop, error);
    if (code != RM_OK)
        return code;
    code = rm_links_open(options->link, options->link_count, generator->link, error);
    if (code == RM_OK) {
        code = send_all_turns(generator, error);
        rm_links_close(generator->link, options->link_count);
        for (uint32_t i = 0; i < options->link_count; ++i)
            rm_cycles_free(&generator->cycles[i]);
    }
    rm_stop_finish(&generator->stop);
    return rm_cycles_close(options->cycles_path, generator->rows, code, error);
}

int main(int argc, char **argv) {
    static struct generator generator;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(rm_generator_usage, stdout);
        return 0;
    }
    if (rm_generator_options_read(argc, argv, &generator.options, &error) != RM_OK)
        return rm_options_refuse(&error);
    generator.tsc_hz = rm_tsc_hz_measure();
    enum rm_code code = generator_open_and_run(&generator, &error);
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-generator: %s\n", error.text);
    return code == RM_OK && !generator_has_lost(&generator) ? 0 : 1;
}
