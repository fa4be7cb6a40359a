// SPDX-License-Identifier: Apache-2.0
/** Receives what ringmaster-generator sends, and stamps each datagram; `ringmaster-receiver --help` tells how.
 *
 * The last line of standard output is a JSON object:
 *
 *     ended    "done", "interrupted", or "idle": nothing came any more
 *     seconds  of the longest window, from its first datagram to its last
 *     cores    of each thread:
 *                seconds           that it was watched: from the first window's beginning to the last one's end
 *                loops, busy_loops all, and those that found something
 *                busy_share        of the time, in those; of a thread that sleeps, on its core
 *                longest_gap_us    between two loops; of a thread that sleeps, awake
 *                gaps_over_10us
 *                cpu_s, share      on its core, by the kernel's account: seconds, and of the seconds
 *     links    of each:
 *                first_cycle, cycles   the window
 *                seconds, received, bytes (of payload)
 *                lost                  never came
 *                duplicate, reordered
 *                foreign               no datagrams of ours
 *                missed                of the lost: by the device, or for want of socket memory
 *                instruments           of each: received, lost, and the time from one datagram to the next
 *
 * Of each link: received + lost = instruments · cycles, but for instruments whose sender ended before another one's.
 *
 * A link's cycles are one sender's. Several senders may share it, with --first-flow, if they have the same rate and
 * begin together, or if they are received from their beginning to their end.
 */
#include <stdio.h>

#include "base/options.h"
#include "base/timebase.h"
#include "cycles.h"
#include "link_endpoint.h"
#include "receiver_core.h"
#include "receiver_link.h"
#include "receiver_options.h"
#include "receiver_print.h"
#include "stop.h"

struct receiver {
    struct rm_receiver_options options;
    struct rm_stop stop;
    double tsc_hz;
    FILE *rows; /**< of cycles, or NULL */
    struct rm_link *link[RM_LINKS_MAX];
    struct rm_receiver_link received[RM_LINKS_MAX];
    struct rm_receiver_core core[RM_LINKS_MAX];
};

static struct rm_window_plan plan_of(struct receiver const *receiver) {
    struct rm_receiver_options const *const options = &receiver->options;
    return (struct rm_window_plan){receiver->tsc_hz, options->rate_hz, options->warm_up_s, options->seconds,
                                   options->idle_s};
}

static enum rm_code make_links(struct receiver *receiver, struct rm_error *error) {
    struct rm_window_plan const plan = plan_of(receiver);
    uint64_t const rows = receiver->rows != NULL ? rm_window_cycles(&plan) : 0;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < receiver->options.link_count && code == RM_OK; ++i)
        code = rm_receiver_link_new(&receiver->received[i], receiver->link[i], (uint32_t)receiver->options.instruments,
                                    rows, error);
    return code;
}

static void free_links(struct receiver *receiver) {
    for (uint32_t i = 0; i < receiver->options.link_count; ++i)
        rm_receiver_link_free(&receiver->received[i]);
}

static void stop_cores(struct receiver *receiver, uint32_t count) {
    atomic_store_explicit(&receiver->stop.requested, true, memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i)
        rm_receiver_core_join(&receiver->core[i]);
}

/** A core with its links, which follow `first`. */
static struct rm_receiver_core core_of(struct receiver *receiver, uint32_t index, struct rm_receiver_link *first) {
    struct rm_receiver_options const *const options = &receiver->options;
    struct rm_window_plan const plan = plan_of(receiver);
    for (uint32_t i = 0; i < options->core_links[index]; ++i) {
        first[i].core = options->core[index];
        rm_receiver_link_start(&first[i], &plan);
    }
    return (struct rm_receiver_core){.core = options->core[index],
                                     .link_count = options->core_links[index],
                                     .received = first,
                                     .stop = &receiver->stop,
                                     .tsc_hz = receiver->tsc_hz};
}

/** Starts all threads, each on its links. */
static enum rm_code start_cores(struct receiver *receiver, struct rm_error *error) {
    struct rm_receiver_link *first = receiver->received;
    for (uint32_t i = 0; i < receiver->options.core_count; ++i) {
        receiver->core[i] = core_of(receiver, i, first);
        if (rm_receiver_core_start(&receiver->core[i], error) != RM_OK) {
            stop_cores(receiver, i);
            return error->code;
        }
        first += receiver->core[i].link_count;
    }
    return RM_OK;
}

