// SPDX-License-Identifier: Apache-2.0
/** What a port does beside its traffic, on two ports with a link between them and one core: ping, captures, replays,
 * instruments. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/idle.h"
#include "base/timebase.h"
#include "capture/pcap_frames.h"
#include "traffic/generator_beside.h"
#include "wire/native.h"

enum { LONGEST = 1518, PORTS = 2, FRAMES = 500 };

static char const yaml[] = "workspace: traffic\n"
                           "roles: [{role: receive, core: 999, ports: [in]}]\n"
                           "turn_rate_hz: 20000\n"
                           "ports:\n"
                           "  - {name: in, kind: memif, socket: /tmp/none.sock, udp_port: 4700}\n"
                           "instruments:\n"
                           "  - {name: bpm, kind: bpm, port: in, source: 10.20.0.1, id: 1}\n";

struct rig {
    char folder[64];
    char capture[96], yaml[96];
    struct rm_generator *generator;
    struct rm_port *port[PORTS];
    rm_counter counters[PORTS][RM_GENERATOR_COUNTERS];
    struct rm_histogram jitter, latency;
    pthread_t core;
    _Atomic bool stop;
    /** The core stands still while it is set, and has then said so. */
    _Atomic bool stall, stalled;
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
        for (uint32_t i = 0; i < PORTS; ++i)
            packets += rm_generator_turn(rig->generator->port[i], rm_tsc());
        for (; atomic_load(&rig->stall); rm_nap())
            atomic_store(&rig->stalled, true);
        if (packets == 0)
            sched_yield();
    }
    rm_net_thread_leave();
    return NULL;
}

static void add_port(struct rig *rig, uint32_t index) {
    struct rm_error error;
    struct rm_port_config config = {
        .name = "link", .kind = RM_PORT_MEMIF, .queues = 1, .memif_server = index == 0, .longest_frame = LONGEST};
    snprintf(config.socket_path, sizeof config.socket_path, "%s/link", rig->folder);
    must(rm_port_open(&config, &rig->port[index], &error), &error);
    struct rm_generator_port_plan const plan = {.port = rig->port[index],
                                                .queue_count = 1,
                                                .longest_frame = LONGEST,
                                                .counters = rig->counters[index],
                                                .jitter = &rig->jitter,
                                                .latency = &rig->latency};
    must(rm_generator_add_port(rig->generator, &plan, &error), &error);
}

/** 64-byte frames, as fast as it goes, FRAMES of them; each port answers for its address. */
static struct rm_traffic traffic_of(uint32_t port) {
    struct rm_traffic traffic;
    rm_traffic_default(&traffic, port);
    traffic.template[0].field[RM_TRAFFIC_SOURCE_MAC].start = 0x020000000000 + port;
    traffic.pace = RM_TRAFFIC_UNPACED;
    traffic.count = FRAMES;
    traffic.answers = true;
    return traffic;
}

static void describe(struct rig *rig, uint32_t port, struct rm_traffic const *traffic) {
    struct rm_error error;
    must(rm_generator_describe(rig->generator, port, traffic, &error), &error);
}

static int begin(void **state) {
    struct rm_error error;
    struct rig *const rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    *state = rig;
    strcpy(rig->folder, "/tmp/test-beside-XXXXXX");
    assert_non_null(mkdtemp(rig->folder));
    snprintf(rig->capture, sizeof rig->capture, "%s/a.pcap", rig->folder);
    snprintf(rig->yaml, sizeof rig->yaml, "%s/machine.yaml", rig->folder);
    FILE *const file = fopen(rig->yaml, "we");
    fputs(yaml, file);
    fclose(file);
    must(rm_generator_new(rm_tsc_hz_measure(), 12345, &rig->generator, &error), &error);
    must(rm_generator_add_side(rig->generator, &error), &error);
    for (uint32_t i = 0; i < PORTS; ++i)
        add_port(rig, i);
    assert_int_equal(pthread_create(&rig->core, NULL, core_run, rig), 0);
    for (uint32_t i = 0; i < PORTS; ++i) {
        struct rm_traffic const traffic = traffic_of(i);
        describe(rig, i, &traffic);
    }
    return 0;
}

static int end(void **state) {
    struct rig *const rig = *state;
    atomic_store(&rig->stop, true);
    pthread_join(rig->core, NULL);
    rm_generator_free(rig->generator);
    for (uint32_t i = 0; i < PORTS; ++i)
        rm_port_close(rig->port[i]);
    unlink(rig->capture);
    unlink(rig->yaml);
    rmdir(rig->folder);
    free(rig);
    return 0;
}

