// SPDX-License-Identifier: Apache-2.0
/** How long from a vector's commit to its first datagram? An application on one core, the server's transmit role on
 * another.
 *
 *     ringmaster-setpoint-latency WORKSPACE APPLICATION SOCKET CPU SECONDS
 *
 * It is the leading APPLICATION of a running server, and at the same time the far end of the memif link that the server
 * sends on: SOCKET, which it makes. In every period it commits a vector, when the turn clock stands at the cycle's
 * turn, and then looks at the link until the first datagram is there. A quarter of a period later the server would send
 * by itself, so what takes longer than an eighth is not counted among the vectors that led.
 *
 * Prints a JSON object, nanoseconds: "arrival" is from just before the commit to the first datagram in this process's
 * hands, two ways between the cores. The way there alone, to the datagram handed to the port, is in the server's
 * histogram latency/setpoint.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ringmaster/clock.h>
#include <ringmaster/grant.h>
#include <ringmaster/owner.h>
#include <ringmaster/segment.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/workspace.h>

#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "net/port.h"
#include "rounds.h"

enum { VECTORS_MAX = 1 << 20, TRIES = 10000, NAP_US = 1000, SETTLE_VECTORS = 100 };

static double const STEP = 0.01;

/** A host that takes the cores away may let no vector lead for a while: so much longer than asked for is tried. */
static double const FIRST_SECONDS = 10;

struct bench {
    char const *name;
    struct rm_owner *owner;
    struct rm_setpoints *setpoints;
    struct rm_clock const *clock;
    struct rm_grant const *grant;
    struct rm_port *port;
    uint64_t grant_number, vector;
    double ns[VECTORS_MAX];
    size_t led;
    uint64_t late;
};

static void const *find_bench_object(struct rm_workspace *workspace, enum rm_object_kind kind, char const *name) {
    struct rm_object const *object;
    void const *memory;
    struct rm_error error;
    bench_must(rm_workspace_find(workspace, kind, name, &object, &memory, &error), &error);
    return memory;
}

static struct rm_workspace *attach_workspace(char const *name) {
    struct rm_error error = {0};
    struct rm_workspace *workspace;
    for (int tries = 0; tries < TRIES; ++tries, usleep(NAP_US)) {
        if (rm_workspace_attach(name, 0, &workspace, &error) == RM_OK)
            return workspace;
    }
    bench_fail(error.text);
}

static void open_segment(struct bench *bench, char const *workspace) {
    char name[64];
    struct rm_error error;
    snprintf(name, sizeof name, "setpoints/%s", bench->name);
    bench_must(rm_owner_new(workspace, bench->name, &bench->owner, &error), &error);
    rm_owner_index const vectors = rm_owner_setpoints(bench->owner, name, "", bench->grant->actuator_count);
    bench_must(rm_owner_open(bench->owner, &error), &error);
    bench->setpoints = rm_owner_memory(bench->owner, vectors);
}

static uint64_t load_relaxed(_Atomic uint64_t const *word) { return atomic_load_explicit(word, memory_order_relaxed); }

/** The grant number that is granted to this process; waits for it. */
static uint64_t granted_number(struct bench const *bench) {
    struct rm_grant const *const grant = bench->grant;
    uint64_t const instance = rm_owner_header(bench->owner)->generation;
    for (int tries = 0; tries < TRIES; ++tries, usleep(NAP_US)) {
        uint64_t const seen = atomic_load_explicit(&grant->sequence, memory_order_acquire);
        uint64_t const grant_number = load_relaxed(&grant->grant_number);
        bool const mine = load_relaxed(&grant->instance) == instance && load_relaxed(&grant->pid) == (uint64_t)getpid();
        atomic_thread_fence(memory_order_acquire);
        if (seen % 2 == 0 && load_relaxed(&grant->sequence) == seen && mine && grant_number != 0)
            return grant_number;
    }
    bench_fail("the server grants nothing");
}

static void open_bench_port(struct bench *bench, char const *socket) {
    struct rm_net_config const net = {.prefix = "ringmaster-setpoint-latency"};
    struct rm_port_config config = {.name = "in", .kind = RM_PORT_MEMIF, .queues = 2, .memif_server = true};
    struct rm_error error;
    snprintf(config.socket_path, sizeof config.socket_path, "%s", socket);
    bench_must(rm_net_start(&net, &error) != RM_OK || rm_port_open(&config, &bench->port, &error), &error);
}

