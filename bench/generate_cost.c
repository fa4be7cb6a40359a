// SPDX-License-Identifier: Apache-2.0
/** What does a frame of the packet generator cost, and how many a second does one core send?
 *
 *     ringmaster-generate-cost flood KIND BYTES SOCKET CPU   over memif to the peer, until it is interrupted
 *     ringmaster-generate-cost count KIND BYTES FRAMES       to no peer, for callgrind
 *
 * KIND is `fixed`, or `varying`: source and destination address and port go through ranges, and every frame has a
 * stamp. BYTES are those of a frame without FCS, as dpdk-testpmd's --txpkts. The generator's port is turned as its role
 * turns it: orders, sending, receiving.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "rounds.h"
#include "traffic/generator.h"
#include "traffic/template_source.h"

enum { BYTES_MIN = 60, FLOWS = 16, SPREAD = 1000 };

struct bench {
    struct rm_generator *generator;
    struct rm_port *port;
    rm_counter counters[RM_GENERATOR_COUNTERS];
    struct rm_histogram jitter, latency;
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

static void open_bench_port(struct bench *bench, char const *socket) {
    struct rm_net_config const net = {.prefix = "ringmaster-generate-cost"};
    struct rm_port_config config = {.name = "out", .kind = socket ? RM_PORT_MEMIF : RM_PORT_NULL, .queues = 1};
    struct rm_error error;
    snprintf(config.socket_path, sizeof config.socket_path, "%s", socket ? socket : "");
    bench_must(rm_net_start(&net, &error), &error);
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
    rm_traffic_sender_take(&port->sender, job, rm_tsc());
    rm_traffic_sender_start(&port->sender, rm_tsc());
}

__attribute__((noinline)) static void send_frames(struct bench *bench) {
    while (!stopped && rm_generator_is_sending(bench->generator, 0))
        rm_generator_turn(bench->generator->port[0], rm_tsc());
}

static char const USAGE[] = "Usage: ringmaster-generate-cost flood fixed|varying BYTES SOCKET CPU\n"
                            "       ringmaster-generate-cost count fixed|varying BYTES FRAMES\n";

int main(int argc, char **argv) {
    enum { FLOOD, COUNT };
    static char const *const commands[] = {[FLOOD] = "flood", [COUNT] = "count", NULL};
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
    rm_options_or_exit(argc - 1, argv + 1, USAGE, options, command == COUNT ? 3 : 4);
    if (command == FLOOD)
        bench_pin((uint32_t)cpu);
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