static uint64_t counted(struct rig const *rig, uint32_t port, enum rm_generator_counter counter) {
    return rm_counter_get(rig->counters[port], counter);
}

/** Until port 1 has received so many. */
static void wait_for(struct rig const *rig, uint64_t received) {
    while (counted(rig, 1, RM_GENERATOR_RECEIVED) < received)
        rm_nap();
}

static void start_and_wait(struct rig *rig) {
    struct rm_error error;
    uint64_t const before = counted(rig, 1, RM_GENERATOR_RECEIVED);
    must(rm_generator_start(rig->generator, 0, &error), &error);
    wait_for(rig, before + FRAMES);
}

static void capture_begin(struct rig *rig, uint32_t port) {
    struct rm_error error;
    must(rm_generator_capture(rig->generator, port, rig->capture, NULL, &error), &error);
}

static struct rm_capture_counts capture_end(struct rig *rig, uint32_t port, struct rm_pcap_frames *frames) {
    struct rm_error error;
    struct rm_capture_counts counts;
    must(rm_generator_capture(rig->generator, port, NULL, &counts, &error), &error);
    must(rm_pcap_frames_load(rig->capture, LONGEST, RM_PCAP_MEMORY_MAX, frames, &error), &error);
    assert_int_equal(counts.written, frames->count);
    return counts;
}

static void ports_ping_each_other(void **state) {
    struct rig *const rig = *state;
    struct rm_arp_ping_request const request = {
        .what = RM_ARP_PING_PING, .count = 3, .interval_ns = 20000000, .content_bytes = 56};
    struct rm_arp_ping_result result = {.state = RM_ARP_PING_IDLE};
    struct rm_error error;
    /* a starved core may take a second to answer: then it is asked again */
    while (result.answered < 3) {
        must(rm_generator_ask(rig->generator, 0, &request, &error), &error);
        do {
            rm_nap();
            rm_generator_asked(rig->generator, 0, &result);
        } while (result.state != RM_ARP_PING_DONE && result.state != RM_ARP_PING_UNRESOLVED &&
                 result.state != RM_ARP_PING_UNSENT);
    }
    assert_int_equal(result.target_ipv4, 0xC0A80101);
    assert_memory_equal(result.target_mac, "\x02\x00\x00\x00\x00\x01", 6);
    assert_true(result.least_us > 0 && result.least_us <= result.mean_us && result.mean_us <= result.most_us);
    assert_true(counted(rig, 1, RM_GENERATOR_ANSWERED) >= 4); /* one ARP request, three pings */
    assert_int_equal(counted(rig, 0, RM_GENERATOR_ANSWERED), 0);
    assert_true(counted(rig, 0, RM_GENERATOR_SENT) >= 4);
    assert_int_equal(counted(rig, 1, RM_GENERATOR_SENT), counted(rig, 1, RM_GENERATOR_ANSWERED));
}

static void a_port_that_answers_nobody_is_silent(void **state) {
    struct rig *const rig = *state;
    struct rm_traffic traffic = traffic_of(1);
    traffic.answers = false;
    describe(rig, 1, &traffic);
    struct rm_error error;
    struct rm_arp_ping_request const request = {.what = RM_ARP_PING_ARP};
    must(rm_generator_ask(rig->generator, 0, &request, &error), &error);
    while (counted(rig, 1, RM_GENERATOR_ARP) < 1)
        rm_nap();
    struct rm_arp_ping_result result;
    rm_generator_asked(rig->generator, 0, &result);
    assert_int_equal(result.state, RM_ARP_PING_RESOLVING);
    assert_int_equal(counted(rig, 1, RM_GENERATOR_ANSWERED), 0);
}

static void both_ends_capture_what_went_through(void **state) {
    struct rig *const rig = *state;
    for (uint32_t port = 0; port < PORTS; ++port) {
        struct rm_pcap_frames frames;
        struct rm_capture_counts now;
        capture_begin(rig, port);
        assert_string_equal(rm_generator_captured(rig->generator, port, &now), rig->capture);
        start_and_wait(rig);
        struct rm_capture_counts const counts = capture_end(rig, port, &frames);
        assert_string_equal(rm_generator_captured(rig->generator, port, &now), "");
        assert_int_equal(counts.written, FRAMES);
        assert_int_equal(counted(rig, port, RM_GENERATOR_CAPTURE_LOST), 0);
        for (uint32_t i = 0; i < frames.count; ++i) {
            assert_int_equal(frames.frame[i].length, RM_TRAFFIC_SIZE_MIN - RM_FCS_BYTES);
            assert_memory_equal(frames.bytes + frames.frame[i].offset, frames.bytes,
                                RM_TRAFFIC_SIZE_MIN - RM_FCS_BYTES);
        }
        rm_pcap_frames_free(&frames);
    }
}