static struct rm_clock_reading clock_now(struct bench const *bench) {
    struct rm_clock_reading reading = {0};
    for (int tries = 0; tries < TRIES && !reading.anchored; ++tries) {
        if (!rm_clock_read(bench->clock, &reading) || !reading.anchored)
            usleep(NAP_US);
    }
    if (!reading.anchored)
        bench_fail("the server has no turn clock");
    return reading;
}

/** Waits for the next cycle's turn, and empties the link meanwhile. */
static rm_turn wait_for_turn(struct bench *bench, struct rm_clock_reading const *clock, uint64_t *begin) {
    uint64_t const period = bench->grant->period_turns;
    rm_turn const turn = (rm_clock_turn(clock, rm_tsc()) / period + 1) * period;
    *begin = rm_clock_tsc(clock, turn);
    while (rm_tsc() < *begin)
        (void)rm_port_discard(bench->port, 0);
    return turn;
}

/** One vector; ticks from its commit to its datagram, 0 when that came by itself. */
static uint64_t vector_lead_ticks(struct bench *bench) {
    struct rm_clock_reading const clock = clock_now(bench);
    uint64_t begin;
    rm_turn const turn = wait_for_turn(bench, &clock, &begin);
    uint64_t const limit = (uint64_t)(clock.ticks_per_turn * (double)bench->grant->period_turns / 8);
    double const value = bench->vector++ % 2 == 0 ? STEP : 0;
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(bench->setpoints);
    for (size_t i = 0; i < bench->setpoints->actuator_count; ++i)
        rm_setpoints_put(vector, i, value);
    uint64_t const commit = rm_tsc();
    rm_setpoints_commit(vector, bench->grant_number, turn, commit);
    uint64_t now = commit;
    while (rm_port_discard(bench->port, 0) == 0 && now - begin < limit)
        now = rm_tsc();
    now = rm_tsc();
    return now - begin < limit ? now - commit : 0;
}

static void setpoint_latency_print(struct bench *bench) {
    size_t const count = bench->led;
    if (count == 0)
        bench_fail("no vector has led: does the server send at once for this application?");
    printf("{\"vectors\": %llu, \"led\": %zu, \"late\": %llu, ", (unsigned long long)bench->vector, count,
           (unsigned long long)bench->late);
    bench_figure_json("arrival", bench->ns, count, "}\n");
}

int main(int argc, char **argv) {
    static struct bench bench;
    char const *where = NULL, *socket = NULL;
    uint64_t cpu = 0;
    double seconds = 0;
    struct rm_option options[] = {
        {"WORKSPACE", &where, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"APPLICATION", &bench.name, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"SOCKET", &socket, .kind = RM_OPTION_TEXT, .place = RM_WORD},
        {"CPU", &cpu, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_WORD},
        {"SECONDS", &seconds, 1e-3, 1e6, .kind = RM_OPTION_NUMBER, .place = RM_WORD},
    };
    rm_options_or_exit(argc, argv, "Usage: ringmaster-setpoint-latency WORKSPACE APPLICATION SOCKET CPU SECONDS\n",
                       options, sizeof options / sizeof *options);
    char name[64];
    open_bench_port(&bench, socket);
    struct rm_workspace *const workspace = attach_workspace(where);
    snprintf(name, sizeof name, "grant/%s", bench.name);
    bench.grant = find_bench_object(workspace, RM_OBJECT_GRANT, name);
    bench.clock = find_bench_object(workspace, RM_OBJECT_CLOCK, "clock");
    open_segment(&bench, where);
    bench_pin((uint32_t)cpu);
    bench.grant_number = granted_number(&bench);
    double const tsc_hz = rm_tsc_hz_measure();
    for (int i = 0; i < SETTLE_VECTORS; ++i)
        (void)vector_lead_ticks(&bench);
    bench.vector = 0;
    uint64_t const begin = rm_tsc();
    while (bench.led < VECTORS_MAX) {
        double const passed = (double)(rm_tsc() - begin) / tsc_hz;
        if (passed >= (bench.led != 0 ? seconds : seconds + FIRST_SECONDS))
            break;
        uint64_t const ticks = vector_lead_ticks(&bench);
        if (ticks != 0)
            bench.ns[bench.led++] = (double)ticks / tsc_hz * 1e9;
        else
            ++bench.late;
    }
    setpoint_latency_print(&bench);
    rm_owner_close(bench.owner);
    rm_port_close(bench.port);
    rm_net_stop();
    return 0;
}
