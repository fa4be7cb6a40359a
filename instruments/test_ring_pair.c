// SPDX-License-Identifier: Apache-2.0
/** The ring of a pair of servers: what its files say, and that each server gets everything, whatever the other does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/counters.h>

#include "chain_port.h"
#include "test_files.h"
#include "test_ring.h"
#include "wire/setpoint.h"

enum { TURNS = 5000, SUPPLIES = 3, TERM = 3, INSTANCE = 77 };

static double const TSC_HZ = 1e9, FOR_EVER_S = 1e6;

#define WORKSPACE "workspace: \"ring-{server}\"\n"
#define PORTS                                                                                                          \
    "ports: [{name: ring, kind: memif, socket: \"/tmp/pair-{server}.sock\", answer: \"10.20.255.{number}\"}]\n"
#define BPM "instruments: [{name: bpm, kind: bpm, id: 1, count: 3, port: ring, source: 10.20.3.1}]\n"
#define CHAINS                                                                                                         \
    "setpoints: {period_turns: 10}\n"                                                                                  \
    "chains: [{name: c, id: 1, port: ring, address: 10.30.0.1, timeout_us: 300, supplies: [{name: s, count: 3, unit: " \
    "A, "                                                                                                              \
    "limits: [-1, 1], slew: 1}]}]\n"
#define STANDBY                                                                                                        \
    "standby: {key: k, servers: [{name: a, links: [\"127.0.0.1:1\"]}, {name: b, links: [\"127.0.0.1:2\"]}]}\n"
#define WITH(ports, instruments) WORKSPACE ports instruments CHAINS STANDBY
#define PAIR WITH(PORTS, BPM)

static void the_ring_is_the_other_end_of_both_servers(void **state) {
    (void)state;
    struct rm_ring_config ring;
    test_files_load_good(PAIR, "", &ring);
    assert_int_equal(ring.port_count, 1);
    assert_int_equal(ring.instrument_count, 3);
    assert_int_equal(ring.supplies.chain_count, 1);
    assert_true(ring.ports[0].paired);
    assert_string_equal(ring.ports[0].port.socket_path, "/tmp/pair-a.sock");
    assert_string_equal(ring.ports[0].second.socket_path, "/tmp/pair-b.sock");
    assert_false(ring.ports[0].second.memif_server);
    assert_string_equal(ring.workspace, "ring-a");
    assert_true(ring.supplies.chains[0].config.timeout_s == 300e-6);
    rm_ring_config_free(&ring);
}

static void an_overlay_knows_the_servers_too(void **state) {
    (void)state;
    struct rm_ring_config ring;
    test_files_load_good(
        WITH("ports: [{name: ring, kind: af_packet, interface: \"rx-{server}\", answer: 10.20.255.1}]\n", BPM),
        "ports: [{name: ring, interface: \"tx-{server}\"}]\nchains: [{name: all, timeout_ms: 2}]\n", &ring);
    assert_string_equal(ring.ports[0].port.interface, "tx-a");
    assert_string_equal(ring.ports[0].second.interface, "tx-b");
    assert_true(ring.supplies.chains[0].config.timeout_s == 2e-3);
    rm_ring_config_free(&ring);
    test_files_load_good(
        WITH("ports: [{name: ring, kind: af_packet, interface: \"rx-{server}\", answer: 10.20.255.1}]\n", BPM),
        "ports: [{name: ring, kind: udp, peer: \"127.0.0.1:500{number}\"}]\n", &ring);
    assert_int_equal(ring.ports[0].port.peer_port, 5001);
    assert_int_equal(ring.ports[0].second.peer_port, 5002);
    rm_ring_config_free(&ring);
}

static void what_both_servers_would_share_or_differ_in_is_refused(void **state) {
    (void)state;
    test_files_expect(WITH("ports: [{name: ring, kind: memif, socket: /tmp/pair.sock, answer: 10.20.255.1}]\n", BPM),
                      "", "port \"ring\" is the same for both servers, expected {server} or {number} in its socket");
    test_files_expect(
        WITH("ports: [{name: ring, kind: af_packet, interface: \"rx-{server}\", answer: 10.20.255.1}]\n", BPM),
        "ports: [{name: ring, interface: tx}]\n", "port \"ring\" is the same for both servers");
    test_files_expect(
        WITH(PORTS, "instruments: [{name: bpm, kind: bpm, id: \"{number}\", port: ring, source: 10.20.3.1}]\n"), "",
        "instrument \"bpm\" is another one for server b");
    test_files_expect(
        WITH(PORTS,
             "instruments: [{name: bpm, kind: bpm, id: 1, count: \"{number}\", port: ring, source: 10.20.3.1}]\n"),
        "", "server b has other instruments or chains");
    test_files_expect(
        WITH("ports: [{name: ring, kind: memif, socket: \"/tmp/pair-{server}.sock\", answer: 10.20.255.1, vlan: "
             "\"{number}\"}]\n",
             BPM),
        "", "VLAN and UDP port of server b differ");
}

static void check_same(struct test_ring const *bench) {
    assert_int_equal(bench->port[0].count, bench->port[1].count);
    for (uint32_t i = 0; i < bench->port[0].count; ++i) {
        assert_int_equal(bench->port[0].length[i], bench->port[1].length[i]);
        assert_memory_equal(bench->port[0].data[i], bench->port[1].data[i], bench->port[0].length[i]);
    }
}

static uint64_t sent(struct test_ring const *bench) {
    uint64_t total = 0;
    for (uint32_t g = 0; g < bench->ring.group_count; ++g)
        total += test_ring_counted(bench, g, RM_SENDER_SENT);
    return total;
}

static void both_servers_get_the_same(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(PAIR, "");
    test_ring_run(bench, TURNS);
    assert_int_equal(bench->port[0].count, 3 * TURNS);
    check_same(bench);
    assert_int_equal(sent(bench), 3 * TURNS);
    assert_int_equal(bench->result.missed[0] + bench->result.missed[1], 0);
    test_ring_destroy(bench);
}

static void what_befalls_an_instrument_befalls_both_copies(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(PAIR, "faults: [{instrument: all, fault: drop, probability: 0.5}]\n");
    test_ring_run(bench, TURNS);
    assert_in_range(bench->port[0].count, TURNS, 2 * TURNS);
    check_same(bench);
    test_ring_destroy(bench);
}

static void one_that_takes_little_at_once_is_waited_for(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(PAIR, "");
    bench->port[0].most = 7;
    bench->port[1].most = 5;
    bench->port[1].refusals = 2;
    test_ring_run(bench, TURNS);
    assert_int_equal(bench->port[0].count, 3 * TURNS);
    check_same(bench);
    assert_int_equal(sent(bench), 3 * TURNS);
    test_ring_destroy(bench);
}

static void either_gets_everything_when_the_other_has_gone(void **state) {
    (void)state;
    for (uint32_t gone = 0; gone < RM_CONFIG_SERVERS; ++gone) {
        struct test_ring *bench = test_ring_make(PAIR, "");
        bench->port[gone].down_after = 100;
        bench->port[gone].down_looks = UINT32_MAX;
        test_ring_run(bench, TURNS);
        assert_int_equal(bench->port[1 - gone].count, 3 * TURNS);
        assert_in_range(bench->port[gone].count, 100, 100 + RM_BURST);
        assert_int_equal(sent(bench), 3 * TURNS);
        assert_int_equal(bench->result.missed[gone], 3 * TURNS - bench->port[gone].count);
        assert_int_equal(bench->result.missed[1 - gone], 0);
        assert_int_equal(bench->result.link_down_turns, 0);
        test_ring_destroy(bench);
    }
}

static void a_ring_begins_with_one_of_two(void **state) {
    (void)state;
    struct test_ring *bench = test_ring_make(PAIR, "");
    bench->port[0].down_after = 1;
    bench->port[0].count = 1; /* down from the beginning */
    bench->port[0].down_looks = UINT32_MAX;
    test_ring_run(bench, TURNS);
    assert_int_equal(bench->port[1].count, 3 * TURNS);
    test_ring_destroy(bench);
}

