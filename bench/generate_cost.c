// SPDX-License-Identifier: Apache-2.0
/** What does a frame of the packet generator cost, and how many a second does one core send?
 *
 *     ringmaster-generate-cost cost BYTES                    both ends of a link in this process, hot
 *     ringmaster-generate-cost flood KIND BYTES SOCKET CPU   over memif to the peer, until it is interrupted
 *     ringmaster-generate-cost count KIND BYTES FRAMES       to no peer, for callgrind
 *
 * KIND is `fixed`, or `varying`: source and destination address and port go through ranges, and every frame has a
 * stamp. BYTES are those of a frame without FCS, as dpdk-testpmd's --txpkts. A port is turned as its role turns it:
 * orders, sending, receiving.
 *
 * `cost` prints a JSON object: nanoseconds per frame, of bursts of 64, to send it and, at the far end of the link, to
 * receive and count it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "rounds.h"
#include "traffic/generator.h"
#include "traffic/template_source.h"

enum { BYTES_MIN = 60, FLOWS = 16, SPREAD = 1000, BURSTS = 200000, LINK_TRIES = 5000 };

struct bench {
    struct rm_generator *generator;
    struct rm_port *port;
    rm_counter counters[RM_GENERATOR_COUNTERS];
    struct rm_histogram jitter, latency;
    struct bench_times send, arrive;
};

static volatile sig_atomic_t stopped;

static void generate_cost_stop(int number) {
    (void)number;
    stopped = 1;
}

static void vary(struct rm_traffic_template *template, enum rm_traffic_field_name name) {
    struct rm_traffic_field *const field = &template->field[name];
    *field = (struct rm_traffic_field){RM_TRAFFIC_RANGE, field->start, field->start, field->start + SPREAD, 1};
}

static void describe_traffic(struct rm_traffic *traffic, bool varying, uint32_t bytes, uint64_t count) {
    struct rm_traffic_template *const template = &traffic->template[0];
    rm_traffic_default(traffic, 0);
    traffic->pace = RM_TRAFFIC_UNPACED;
    traffic->count = count;
    template->field[RM_TRAFFIC_SIZE].start = bytes + RM_FCS_BYTES;
    if (!varying)
        return;
    vary(template, RM_TRAFFIC_SOURCE_ADDRESS);
    vary(template, RM_TRAFFIC_DESTINATION_ADDRESS);
    vary(template, RM_TRAFFIC_SOURCE_PORT);
    vary(template, RM_TRAFFIC_DESTINATION_PORT);
    template->flow_count = FLOWS;
}

static void start_bench_net(void) {
    struct rm_net_config const net = {.prefix = "ringmaster-generate-cost"};
    struct rm_error error;
    bench_must(rm_net_start(&net, &error), &error);
}

static void open_bench_port(struct bench *bench, char const *socket) {
    struct rm_port_config config = {.name = "out", .kind = socket ? RM_PORT_MEMIF : RM_PORT_NULL, .queues = 1};
    struct rm_error error;
    snprintf(config.socket_path, sizeof config.socket_path, "%s", socket ? socket : "");
    bench_must(rm_port_open(&config, &bench->port, &error), &error);
    bench_must(rm_generator_new(rm_tsc_hz_measure(), rm_tsc(), &bench->generator, &error), &error);
    bench_must(rm_generator_add_side(bench->generator, &error), &error);
    struct rm_generator_port_plan const plan = {
        .port = bench->port,
        .queue_count = socket ? 1 : 0, // a port to no peer makes frames of its own
        .longest_frame = RM_LONGEST_FRAME,
        .counters = bench->counters,
        .jitter = &bench->jitter,
        .latency = &bench->latency,
    };
    bench_must(rm_generator_add_port(bench->generator, &plan, &error), &error);
}

/** This thread is both core and commands' thread, so it hands the job over itself. */
static void begin(struct bench *bench, struct rm_traffic const *traffic) {
    struct rm_generator_port *const port = bench->generator->port[0];
    struct rm_traffic_job *const job = malloc(sizeof *job);
    struct rm_error error;
    if (job == NULL)
        exit(3);
    bench_must(rm_traffic_check(traffic, RM_LONGEST_FRAME, &error), &error);
    job->traffic = *traffic;
    bench_must(rm_template_source_new(traffic, 0, port->sent, bench->generator->key, &job->source, &error), &error);
    rm_traffic_job_free(rm_traffic_sender_take(&port->sender, job, rm_tsc()));
    rm_traffic_sender_start(&port->sender, rm_tsc());
}

__attribute__((noinline)) static void send_frames(struct bench *bench) {
    while (!stopped && rm_generator_is_sending(bench->generator, 0))
        rm_generator_turn(bench->generator->port[0], rm_tsc());
}

/* ── cost ── */

