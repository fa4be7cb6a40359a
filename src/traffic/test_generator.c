// SPDX-License-Identifier: Apache-2.0
/** The whole generator on ports that receive what they send, its core a thread: counts, flows, full links, descriptions
 * swapped while it sends. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/timebase.h"
#include "traffic/generator.h"
#include "traffic/template_source.h"

enum { LONGEST = 1518, SLOTS = 256 };

struct rig {
    struct rm_generator *generator;
    struct rm_port *port;
    rm_counter counters[RM_GENERATOR_COUNTERS];
    struct rm_histogram jitter, latency;
    pthread_t core;
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
    while (!atomic_load(&rig->stop)) {
        uint32_t packets = 0;
        for (uint32_t i = 0; i < rig->generator->port_count; ++i)
            packets += rm_generator_turn(rig->generator->port[i], rm_tsc());
        if (packets == 0)
            sched_yield();
    }
    rm_net_thread_leave();
    return NULL;
}

/** Makes a generator of one port, which receives what it sends where `receives`. */
static struct rig *begin(enum rm_port_kind kind, bool receives) {
    struct rm_error error;
    struct rig *const rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    struct rm_port_config const config = {
        .name = "loop", .kind = kind, .queues = 1, .ring_slots = kind == RM_PORT_RING ? SLOTS : 0};
    must(rm_port_open(&config, &rig->port, &error), &error);
    must(rm_generator_new(1e9, 12345, &rig->generator, &error), &error);
    must(rm_generator_add_side(rig->generator, &error), &error);
    struct rm_generator_port_plan const plan = {.port = rig->port,
                                                .queue_count = receives ? 1 : 0,
                                                .longest_frame = LONGEST,
                                                .counters = rig->counters,
                                                .jitter = &rig->jitter,
                                                .latency = &rig->latency};
    must(rm_generator_add_port(rig->generator, &plan, &error), &error);
    assert_int_equal(pthread_create(&rig->core, NULL, core_run, rig), 0);
    return rig;
}

static void end(struct rig *rig) {
    atomic_store(&rig->stop, true);
    pthread_join(rig->core, NULL);
    rm_generator_free(rig->generator);
    rm_port_close(rig->port);
    free(rig);
}

static uint64_t counted(struct rig const *rig, enum rm_generator_counter counter) {
    return rm_counter_get(rig->counters, counter);
}

static void wait_until(struct rig const *rig, enum rm_generator_counter counter, uint64_t value) {
    while (counted(rig, counter) < value)
        sched_yield();
}

static struct rm_traffic unpaced(uint64_t count) {
    struct rm_traffic traffic;
    rm_traffic_default(&traffic, 0);
    traffic.pace = RM_TRAFFIC_UNPACED;
    traffic.count = count;
    return traffic;
}

static void describe(struct rig *rig, struct rm_traffic const *traffic) {
    struct rm_error error;
    must(rm_generator_describe(rig->generator, 0, traffic, &error), &error);
}

static void start(struct rig *rig) {
    struct rm_error error;
    must(rm_generator_start(rig->generator, 0, &error), &error);
}

static void all_that_is_sent_comes_back_by_flow(void **state) {
    (void)state;
    enum { FRAMES = 20000, FLOWS = 4 };
    struct rig *const rig = begin(RM_PORT_RING, true);
    struct rm_traffic traffic = unpaced(FRAMES);
    struct rm_flow_reading *const reading = malloc(sizeof *reading);
    assert_non_null(reading);
    traffic.template[0].flow_count = FLOWS;
    traffic.template[0].field[RM_TRAFFIC_SIZE] = (struct rm_traffic_field){RM_TRAFFIC_RANDOM, 64, 64, 1518, 0};
    describe(rig, &traffic);
    start(rig);
    wait_until(rig, RM_GENERATOR_RECEIVED, FRAMES);
    assert_int_equal(counted(rig, RM_GENERATOR_SENT), FRAMES);
    assert_int_equal(counted(rig, RM_GENERATOR_STAMPED), FRAMES);
    assert_int_equal(counted(rig, RM_GENERATOR_SENT_BYTES), counted(rig, RM_GENERATOR_RECEIVED_BYTES));
    for (uint32_t flow = 0; flow < FLOWS; ++flow) {
        assert_true(rm_generator_flow(rig->generator, 0, flow, reading));
        assert_int_equal(reading->stamped, FRAMES / FLOWS);
        assert_int_equal(reading->received, FRAMES / FLOWS);
        assert_int_equal(reading->lost + reading->duplicated + reading->out_of_order, 0);
        assert_int_equal(reading->latency_total, FRAMES / FLOWS);
        assert_true(rm_flow_latency_ticks(reading, 0.5) <= rm_flow_latency_ticks(reading, 1));
    }
    assert_false(rm_generator_flow(rig->generator, 0, FLOWS, reading));
    while (rm_generator_is_sending(rig->generator, 0))
        sched_yield();
    free(reading);
    end(rig);
}