static void what_was_captured_is_replayed(void **state) {
    struct rig *const rig = *state;
    struct rm_pcap_frames first, again;
    struct rm_error error;
    struct rm_traffic traffic = traffic_of(0);
    traffic.template[0].field[RM_TRAFFIC_SIZE] = (struct rm_traffic_field){RM_TRAFFIC_RANDOM, 64, 64, 1000, 0};
    describe(rig, 0, &traffic);
    capture_begin(rig, 1);
    start_and_wait(rig);
    capture_end(rig, 1, &first);
    traffic.count = 0;
    describe(rig, 0, &traffic);
    static double const speeds[] = {0, 1};
    for (uint32_t s = 0; s < 2; ++s) {
        must(rm_generator_replay(rig->generator, 0, rig->capture, speeds[s], 2, &error), &error);
        assert_non_null(strstr(rm_generator_source_words(rig->generator, 0), "500 frames of"));
        uint64_t const before = counted(rig, 1, RM_GENERATOR_RECEIVED), sent = counted(rig, 0, RM_GENERATOR_SENT);
        char other[128];
        snprintf(other, sizeof other, "%s/b.pcap", rig->folder);
        must(rm_generator_capture(rig->generator, 1, other, NULL, &error), &error);
        must(rm_generator_start(rig->generator, 0, &error), &error);
        while (counted(rig, 0, RM_GENERATOR_SENT) + counted(rig, 0, RM_GENERATOR_SKIPPED) < sent + 2 * FRAMES)
            rm_nap();
        wait_for(rig, before + counted(rig, 0, RM_GENERATOR_SENT) - sent);
        while (rm_generator_is_sending(rig->generator, 0))
            rm_nap();
        must(rm_generator_capture(rig->generator, 1, NULL, NULL, &error), &error);
        must(rm_pcap_frames_load(other, LONGEST, RM_PCAP_MEMORY_MAX, &again, &error), &error);
        unlink(other);
        if (s == 0) { /* with gaps, a core that stood still has skipped some */
            assert_int_equal(again.count, 2 * FRAMES);
            for (uint32_t i = 0; i < again.count; ++i) {
                struct rm_pcap_frame const *const one = &first.frame[i % FRAMES];
                assert_int_equal(again.frame[i].length, one->length);
                assert_memory_equal(again.bytes + again.frame[i].offset, first.bytes + one->offset, one->length);
            }
        }
        rm_pcap_frames_free(&again);
    }
    rm_pcap_frames_free(&first);
}

/** A new description goes on with what replaced the one of before, until that is taken back. */
static void a_replay_outlives_a_description(void **state) {
    struct rig *const rig = *state;
    struct rm_error error;
    struct rm_traffic traffic = traffic_of(0);
    capture_begin(rig, 1);
    start_and_wait(rig);
    struct rm_pcap_frames frames;
    capture_end(rig, 1, &frames);
    rm_pcap_frames_free(&frames);
    must(rm_generator_replay(rig->generator, 0, rig->capture, 0, 0, &error), &error);
    traffic.template[0].field[RM_TRAFFIC_SIZE].start = 1000;
    traffic.count = FRAMES / 2;
    for (int i = 0; i < 2; ++i) {
        uint64_t const before = counted(rig, 1, RM_GENERATOR_RECEIVED);
        describe(rig, 0, &traffic);
        must(rm_generator_start(rig->generator, 0, &error), &error);
        wait_for(rig, before + FRAMES / 2);
    }
    assert_int_equal(counted(rig, 1, RM_GENERATOR_SIZE_64), 2 * FRAMES);
    must(rm_generator_restore_source(rig->generator, 0, &error), &error);
    assert_string_equal(rm_generator_source_words(rig->generator, 0), "");
    must(rm_generator_start(rig->generator, 0, &error), &error);
    wait_for(rig, 2 * FRAMES + FRAMES / 2);
    assert_int_equal(counted(rig, 1, RM_GENERATOR_SIZE_1023), FRAMES / 2);
}

