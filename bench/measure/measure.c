// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "bench/measure/measure_feed.h"
#include "bench/measure/measure_report.h"
#include "engine/server.h"
#include "engine/server_state.h"

enum {
    WARM_UP_ROUNDS = 3,
    ROUND_DATAGRAMS =
        32768, /**< of each kind of drain in a round, by as many fills as it takes: a millisecond or two */
    FIGURES_MAX = 2,
};

static uint64_t const PROGRESS_NS = 2000000000;

struct measurement {
    struct rm_config *config;
    struct rm_server *server;
    uint32_t port; /**< index into config->port */
    struct rm_receive *receive;
    struct rm_receive_queue *queue;
    struct rm_measure_feed seen;   /**< what the role receives */
    struct rm_measure_feed unseen; /**< what is given back unread; its turns are its own */
    uint64_t begin_tsc;            /**< of the role's time, which goes by turns and not by the clock … */
    double ticks_per_datagram;     /**< … as if the ring kept the configured rate */
    uint64_t received;             /**< datagrams, by the role */
    uint64_t progress_ns;          /**< CLOCK_MONOTONIC when a line about progress is due */
    sigset_t ending;               /**< signals that end it */
};

/** Both drains stand by themselves in a profile: callgrind_annotate --inclusive=yes. Returns datagrams. */
__attribute__((noinline)) static uint32_t drain_unseen(struct rm_port *port, uint16_t queue) {
    uint32_t total = 0, count;
    while ((count = rm_port_discard(port, queue)) != 0)
        total += count;
    return total;
}

__attribute__((noinline)) static uint32_t drain_whole(struct measurement *measurement) {
    struct rm_receive *receive = measurement->receive;
    struct rm_receive_queue *queue = measurement->queue;
    uint64_t const before = measurement->received;
    while (rm_port_receive(queue->port, queue->queue, &receive->burst) != 0) {
        measurement->received += receive->burst.count;
        (void)rm_tsc(); /* the duty looks at the clock here */
        double const ticks = (double)measurement->received * measurement->ticks_per_datagram;
        rm_receive_burst(receive, queue, measurement->begin_tsc + (uint64_t)ticks);
        rm_port_release(queue->port, queue->queue, &receive->burst);
    }
    return (uint32_t)(measurement->received - before);
}

static enum rm_code measure_fill_feed(struct rm_measure_feed *feed, uint32_t datagrams, struct rm_error *error) {
    uint32_t const sent = rm_measure_feed_fill(feed, datagrams);
    if (sent != datagrams)
        return rm_fail(error, RM_E_NO_SPACE, "port \"%s\" took %u of %u datagrams: its ring or its pool is too small",
                       rm_port_name(feed->port), sent, datagrams);
    /* What a card has written stands in the cache; ours must not be in the store buffer. */
    atomic_thread_fence(memory_order_seq_cst);
    return RM_OK;
}

/** What this thread has had of its core: a busy machine takes it away now and then, and that is no cost of ours. */
static uint64_t core_time_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

/** Fills and drains, so many times; adds up the drains' time. */
static enum rm_code drain_times(struct measurement *measurement, bool whole, uint32_t datagrams, uint32_t times,
                                double *ns_per_packet, struct rm_error *error) {
    uint64_t spent_ns = 0;
    for (uint32_t i = 0; i < times; ++i) {
        enum rm_code const code =
            measure_fill_feed(whole ? &measurement->seen : &measurement->unseen, datagrams, error);
        if (code != RM_OK)
            return code;
        uint64_t const begin_ns = core_time_ns();
        uint32_t const drained =
            whole ? drain_whole(measurement) : drain_unseen(measurement->queue->port, measurement->queue->queue);
        spent_ns += core_time_ns() - begin_ns;
        if (drained != datagrams)
            return rm_fail(error, RM_E_SYSTEM, "%u datagrams were sent and %u came back", datagrams, drained);
    }
    *ns_per_packet = (double)spent_ns / ((double)datagrams * times);
    return RM_OK;
}