/* ── the pair alone ── */

static struct test_port *make_ports(struct rm_pair *pair, double timeout_s) {
    struct test_port *ports = calloc(RM_CONFIG_SERVERS, sizeof *ports);
    assert_non_null(ports);
    struct rm_port *const open[RM_CONFIG_SERVERS] = {test_port_open(&ports[0]), test_port_open(&ports[1])};
    assert_int_equal(rm_pair_make(open, timeout_s, TSC_HZ, pair, NULL), RM_OK);
    return ports;
}

static void free_ports(struct rm_pair *pair, struct test_port *ports) {
    rm_pair_free(pair);
    free(ports);
}

/** Fills a burst of `count` frames that have their number in them. */
static void fill(struct rm_pair *pair, struct rm_burst *burst, uint32_t count, uint8_t first) {
    assert_int_equal(rm_pair_reserve(pair, burst, count), count);
    for (uint32_t i = 0; i < count; ++i) {
        memset(burst->data[i], first + (int)i, 64);
        burst->length[i] = 64;
    }
}

static void one_that_hangs_misses_what_the_other_has(void **state) {
    (void)state;
    struct rm_pair pair;
    struct rm_burst burst;
    struct test_port *ports = make_ports(&pair, 0);
    ports[0].refusals = UINT32_MAX;
    fill(&pair, &burst, 10, 0);
    assert_int_equal(rm_pair_send(&pair, &burst), 10);
    assert_int_equal(burst.count, 0);
    assert_int_equal(pair.missed[0], 10);
    ports[0].refusals = 0; /* it goes on */
    fill(&pair, &burst, 10, 10);
    assert_int_equal(rm_pair_send(&pair, &burst), 10);
    assert_int_equal(ports[0].count, 10);
    assert_int_equal(ports[0].data[0][0], 10);
    assert_int_equal(ports[1].count, 20);
    assert_int_equal(pair.missed[0], 10);
    free_ports(&pair, ports);
}