/** Receives what was sent and counts it as a generator does. Returns how many ticks that took. */
static uint64_t time_arrivals(struct bench *bench, struct rm_port *far, uint32_t sent) {
    uint64_t const begin = rm_tsc();
    for (uint32_t received = 0; received < sent;) {
        struct rm_burst burst;
        received += rm_port_receive(far, 0, &burst);
        rm_arrivals_count(&burst, begin, bench->counters, &bench->generator->side[0], &bench->latency);
        rm_port_release(far, 0, &burst);
    }
    return rm_tsc() - begin;
}

/** Sends a burst, which comes back. False where not all of it was sent. */
static bool time_burst(struct bench *bench, struct rm_port *far) {
    uint64_t const begin = rm_tsc();
    uint32_t const sent = rm_generator_turn(bench->generator->port[0], begin);
    uint64_t const ticks = rm_tsc() - begin, arrival_ticks = time_arrivals(bench, far, sent);
    if (sent != RM_BURST)
        return false;
    bench_times_take(&bench->send, ticks);
    bench_times_take(&bench->arrive, arrival_ticks);
    return true;
}

static int generate_cost_report(struct bench *bench, struct rm_traffic *traffic, uint32_t bytes) {
    double const ns_per_tick_and_frame = 1e9 / rm_tsc_hz_measure() / RM_BURST;
    struct rm_port_config const link = {.name = "far", .kind = RM_PORT_MEMIF, .memif_server = true, .queues = 1};
    struct rm_port_config config = link;
    struct rm_port *far;
    struct rm_error error;
    char folder[] = "/tmp/ringmaster-generate-cost-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 3;
    snprintf(config.socket_path, sizeof config.socket_path, "%s/link.sock", folder);
    start_bench_net();
    bench_must(rm_port_open(&config, &far, &error), &error);
    open_bench_port(bench, config.socket_path);
    printf("{\"bytes\": %u, ", bytes);
    for (uint32_t varying = 0; varying < 2; ++varying) {
        describe_traffic(traffic, varying, bytes, 0);
        begin(bench, traffic);
        bench_times_clear(&bench->send);
        bench_times_clear(&bench->arrive);
        for (int i = 0; i < LINK_TRIES && !time_burst(bench, far); ++i)
            usleep(1000); // the ends find each other
        for (uint32_t burst = 0; burst < BURSTS; ++burst)
            time_burst(bench, far);
        bench_times_json(varying ? "varying_ns" : "fixed_ns", &bench->send, ns_per_tick_and_frame, ", ");
        bench_times_json(varying ? "stamped_arrival_ns" : "foreign_arrival_ns", &bench->arrive, ns_per_tick_and_frame,
                         varying ? "}\n" : ", ");
    }
    rm_generator_free(bench->generator);
    rm_port_close(bench->port);
    rm_port_close(far);
    rm_net_stop();
    rmdir(folder);
    return 0;
}

static char const USAGE[] = "Usage: ringmaster-generate-cost cost BYTES\n"
                            "       ringmaster-generate-cost flood fixed|varying BYTES SOCKET CPU\n"
                            "       ringmaster-generate-cost count fixed|varying BYTES FRAMES\n";

int main(int argc, char **argv) {
    enum { COST, FLOOD, COUNT };
    static char const *const commands[] = {[COST] = "cost", [FLOOD] = "flood", [COUNT] = "count", NULL};
    static struct bench bench;
    static struct rm_traffic traffic;
    uint64_t bytes = 0, frames = 0, cpu = 0;
    char const *socket = NULL, *kind = NULL;
    struct rm_option options[] = {
        {"KIND", &kind, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"BYTES", &bytes, BYTES_MIN, RM_LONGEST_FRAME, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"SOCKET", &socket, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
    };
    uint64_t const command = rm_options_command_or_exit(argc, argv, USAGE, commands);
    if (command == COUNT)
        options[2] = (struct rm_option){"FRAMES", &frames, 0, 1e12, .kind = RM_OPTION_WHOLE, .place = RM_WORD};
    rm_options_or_exit(argc - 1, argv + 1, USAGE, command == COST ? options + 1 : options,
                       command == COST    ? 1
                       : command == COUNT ? 3
                                          : 4);
    if (command == COST)
        return generate_cost_report(&bench, &traffic, (uint32_t)bytes);
    if (command == FLOOD)
        bench_pin((uint32_t)cpu);
    start_bench_net();
    open_bench_port(&bench, socket);
    signal(SIGINT, generate_cost_stop);
    signal(SIGTERM, generate_cost_stop);
    describe_traffic(&traffic, strcmp(kind, "varying") == 0, (uint32_t)bytes, frames);
    begin(&bench, &traffic);
    send_frames(&bench);
    rm_generator_free(bench.generator);
    rm_port_close(bench.port);
    rm_net_stop();
    return 0;
}