static rm_turn turn_in(struct rm_pcap_frames const *frames, uint32_t index) {
    struct rm_datagram datagram;
    struct rm_native native;
    struct rm_pcap_frame const *const frame = &frames->frame[index];
    assert_int_equal(rm_frame_parse(frames->bytes + frame->offset, frame->length, false, &datagram), RM_PORT_DECODED);
    assert_int_equal(rm_native_parse(datagram.payload, datagram.length, &native), RM_PORT_DECODED);
    assert_int_equal(datagram.destination_ipv4, 0xC0A80101);
    return native.turn;
}

/** In both ways of being late, after a core that stood still: what is missing was counted, and turns only grow. */
static void instruments_go_on_rightly_after_a_stall(void **state) {
    struct rig *const rig = *state;
    struct rm_error error;
    for (int late = RM_TRAFFIC_SEND_LATE; late <= RM_TRAFFIC_SKIP_LATE; ++late) {
        struct rm_traffic traffic = traffic_of(0);
        struct rm_pcap_frames frames;
        uint64_t const lost = counted(rig, 0, RM_GENERATOR_SKIPPED) + counted(rig, 0, RM_GENERATOR_REFUSED);
        traffic.count = 0;
        traffic.late = (enum rm_traffic_late)late;
        traffic.late_max_ns = 5000000;
        describe(rig, 0, &traffic);
        must(rm_generator_send_instruments(rig->generator, 0, rig->yaml, "*", 7, &error), &error);
        capture_begin(rig, 0);
        start_and_wait(rig);
        atomic_store(&rig->stalled, false);
        atomic_store(&rig->stall, true);
        while (!atomic_load(&rig->stalled))
            rm_nap();
        usleep(50000); /* a thousand turns; more do no harm */
        atomic_store(&rig->stall, false);
        wait_for(rig, counted(rig, 1, RM_GENERATOR_RECEIVED) + FRAMES);
        must(rm_generator_stop(rig->generator, 0, &error), &error);
        capture_end(rig, 0, &frames);
        uint64_t missing = 0;
        rm_turn next = 7; /* the first may be missing, too, on a host that takes the core away */
        for (uint32_t i = 0; i < frames.count; ++i) {
            rm_turn const turn = turn_in(&frames, i);
            assert_true(turn >= next);
            missing += turn - next;
            next = turn + 1;
        }
        assert_true(missing > 0);
        assert_int_equal(lost + missing, counted(rig, 0, RM_GENERATOR_SKIPPED) + counted(rig, 0, RM_GENERATOR_REFUSED));
        rm_pcap_frames_free(&frames);
    }
}

static void what_cannot_be_done_is_refused(void **state) {
    struct rig *const rig = *state;
    struct rm_error error;
    assert_int_equal(rm_generator_capture(rig->generator, 2, rig->capture, NULL, &error), RM_E_ARGUMENT);
    assert_int_equal(rm_generator_capture(rig->generator, 0, "/nonexistent/a", NULL, &error), RM_E_SYSTEM);
    assert_int_equal(rm_generator_replay(rig->generator, 0, "/nonexistent/a", 1, 1, &error), RM_E_SYSTEM);
    assert_int_equal(rm_generator_send_instruments(rig->generator, 0, rig->yaml, "quad", 0, &error), RM_E_CONFIG);
    capture_begin(rig, 0);
    assert_int_equal(rm_generator_capture(rig->generator, 1, rig->capture, NULL, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "expected a file of its own"));
    capture_begin(rig, 0); /* its own again */
    start_and_wait(rig);   /* the description is still what is sent */
}

static int start_net(void **state) {
    (void)state;
    struct rm_net_config const net = {.prefix = "test_generator_beside"};
    struct rm_error error;
    must(rm_net_start(&net, &error), &error);
    return 0;
}

static int stop_net(void **state) {
    (void)state;
    rm_net_stop();
    return 0;
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(ports_ping_each_other, begin, end),
        cmocka_unit_test_setup_teardown(a_port_that_answers_nobody_is_silent, begin, end),
        cmocka_unit_test_setup_teardown(both_ends_capture_what_went_through, begin, end),
        cmocka_unit_test_setup_teardown(what_was_captured_is_replayed, begin, end),
        cmocka_unit_test_setup_teardown(a_replay_outlives_a_description, begin, end),
        cmocka_unit_test_setup_teardown(instruments_go_on_rightly_after_a_stall, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_done_is_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, start_net, stop_net);
}