static void one_that_took_something_is_waited_for(void **state) {
    (void)state;
    struct rm_pair pair;
    struct rm_burst burst;
    struct test_port *ports = make_ports(&pair, FOR_EVER_S);
    ports[1].refusals = 3;
    fill(&pair, &burst, 10, 0);
    for (uint32_t refused = 0; refused < 3; ++refused)
        assert_int_equal(rm_pair_send(&pair, &burst), 0);
    assert_int_equal(rm_pair_send(&pair, &burst), 10);
    assert_int_equal(ports[0].count, 10); /* the first one has each once */
    assert_int_equal(ports[1].count, 10);
    assert_int_equal(pair.missed[0] + pair.missed[1], 0);
    free_ports(&pair, ports);
}

static void what_neither_takes_stays(void **state) {
    (void)state;
    struct rm_pair pair;
    struct rm_burst burst;
    struct test_port *ports = make_ports(&pair, 0);
    ports[0].most = 4;
    ports[1].refusals = UINT32_MAX;
    fill(&pair, &burst, 10, 0);
    assert_int_equal(rm_pair_send(&pair, &burst), 4);
    assert_int_equal(burst.count, 6);
    assert_int_equal(burst.data[0][0], 4);
    ports[0].refusals = UINT32_MAX;
    assert_int_equal(rm_pair_send(&pair, &burst), 0);
    assert_int_equal(burst.count, 6);
    rm_pair_release(&pair, &burst);
    assert_int_equal(burst.count, 0);
    free_ports(&pair, ports);
}

/* ── chains ── */

/** A port that has one frame to be received. */
struct asking_port {
    struct test_port test;
    uint8_t frame[512];
    uint32_t length;
};

static uint32_t receive_frame(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    struct asking_port *self = (struct asking_port *)port;
    (void)queue;
    burst->count = self->length != 0;
    burst->data[0] = self->frame;
    burst->length[0] = self->length;
    burst->checksum_good[0] = false;
    self->length = 0;
    return burst->count;
}

static void give_back(struct rm_port *port, uint16_t queue, struct rm_burst *burst) {
    (void)port;
    (void)queue;
    (void)burst;
}

static struct rm_port *asking_port_open(struct asking_port *self) {
    struct rm_port *port = test_port_open(&self->test);
    self->test.ops.receive = receive_frame;
    self->test.ops.release = give_back;
    return port;
}

