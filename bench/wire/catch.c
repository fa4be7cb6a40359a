// SPDX-License-Identifier: Apache-2.0
/** Receives what ringmaster-pace sends, and stamps each datagram; `ringmaster-catch --help` tells how.
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
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "catch_core.h"
#include "catch_link.h"
#include "catch_options.h"
#include "catch_print.h"
#include "cycles.h"
#include "link_end.h"
#include "options.h"
#include "stop.h"

struct catch {
    struct rm_catch_options options;
    struct rm_stop stop;
    double tsc_hz;
    FILE *rows; /**< of cycles, or NULL */
    struct rm_link *link[RM_LINKS_MAX];
    struct rm_catch_link caught[RM_LINKS_MAX];
    struct rm_catch_core core[RM_LINKS_MAX];
};

static struct rm_window_plan plan_of(struct catch const *catch) {
    struct rm_catch_options const *const options = &catch->options;
    return (struct rm_window_plan){catch->tsc_hz, options->rate_hz, options->warm_up_s, options->seconds,
                                   options->idle_s};
}

static enum rm_code make_links(struct catch *catch, struct rm_error *error) {
    struct rm_window_plan const plan = plan_of(catch);
    uint64_t const rows = catch->rows != NULL ? rm_window_cycles(&plan) : 0;
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < catch->options.link_count && code == RM_OK; ++i)
        code = rm_catch_link_new(&catch->caught[i], catch->link[i], (uint32_t) catch->options.instruments, rows, error);
    return code;
}

static void free_links(struct catch *catch) {
    for (uint32_t i = 0; i < catch->options.link_count; ++i)
        rm_catch_link_free(&catch->caught[i]);
}

static void stop_cores(struct catch *catch, uint32_t count) {
    atomic_store_explicit(&catch->stop.asked, true, memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i)
        rm_catch_core_join(&catch->core[i]);
}

/** A core with its links, which follow `first`. */
static struct rm_catch_core core_of(struct catch *catch, uint32_t index, struct rm_catch_link *first) {
    struct rm_catch_options const *const options = &catch->options;
    struct rm_window_plan const plan = plan_of(catch);
    for (uint32_t i = 0; i < options->core_links[index]; ++i) {
        first[i].core = options->core[index];
        rm_catch_link_start(&first[i], &plan);
    }
    return (struct rm_catch_core){.core = options->core[index],
                                  .link_count = options->core_links[index],
                                  .caught = first,
                                  .stop = &catch->stop,
                                  .tsc_hz = catch->tsc_hz};
}

/** Starts all threads, each on its links. */
static enum rm_code start_cores(struct catch *catch, struct rm_error *error) {
    struct rm_catch_link *first = catch->caught;
    for (uint32_t i = 0; i < catch->options.core_count; ++i) {
        catch->core[i] = core_of(catch, i, first);
        if (rm_catch_core_start(&catch->core[i], error) != RM_OK) {
            stop_cores(catch, i);
            return error->code;
        }
        first += catch->core[i].link_count;
    }
    return RM_OK;
}

/** Tells of links that have become silent, or that never spoke, and why that may be. */
static bool tell_idle(struct catch *catch) {
    bool idle = false;
    for (uint32_t i = 0; i < catch->options.link_count; ++i) {
        struct rm_catch_link const *const caught = &catch->caught[i];
        struct rm_error why;
        if (!caught->window.idle)
            continue;
        idle = true;
        bool const works = rm_link_check(caught->link, &why) == RM_OK;
        fprintf(stderr, "ringmaster-catch: link %s: nothing %s for %g s: %s\n", rm_link_text(caught->link),
                caught->window.next == 0 ? "came" : "came any more", catch->options.idle_s,
                works ? "is ringmaster-pace running, and does it send here?" : why.text);
    }
    return idle;
}

static void print(struct catch *catch) {
    struct rm_catch_options const *const options = &catch->options;
    bool const idle = tell_idle(catch);
    double seconds = 0;
    for (uint32_t i = 0; i < options->link_count; ++i) {
        double const of_link = rm_catch_link_seconds(&catch->caught[i], catch->tsc_hz);
        seconds = of_link > seconds ? of_link : seconds;
    }
    char const *const ended = rm_stop_asked(&catch->stop) ? "interrupted" : idle ? "idle" : "done";
    printf("{\"tsc_hz\": %.0f, \"seconds\": %.6f, \"ended\": \"%s\", \"cores\": [", catch->tsc_hz, seconds, ended);
    for (uint32_t i = 0; i < options->core_count; ++i) {
        fputs(i == 0 ? "" : ", ", stdout);
        rm_catch_print_core(&catch->core[i]);
    }
    fputs("], \"links\": [", stdout);
    for (uint32_t i = 0; i < options->link_count; ++i) {
        fputs(i == 0 ? "" : ", ", stdout);
        rm_catch_print_link(&catch->caught[i], catch->tsc_hz);
    }
    puts("]}");
}

static enum rm_code write_rows(struct catch *catch, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < catch->options.link_count && catch->rows != NULL && code == RM_OK; ++i)
        code = rm_cycles_write(&catch->caught[i].cycles, i, &catch->caught[i].window.range, catch->rows, error);
    return code;
}

/** With the links open. */
static enum rm_code receive_all(struct catch *catch, struct rm_error *error) {
    enum rm_code code = make_links(catch, error);
    if (code == RM_OK)
        code = start_cores(catch, error);
    if (code == RM_OK) {
        puts("{\"ready\": true}");
        fflush(stdout);
        for (uint32_t i = 0; i < catch->options.core_count; ++i)
            rm_catch_core_join(&catch->core[i]);
        print(catch);
        code = write_rows(catch, error);
    }
    free_links(catch);
    return code;
}

static enum rm_code open_rows(struct catch *catch, struct rm_error *error) {
    char const *const path = catch->options.cycles;
    if (path == NULL)
        return RM_OK;
    catch->rows = fopen(path, "wbe");
    return catch->rows != NULL ? RM_OK
                               : rm_fail(error, RM_E_SYSTEM, "--cycles %s: cannot write: %s", path, strerror(errno));
}

static enum rm_code close_rows(struct catch *catch, enum rm_code code, struct rm_error *error) {
    if (catch->rows == NULL || fclose(catch->rows) == 0 || code != RM_OK)
        return code;
    return rm_fail(error, RM_E_SYSTEM, "--cycles %s: cannot write: %s", catch->options.cycles, strerror(errno));
}

static enum rm_code run(struct catch *catch, struct rm_error *error) {
    enum rm_code code = open_rows(catch, error);
    if (code != RM_OK)
        return code;
    code = rm_stop_start(&catch->stop, error);
    if (code == RM_OK) {
        code = rm_links_open(catch->options.link, catch->options.link_count, catch->link, error);
        if (code == RM_OK) {
            code = receive_all(catch, error);
            rm_links_close(catch->link, catch->options.link_count);
        }
        rm_stop_finish(&catch->stop);
    }
    return close_rows(catch, code, error);
}

int main(int argc, char **argv) {
    static struct catch catch;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(rm_catch_usage, stdout);
        return 0;
    }
    if (rm_catch_options_read(argc, argv, &catch.options, &error) != RM_OK) {
        fprintf(stderr, "ringmaster-catch: %s\n", error.text);
        return 2;
    }
    catch.tsc_hz = rm_tsc_hz_measure();
    enum rm_code const code = run(&catch, &error);
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-catch: %s\n", error.text);
    return code == RM_OK ? 0 : 1;
}