static void flows_go_on_and_are_counted_from_a_clear(void **state) {
    (void)state;
    struct rig *const rig = begin(RM_PORT_RING, true);
    struct rm_traffic traffic = unpaced(1000);
    struct rm_error error;
    struct rm_flow_reading *const reading = malloc(sizeof *reading);
    assert_non_null(reading);
    traffic.template[0].flow_count = 1;
    describe(rig, &traffic);
    start(rig);
    wait_until(rig, RM_GENERATOR_RECEIVED, 1000);
    must(rm_generator_clear(rig->generator, 0, &error), &error);
    traffic.count = 100;
    describe(rig, &traffic);
    start(rig);
    wait_until(rig, RM_GENERATOR_RECEIVED, 1100);
    assert_true(rm_generator_flow(rig->generator, 0, 0, reading));
    assert_int_equal(reading->stamped, 100);
    assert_int_equal(reading->received, 100);
    assert_int_equal(reading->lost + reading->duplicated + reading->out_of_order, 0);
    free(reading);
    end(rig);
}

static void a_full_link_shows_where_late_frames_are_skipped(void **state) {
    (void)state;
    struct rig *const rig = begin(RM_PORT_RING, false);
    struct rm_traffic traffic = unpaced(10 * SLOTS);
    traffic.late = RM_TRAFFIC_SKIP_LATE;
    describe(rig, &traffic);
    start(rig);
    while (rm_generator_is_sending(rig->generator, 0))
        sched_yield();
    uint64_t const sent = counted(rig, RM_GENERATOR_SENT);
    assert_in_range(sent, SLOTS - 1, SLOTS);
    assert_int_equal(counted(rig, RM_GENERATOR_REFUSED), 10 * SLOTS - sent);
    end(rig);
}

static void a_full_link_is_waited_for_where_late_frames_are_sent(void **state) {
    (void)state;
    struct rig *const rig = begin(RM_PORT_RING, false);
    struct rm_traffic const traffic = unpaced(0);
    struct rm_error error;
    describe(rig, &traffic);
    start(rig);
    wait_until(rig, RM_GENERATOR_SENT, SLOTS - 1);
    describe(rig, &traffic); // what the link has not taken is lost with it
    assert_true(rm_generator_is_sending(rig->generator, 0));
    must(rm_generator_stop(rig->generator, 0, &error), &error);
    assert_false(rm_generator_is_sending(rig->generator, 0));
    assert_in_range(counted(rig, RM_GENERATOR_SENT), SLOTS - 1, SLOTS);
    assert_in_range(counted(rig, RM_GENERATOR_REFUSED), 1, 2 * RM_BURST);
    end(rig);
}

/** In times that nobody waits for: the link is full, and opens again long after. */
static void what_waited_too_long_is_not_sent(void **state) {
    (void)state;
    enum { PERIOD_TICKS = 1000, LATE_TICKS = 100000 };
    struct rig *const rig = calloc(1, sizeof *rig);
    struct rm_error error;
    struct rm_port_config const config = {.name = "loop", .kind = RM_PORT_RING, .queues = 1, .ring_slots = SLOTS};
    struct rm_traffic_sender sender;
    struct rm_traffic_job *const job = calloc(1, sizeof *job);
    struct rm_flow_sent sent[RM_TRAFFIC_FLOWS_MAX] = {{0}};
    assert_non_null(rig);
    assert_non_null(job);
    job->traffic = unpaced(0);
    job->traffic.pace = RM_TRAFFIC_PACKETS_PER_S;
    job->traffic.rate = 1e6;
    job->traffic.burst = 1;
    job->traffic.late_max_ns = LATE_TICKS;
    must(rm_port_open(&config, &rig->port, &error), &error);
    must(rm_template_source_new(&job->traffic, 0, sent, 1, &job->source, &error), &error);
    rm_traffic_sender_init(&sender, rig->port, 0, rig->counters, &rig->jitter, 1e9);
    assert_null(rm_traffic_sender_take(&sender, job, 0));
    rm_traffic_sender_start(&sender, 0);
    uint64_t tsc = 0;
    for (; sender.out.count == 0; tsc += PERIOD_TICKS)
        rm_traffic_sender_turn(&sender, tsc);
    assert_int_equal(rm_traffic_sender_turn(&sender, tsc + LATE_TICKS - PERIOD_TICKS), 0);
    assert_int_equal(counted(rig, RM_GENERATOR_REFUSED), 0); // it may still be sent
    while (rm_port_discard(rig->port, 0) != 0) {
        /* the link has room again */
    }
    uint64_t const before = counted(rig, RM_GENERATOR_SENT);
    assert_true(rm_traffic_sender_turn(&sender, tsc + 10 * LATE_TICKS) > 0);
    assert_int_equal(counted(rig, RM_GENERATOR_REFUSED), 1);
    uint64_t const all = (tsc + 10 * LATE_TICKS) / PERIOD_TICKS + 1; // that were due by then
    while (rm_traffic_sender_turn(&sender, tsc + 10 * LATE_TICKS) > 0) {
        /* what is late, and may be sent */
    }
    assert_in_range(counted(rig, RM_GENERATOR_SENT) - before, 1, LATE_TICKS / PERIOD_TICKS + 1);
    assert_int_equal(counted(rig, RM_GENERATOR_SENT) + 1 + counted(rig, RM_GENERATOR_SKIPPED), all);
    rm_traffic_sender_stop(&sender);
    rm_traffic_job_free(rm_traffic_sender_take(&sender, NULL, 0));
    rm_port_close(rig->port);
    free(rig);
}