/** A query of one server, whose address is 10.20.255.1 or .2. */
static void ask(struct asking_port *port, uint32_t server) {
    float const values[SUPPLIES] = {0};
    struct rm_flow const flow = {
        .source_mac = {2, 0, 0, 0, 0, (uint8_t)(1 + server)},
        .source_ipv4 = 0x0A14FF01 + server,
        .destination_ipv4 = 0x0A1E0001,
        .source_port = 4662,
        .destination_port = 4662,
    };
    uint8_t payload[RM_SETPOINT_LONGEST];
    uint32_t const length = rm_setpoint_write(payload, RM_SETPOINT_QUERY, 1, 777, TERM, INSTANCE, 5, values, SUPPLIES);
    uint32_t const header = rm_frame_write_header(port->frame, &flow, length);
    memcpy(port->frame + header, payload, length);
    port->length = header + length;
}

/** Both servers hear what a chain answers to either. */
static void each_server_is_heard_and_both_are_answered(void **state) {
    (void)state;
    struct rm_ring_config ring;
    test_files_load_good(PAIR, "", &ring);
    rm_counter counters[RM_SUPPLY_COUNTERS] = {0};
    rm_counter *const blocks[] = {counters};
    struct rm_chains chains;
    struct rm_pair pair;
    struct rm_chain_port chain_port;
    struct asking_port *ports = calloc(RM_CONFIG_SERVERS, sizeof *ports);
    assert_non_null(ports);
    assert_int_equal(rm_chains_make(&ring.supplies, 1, blocks, 0, TSC_HZ, &chains, NULL), RM_OK);
    struct rm_port *const open[RM_CONFIG_SERVERS] = {asking_port_open(&ports[0]), asking_port_open(&ports[1])};
    assert_int_equal(rm_pair_make(open, 0, TSC_HZ, &pair, NULL), RM_OK);
    assert_int_equal(rm_chain_port_make(open[0], &pair, 0, &chains, &chain_port, NULL), RM_OK);
    for (uint32_t server = 0; server < RM_CONFIG_SERVERS; ++server) {
        ask(&ports[server], server);
        assert_int_equal(rm_chain_port_poll(&chain_port, 1), 1);
        for (uint32_t s = 0; s < RM_CONFIG_SERVERS; ++s) {
            struct rm_datagram datagram;
            assert_int_equal(ports[s].test.count, 1 + server);
            assert_int_equal(rm_frame_parse(ports[s].test.data[server], ports[s].test.length[server], false, &datagram),
                             RM_PORT_DECODED);
            assert_int_equal(datagram.source_ipv4, 0x0A1E0001);
            assert_int_equal(datagram.destination_ipv4, 0x0A14FF01 + server);
        }
    }
    assert_int_equal(rm_counter_get(counters, RM_SUPPLY_QUERIES), 2);
    assert_int_equal(rm_counter_get(counters, RM_SUPPLY_ANSWERS), 2);
    /* Both at once, while one takes nothing. */
    ports[0].test.refusals = UINT32_MAX;
    ask(&ports[0], 0);
    ask(&ports[1], 1);
    assert_int_equal(rm_chain_port_poll(&chain_port, 2), 2);
    assert_int_equal(ports[0].test.count, 2);
    assert_int_equal(ports[1].test.count, 4);
    rm_chain_port_free(&chain_port);
    rm_pair_free(&pair);
    rm_chains_free(&chains);
    rm_ring_config_free(&ring);
    free(ports);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(the_ring_is_the_other_end_of_both_servers),
        cmocka_unit_test(an_overlay_knows_the_servers_too),
        cmocka_unit_test(what_both_servers_would_share_or_differ_in_is_refused),
        cmocka_unit_test(both_servers_get_the_same),
        cmocka_unit_test(what_befalls_an_instrument_befalls_both_copies),
        cmocka_unit_test(one_that_takes_little_at_once_is_waited_for),
        cmocka_unit_test(either_gets_everything_when_the_other_has_gone),
        cmocka_unit_test(a_ring_begins_with_one_of_two),
        cmocka_unit_test(one_that_hangs_misses_what_the_other_has),
        cmocka_unit_test(one_that_took_something_is_waited_for),
        cmocka_unit_test(what_neither_takes_stays),
        cmocka_unit_test(each_server_is_heard_and_both_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
