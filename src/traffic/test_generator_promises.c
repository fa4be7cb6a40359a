// SPDX-License-Identifier: Apache-2.0
/** What is promised of a core that generates: it calls no system, allocates nothing and touches no page for the first
 * time, while it is started, stopped, described anew, receives what it sends, captures and answers. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/timebase.h"
#include "traffic/generator_beside.h"

/* Last: a header of the compiler declares one of the functions that it defines. */
#include "base/test_promises.h"

enum { LONGEST = 1518, FRAMES = 20000, ROUNDS = 4 };

struct rig {
    struct rm_generator *generator;
    struct rm_port *port;
    rm_counter counters[RM_GENERATOR_COUNTERS];
    struct rm_histogram jitter, latency;
    _Atomic bool stop;
};

static void must(enum rm_code code, struct rm_error const *error) {
    if (code != RM_OK)
        fail_msg("%s", error->text);
}

static void *core_run(void *argument) {
    struct rig *const rig = argument;
    struct rm_error error;
    if (rm_net_thread_join(&error) != RM_OK)
        return NULL;
    promises_begin();
    while (!atomic_load(&rig->stop)) {
        promises_look();
        rm_generator_turn(rig->generator->port[0], rm_tsc());
    }
    promises_look();
    return NULL;
}

static void make_rig(struct rig *rig) {
    struct rm_error error;
    struct rm_net_config const net = {.prefix = "test_generator_promises"};
    struct rm_port_config const config = {.name = "loop", .kind = RM_PORT_RING, .queues = 1, .ring_slots = 256};
    must(rm_net_start(&net, &error), &error);
    must(rm_port_open(&config, &rig->port, &error), &error);
    must(rm_generator_new(1e9, 1, &rig->generator, &error), &error);
    must(rm_generator_add_side(rig->generator, &error), &error);
    struct rm_generator_port_plan const plan = {.port = rig->port,
                                                .queue_count = 1,
                                                .longest_frame = LONGEST,
                                                .counters = rig->counters,
                                                .jitter = &rig->jitter,
                                                .latency = &rig->latency};
    must(rm_generator_add_port(rig->generator, &plan, &error), &error);
}

/** All that a port may be told: stamped frames that vary, paced ones of a mix, a sequence. */
static void run_round(struct rig *rig, struct rm_traffic *traffic, uint32_t round) {
    struct rm_error error;
    uint64_t const received = rm_counter_get(rig->counters, RM_GENERATOR_RECEIVED);
    rm_traffic_default(traffic, 0);
    traffic->pace = round % 2 == 0 ? RM_TRAFFIC_UNPACED : RM_TRAFFIC_PERCENT;
    traffic->late_max_ns = 1000000000;
    traffic->template_count = 2;
    traffic->template[0].flow_count = RM_TRAFFIC_FLOWS_MAX;
    traffic->template[0].field[RM_TRAFFIC_SIZE] = (struct rm_traffic_field){RM_TRAFFIC_RANDOM, 64, 64, LONGEST, 0};
    traffic->template[1] = traffic->template[0];
    traffic->template[1].flow_count = 0;
    traffic->template[1].mix_count = 2;
    traffic->template[1].mix[0] = (struct rm_traffic_mix){64, 3};
    traffic->template[1].mix[1] = (struct rm_traffic_mix){LONGEST, 1};
    must(rm_generator_describe(rig->generator, 0, traffic, &error), &error);
    must(rm_generator_start(rig->generator, 0, &error), &error);
    while (rm_counter_get(rig->counters, RM_GENERATOR_RECEIVED) < received + FRAMES)
        sched_yield();
    must(rm_generator_stop(rig->generator, 0, &error), &error);
}

static void run_until_received(struct rig *rig, uint64_t more) {
    struct rm_error error;
    uint64_t const received = rm_counter_get(rig->counters, RM_GENERATOR_RECEIVED);
    must(rm_generator_start(rig->generator, 0, &error), &error);
    while (rm_counter_get(rig->counters, RM_GENERATOR_RECEIVED) < received + more)
        sched_yield();
    must(rm_generator_stop(rig->generator, 0, &error), &error);
}

/** What a port does beside that: it captures, answers and asks, replays what it has captured, and sends instruments. */
static void run_beside(struct rig *rig, struct rm_traffic *traffic) {
    static char const yaml[] = "workspace: traffic\n"
                               "roles: [{role: receive, core: 999, ports: [in]}]\n"
                               "turn_rate_hz: 100000\n"
                               "ports: [{name: in, kind: memif, socket: /tmp/none.sock}]\n"
                               "instruments: [{name: bpm, kind: bpm, port: in, source: 10.20.0.1, id: 1, count: 9}]\n";
    struct rm_arp_ping_request const request = {.what = RM_ARP_PING_ARP};
    char capture[] = "/tmp/test-promises-XXXXXX", machine[] = "/tmp/test-promises-XXXXXX";
    struct rm_error error;
    int const files[] = {mkstemp(capture), mkstemp(machine)};
    assert_true(files[0] >= 0 && write(files[1], yaml, sizeof yaml - 1) == sizeof yaml - 1);
    traffic->answers = true;
    must(rm_generator_describe(rig->generator, 0, traffic, &error), &error);
    must(rm_generator_capture(rig->generator, 0, capture, NULL, &error), &error);
    rm_generator_ask(rig->generator, 0, &request, &error); /* or the one of before still waits */
    run_until_received(rig, FRAMES);
    must(rm_generator_capture(rig->generator, 0, NULL, NULL, &error), &error);
    must(rm_generator_replay(rig->generator, 0, capture, 100, 0, &error), &error);
    run_until_received(rig, FRAMES / 10);
    must(rm_generator_send_instruments(rig->generator, 0, machine, "*", 0, &error), &error);
    run_until_received(rig, FRAMES / 10);
    must(rm_generator_restore_source(rig->generator, 0, &error), &error);
    for (uint32_t i = 0; i < 2; ++i)
        close(files[i]);
    unlink(capture);
    unlink(machine);
}

static void a_core_keeps_its_promises(void **state) {
    (void)state;
    static struct rig rig;
    static struct rm_traffic traffic;
    pthread_t core;
    make_rig(&rig);
    promises_listen();
    assert_int_equal(pthread_create(&core, NULL, core_run, &rig), 0);
    for (uint32_t round = 0; round < ROUNDS; ++round)
        run_round(&rig, &traffic, round);
    run_beside(&rig, &traffic);
    promises_warm();
    for (uint32_t round = 0; round < ROUNDS; ++round)
        run_round(&rig, &traffic, round);
    run_beside(&rig, &traffic);
    promises_end();
    atomic_store(&rig.stop, true);
    pthread_join(core, NULL);
    promises_expect_kept("the core that generates");
    rm_generator_free(rig.generator);
    rm_port_close(rig.port);
    rm_net_stop();
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(a_core_keeps_its_promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