/** Tells of links that have become silent, or that never spoke, and why that may be. */
static bool tell_idle(struct receiver *receiver) {
    bool idle = false;
    for (uint32_t i = 0; i < receiver->options.link_count; ++i) {
        struct rm_receiver_link const *const received = &receiver->received[i];
        struct rm_error why;
        if (!received->window.idle)
            continue;
        idle = true;
        bool const works = rm_link_check(received->link, &why) == RM_OK;
        fprintf(stderr, "ringmaster-receiver: link %s: nothing %s for %g s: %s\n", rm_link_text(received->link),
                received->window.next == 0 ? "came" : "came any more", receiver->options.idle_s,
                works ? "is ringmaster-generator running, and does it send here?" : why.text);
    }
    return idle;
}

static void receiver_print(struct receiver *receiver) {
    struct rm_receiver_options const *const options = &receiver->options;
    bool const idle = tell_idle(receiver);
    double seconds = 0;
    for (uint32_t i = 0; i < options->link_count; ++i) {
        double const of_link = rm_receiver_link_seconds(&receiver->received[i], receiver->tsc_hz);
        seconds = of_link > seconds ? of_link : seconds;
    }
    char const *const ended = rm_stop_requested(&receiver->stop) ? "interrupted" : idle ? "idle" : "done";
    printf("{\"tsc_hz\": %.0f, \"seconds\": %.6f, \"ended\": \"%s\", \"cores\": [", receiver->tsc_hz, seconds, ended);
    for (uint32_t i = 0; i < options->core_count; ++i) {
        fputs(i == 0 ? "" : ", ", stdout);
        rm_receiver_print_core(&receiver->core[i]);
    }
    fputs("], \"links\": [", stdout);
    for (uint32_t i = 0; i < options->link_count; ++i) {
        fputs(i == 0 ? "" : ", ", stdout);
        rm_receiver_print_link(&receiver->received[i], receiver->tsc_hz);
    }
    puts("]}");
}

static enum rm_code write_rows(struct receiver *receiver, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < receiver->options.link_count && receiver->rows != NULL && code == RM_OK; ++i)
        code = rm_cycles_write(&receiver->received[i].cycles, i, &receiver->received[i].window.range, receiver->rows,
                               error);
    return code;
}

/** With the links open. */
static enum rm_code receive_all(struct receiver *receiver, struct rm_error *error) {
    enum rm_code code = make_links(receiver, error);
    if (code == RM_OK)
        code = start_cores(receiver, error);
    if (code == RM_OK) {
        puts("{\"ready\": true}");
        fflush(stdout);
        for (uint32_t i = 0; i < receiver->options.core_count; ++i)
            rm_receiver_core_join(&receiver->core[i]);
        receiver_print(receiver);
        code = write_rows(receiver, error);
    }
    free_links(receiver);
    return code;
}

static enum rm_code receiver_run(struct receiver *receiver, struct rm_error *error) {
    char const *const path = receiver->options.cycles;
    enum rm_code code = rm_cycles_open(path, &receiver->rows, error);
    if (code != RM_OK)
        return code;
    code = rm_stop_start(&receiver->stop, error);
    if (code == RM_OK) {
        code = rm_links_open(receiver->options.link, receiver->options.link_count, receiver->link, error);
        if (code == RM_OK) {
            code = receive_all(receiver, error);
            rm_links_close(receiver->link, receiver->options.link_count);
        }
        rm_stop_finish(&receiver->stop);
    }
    return rm_cycles_close(path, receiver->rows, code, error);
}

int main(int argc, char **argv) {
    static struct receiver receiver;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(rm_receiver_usage, stdout);
        return 0;
    }
    if (rm_receiver_options_read(argc, argv, &receiver.options, &error) != RM_OK)
        return rm_options_refuse(&error);
    receiver.tsc_hz = rm_tsc_hz_measure();
    enum rm_code const code = receiver_run(&receiver, &error);
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-receiver: %s\n", error.text);
    return code == RM_OK ? 0 : 1;
}