static enum rm_code look_up(struct measurement *measurement, struct rm_measure_figure const *figure, uint32_t round,
                            struct rm_error *error) {
    struct timespec const now = {0};
    if (sigtimedwait(&measurement->ending, NULL, &now) > 0)
        return rm_fail(error, RM_E_SYSTEM, "measuring was interrupted; nothing is left behind");
    if (rm_monotonic_ns() >= measurement->progress_ns) {
        measurement->progress_ns += PROGRESS_NS;
        fprintf(stderr, "ringmaster-measure: %s, %u datagrams a fill: %u of %u rounds\n", figure->name,
                figure->datagrams, round, WARM_UP_ROUNDS + figure->rounds);
    }
    return RM_OK;
}

static void set_slots(struct measurement *measurement, uint32_t datagrams) {
    uint32_t *slots = &measurement->config->port[measurement->port].port.ring_slots;
    *slots = RM_BURST;
    while (*slots < datagrams)
        *slots *= 2;
}

/** Opens the port anew, so that its pool has as many buffers as an ordinary port of that size: a pool hands out all of
 * its buffers one after the other, and those of a large one are never hot. */
static enum rm_code resize_port(struct measurement *measurement, uint32_t datagrams, struct rm_error *error) {
    struct rm_port_config const *wanted = &measurement->config->port[measurement->port].port;
    struct rm_server_port *port = &measurement->server->port[measurement->port];
    set_slots(measurement, datagrams);
    rm_port_close(port->port);
    enum rm_code const code = rm_port_open(wanted, &port->port, error);
    measurement->queue->port = measurement->seen.port = measurement->unseen.port = port->port;
    return code;
}

static enum rm_code measure_figure(struct measurement *measurement, struct rm_measure_figure *figure,
                                   struct rm_error *error) {
    uint32_t const times = figure->datagrams < ROUND_DATAGRAMS ? ROUND_DATAGRAMS / figure->datagrams : 1;
    figure->poll_ns = calloc(figure->rounds, sizeof *figure->poll_ns);
    figure->full_ns = calloc(figure->rounds, sizeof *figure->full_ns);
    if (figure->poll_ns == NULL || figure->full_ns == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u rounds", figure->rounds);
    enum rm_code code = resize_port(measurement, figure->datagrams, error);
    for (uint32_t round = 0; code == RM_OK && round < WARM_UP_ROUNDS + figure->rounds; ++round) {
        uint32_t const place = round < WARM_UP_ROUNDS ? 0 : round - WARM_UP_ROUNDS;
        code = drain_times(measurement, false, figure->datagrams, times, &figure->poll_ns[place], error);
        if (code == RM_OK)
            code = drain_times(measurement, true, figure->datagrams, times, &figure->full_ns[place], error);
        if (code == RM_OK)
            code = look_up(measurement, figure, round + 1, error);
    }
    return code;
}

static uint64_t measure_sum_counter(struct measurement const *measurement, enum rm_stream_counter counter) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < measurement->config->instrument_count; ++i)
        total += rm_counter_get(measurement->server->instrument[i]->counters, counter);
    return total;
}

/** Refused packets cost little: they would make a fine figure. */
static enum rm_code check_accepted(struct measurement const *measurement, struct rm_error *error) {
    rm_receive_flush(measurement->receive, 0);
    uint64_t const accepted = measure_sum_counter(measurement, RM_STREAM_ACCEPTED);
    uint64_t const skipped = measure_sum_counter(measurement, RM_STREAM_SKIPPED);
    if (accepted == measurement->received && skipped == 0)
        return RM_OK;
    uint64_t const decoded = rm_counter_get(measurement->queue->counters, RM_PORT_DECODED);
    return rm_fail(
        error, RM_E_SYSTEM,
        "of %" PRIu64 " datagrams %" PRIu64 " were decoded and %" PRIu64 " accepted (out of order %" PRIu64
        ", duplicate %" PRIu64 ", turn ahead %" PRIu64 ", turn behind %" PRIu64 ", turn out of range %" PRIu64
        "), and %" PRIu64 " turns were skipped; expected all and none, for other figures say nothing",
        measurement->received, decoded, accepted, measure_sum_counter(measurement, RM_STREAM_OUT_OF_ORDER),
        measure_sum_counter(measurement, RM_STREAM_DUPLICATE), measure_sum_counter(measurement, RM_STREAM_TURN_AHEAD),
        measure_sum_counter(measurement, RM_STREAM_TURN_BEHIND),
        measure_sum_counter(measurement, RM_STREAM_TURN_OUT_OF_RANGE), skipped);
}