static void a_paced_port_sends_its_count_and_notes_its_jitter(void **state) {
    (void)state;
    struct rig *const rig = begin(RM_PORT_RING, true);
    struct rm_traffic traffic = unpaced(2000);
    traffic.pace = RM_TRAFFIC_PACKETS_PER_S; // of a clock of 1e9 Hz, whatever the TSC's is
    traffic.rate = 1e5;
    traffic.burst = 1;
    traffic.late_max_ns = 1000000000;
    describe(rig, &traffic);
    start(rig);
    while (rm_generator_is_sending(rig->generator, 0))
        sched_yield();
    assert_int_equal(counted(rig, RM_GENERATOR_SENT) + counted(rig, RM_GENERATOR_SKIPPED), 2000);
    assert_in_range(atomic_load(&rig->jitter.total), 1, 2000);
    end(rig);
}

static void what_is_wrong_is_refused_and_changes_nothing(void **state) {
    (void)state;
    struct rig *const rig = begin(RM_PORT_NULL, true);
    struct rm_traffic traffic = unpaced(10);
    struct rm_error error;
    assert_int_equal(rm_generator_start(rig->generator, 0, &error), RM_E_ARGUMENT);
    assert_int_equal(rm_generator_start(rig->generator, 1, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "there is no port 1; expected 0 to 0"));
    describe(rig, &traffic);
    traffic.template_count = 17;
    assert_int_equal(rm_generator_describe(rig->generator, 0, &traffic, &error), RM_E_ARGUMENT);
    start(rig);
    wait_until(rig, RM_GENERATOR_SENT, 10);
    end(rig);
}

static void a_port_without_ethernet_is_refused(void **state) {
    (void)state;
    struct rm_error error;
    struct rm_generator *generator;
    struct rm_port *port;
    struct rm_port_config const config = {.name = "udp", .kind = RM_PORT_UDP, .queues = 1, .bind_ipv4 = 0x7F000001};
    must(rm_port_open(&config, &port, &error), &error);
    must(rm_generator_new(1e9, 1, &generator, &error), &error);
    must(rm_generator_add_side(generator, &error), &error);
    struct rm_generator_port_plan const plan = {.port = port, .queue_count = 1, .longest_frame = LONGEST};
    assert_int_equal(rm_generator_add_port(generator, &plan, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "port 'udp' carries UDP payloads alone"));
    rm_generator_free(generator);
    rm_port_close(port);
}

static int net_begin(void **state) {
    (void)state;
    struct rm_net_config const config = {.prefix = "test_generator"};
    struct rm_error error;
    return rm_net_start(&config, &error) == RM_OK ? 0 : -1;
}

static int net_end(void **state) {
    (void)state;
    rm_net_stop();
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(what_waited_too_long_is_not_sent),
        cmocka_unit_test(all_that_is_sent_comes_back_by_flow),
        cmocka_unit_test(flows_go_on_and_are_counted_from_a_clear),
        cmocka_unit_test(a_full_link_shows_where_late_frames_are_skipped),
        cmocka_unit_test(a_full_link_is_waited_for_where_late_frames_are_sent),
        cmocka_unit_test(a_paced_port_sends_its_count_and_notes_its_jitter),
        cmocka_unit_test(what_is_wrong_is_refused_and_changes_nothing),
        cmocka_unit_test(a_port_without_ethernet_is_refused),
    };
    return cmocka_run_group_tests(tests, net_begin, net_end);
}