static enum rm_code measure_pin_thread(struct rm_config const *config, uint32_t role, struct rm_error *error) {
    struct rm_error why;
    if (rm_pin(config->role[role].core, &why) == RM_OK)
        return RM_OK;
    return rm_config_fail_entry(config, error, "roles", role, "core", "%s", why.text);
}

/** What runs once the server is open. */
static enum rm_code measure_all(struct measurement *measurement, bool by_turn, struct rm_measure_figure *figure,
                                uint32_t figures, struct rm_error *error) {
    struct rm_config const *config = measurement->config;
    uint32_t const role = rm_measure_role(config);
    measurement->receive = measurement->server->role[role];
    measurement->queue = &measurement->receive->queue[0];
    measurement->begin_tsc = rm_tsc();
    measurement->ticks_per_datagram =
        measurement->server->tsc_hz / config->turn_rate_hz / measurement->config->instrument_count;
    bool const seen = rm_measure_feed_init(&measurement->seen, config, measurement->port, !by_turn);
    bool const unseen = rm_measure_feed_init(&measurement->unseen, config, measurement->port, !by_turn);
    enum rm_code code = seen && unseen ? measure_pin_thread(config, role, error)
                                       : rm_fail(error, RM_E_NO_SPACE, "no memory for the order of turns");
    measurement->progress_ns = rm_monotonic_ns() + PROGRESS_NS;
    for (uint32_t i = 0; code == RM_OK && i < figures; ++i)
        code = measure_figure(measurement, &figure[i], error);
    if (code == RM_OK)
        code = check_accepted(measurement, error);
    rm_measure_feed_free(&measurement->seen);
    rm_measure_feed_free(&measurement->unseen);
    return code;
}

static uint32_t choose_figures(struct rm_measure_options const *options, struct rm_measure_figure figure[FIGURES_MAX]) {
    if (options->datagrams != 0) {
        figure[0] = (struct rm_measure_figure){"given", options->datagrams, options->rounds, NULL, NULL};
        return 1;
    }
    figure[0] = (struct rm_measure_figure){"hot", RM_MEASURE_HOT, options->rounds, NULL, NULL};
    figure[1] = (struct rm_measure_figure){"cold", RM_MEASURE_COLD, options->rounds, NULL, NULL};
    return 2;
}

enum rm_code rm_measure(struct rm_config *config, struct rm_measure_options const *options, FILE *out,
                        struct rm_error *error) {
    struct rm_measure_figure figure[FIGURES_MAX];
    uint32_t const figures = choose_figures(options, figure);
    struct measurement measurement = {.config = config};
    sigemptyset(&measurement.ending);
    sigaddset(&measurement.ending, SIGINT);
    sigaddset(&measurement.ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &measurement.ending, NULL);
    enum rm_code code = rm_measure_prepare(config, options, error);
    if (code != RM_OK)
        return code;
    measurement.port = config->role[rm_measure_role(config)].queue[0].port;
    set_slots(&measurement, figure[figures - 1].datagrams); /* the most: DPDK gets its memory once */
    code = rm_server_open(config, options->simd, &measurement.server, error);
    if (code != RM_OK)
        return code;
    code = measure_all(&measurement, options->by_turn, figure, figures, error);
    struct rm_measure_conditions const conditions = {options->simd, rm_server_huge_pages(measurement.server),
                                                     options->by_turn};
    if (code == RM_OK && !rm_measure_print(config, &conditions, figure, figures, out))
        code = rm_fail(error, RM_E_NO_SPACE, "no memory to print %u rounds", options->rounds);
    for (uint32_t i = 0; i < figures; ++i) {
        free(figure[i].poll_ns);
        free(figure[i].full_ns);
    }
    rm_server_stop(measurement.server);
    return code;
}
