// SPDX-License-Identifier: Apache-2.0
/** Formats, groups, networks and their faults, as a ring's file writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/stream.h>

#include "test_files.h"

#define PORTS                                                                                                          \
    "ports:\n"                                                                                                         \
    "  - {name: ring, kind: memif, socket: /tmp/a.sock}\n"                                                             \
    "  - {name: b, kind: memif, socket: /tmp/b.sock}\n"
#define LAYOUT(instruments, id)                                                                                        \
    "formats:\n  - {name: vendor, udp_port: 5000, period_turns: 4, layout: {" instruments id                           \
    "counter: {at: 0, type: u32, in: datagram}, lanes: [{name: x, unit: nm, at: 4, type: i32}]}}\n"
#define PAIRS LAYOUT("instruments: {count: 2, at: 4, stride: 16}, ", "id: {at: 0, type: u8}, ")

static void an_entry_becomes_so_many_instruments(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(
        "instruments:\n"
        "  - {name: bpm, kind: bpm, format: libera_grouping, count: 168, id: 1, port: ring, source: 10.20.3.1}\n"
        "  - {name: more, kind: photon_bpm, format: libera_grouping, count: 2, id: 170, port: ring, source: "
        "10.20.3.1}\n"
        "  - {name: psu, kind: power_supply, count: 3, id: 5, port: ring, source: 10.20.3.2, period_turns: 12}\n"
        "  - {name: trip, kind: interlock, id: 1, port: ring, source: 10.20.3.3}\n",
        "instruments: [{name: trip, turn_error: -4}]\n", &config);
    assert_int_equal(config.instrument_count, 168 + 2 + 3 + 1);
    assert_string_equal(config.instruments[0].name, "bpm001");
    assert_string_equal(config.instruments[167].name, "bpm168");
    assert_int_equal(config.instruments[167].id, 168);
    assert_int_equal(config.instruments[167].status, 1 | 168 << 2 | 1 << 11);
    assert_string_equal(config.instruments[168].name, "more01");
    assert_int_equal(config.instruments[168].kind, RM_KIND_PHOTON_BPM);
    assert_string_equal(config.instruments[172].name, "psu03");
    assert_int_equal(config.instruments[172].id, 7);
    assert_int_equal(config.instruments[172].status, 0);
    assert_int_equal(config.instruments[172].lane_count, 3);
    assert_int_equal(config.instruments[173].turn_error, -4);
    assert_int_equal(config.group_count, 1 + 3 + 1);
    assert_string_equal(config.groups[0].name, "bpm");
    assert_int_equal(config.groups[0].count, 170);
    assert_int_equal(config.groups[0].format->udp_port, 2048);
    assert_string_equal(config.groups[1].name, "psu01");
    assert_int_equal(config.groups[1].period_turns, 12);
    assert_int_equal(config.groups[1].source_ipv4[0], 0x0A140302);
    assert_int_equal(config.groups[4].first, 173);
    rm_ring_config_free(&config);
}

static void a_format_says_how_many_share_a_datagram(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(PAIRS
                         "instruments:\n"
                         "  - {name: a, kind: bpm, format: vendor, count: 4, id: 9, port: ring, source: 10.20.3.1}\n"
                         "  - {name: b, kind: bpm, format: vendor, count: 2, id: 13, port: ring, source: 10.20.3.1}\n",
                         "instruments: [{name: b, turn_error: 8}]\n"
                         "faults:\n"
                         "  - {instrument: a, fault: drop, probability: 1}\n"
                         "  - {instrument: a03, fault: drop, probability: 1}\n"
                         "  - {instrument: all, fault: fragment_order, order: reversed, probability: 1}\n",
                         &config);
    assert_int_equal(config.group_count, 3);
    assert_string_equal(config.groups[1].name, "a03");
    assert_string_equal(config.groups[2].name, "b01");
    assert_int_equal(config.groups[2].count, 2);
    assert_int_equal(config.groups[2].period_turns, 4);
    assert_int_equal(config.faults[0].first_group, 0);
    assert_int_equal(config.faults[0].group_count, 2);
    assert_int_equal(config.faults[1].first_group, 1);
    assert_int_equal(config.faults[1].group_count, 1);
    assert_int_equal(config.faults[2].group_count, 3);
    assert_int_equal(config.faults[2].fault.order, RM_FRAGMENTS_REVERSED);
    rm_ring_config_free(&config);
}

static void a_mirror_is_a_second_network(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(
        "ports:\n"
        "  - {name: ring, kind: memif, socket: /tmp/a.sock, vlan: 8}\n"
        "  - {name: b, kind: udp, address: 127.0.0.1:4660, multicast: [239.0.1.2]}\n"
        "instruments:\n"
        "  - {name: a, kind: bpm, count: 2, id: 9, port: ring, source: 10.20.3.1,\n"
        "     mirror: {port: b, source: 127.0.0.9}}\n"
        "  - {name: b, kind: bpm, id: 9, port: ring, source: 10.20.3.2, mirror: {port: b}}\n",
        "mtu: 9000\nports: [{name: ring, destination_mac: \"02:00:00:00:00:07\"}, {name: b, vlan: 9}]\n"
        "faults:\n"
        "  - {instrument: a, fault: drop, probability: 1, network: b}\n"
        "  - {instrument: all, fault: turn_reset, at_turn: 7}\n",
        &config);
    assert_int_equal(config.network_count, 2);
    assert_int_equal(config.ports[0].mtu, 9000);
    assert_int_equal(config.ports[0].flow.vlan, 8);
    assert_int_equal(config.ports[0].port.longest_frame, 9018);
    assert_int_equal(config.ports[1].flow.vlan, 9);
    assert_int_equal(config.ports[1].port.kind, RM_PORT_UDP);
    assert_int_equal(config.ports[1].port.longest_frame, RM_SEND_BYTES);
    assert_int_equal(config.ports[1].flow.destination_ipv4, 0xEF000102);
    uint8_t const multicast[6] = {0x01, 0, 0x5E, 0, 1, 2};
    assert_memory_equal(config.ports[1].flow.destination_mac, multicast, 6);
    assert_int_equal(config.ports[0].flow.destination_mac[5], 7);
    assert_int_equal(config.groups[1].source_ipv4[1], 0x7F000009);
    assert_int_equal(config.groups[2].source_ipv4[1], 0x0A140302);
    assert_int_equal(config.faults[0].network, 1);
    assert_int_equal(config.faults[0].group_count, 2);
    assert_int_equal(config.faults[1].network, RM_RING_BOTH_NETWORKS);
    rm_ring_config_free(&config);
}

/** An instrument of this format and further keys. */
#define ONE(keys) "  - {name: a, kind: bpm, id: 1, port: ring, source: 10.20.3.1, " keys "}\n"
#define LIST "instruments:\n"
#define B(keys) "  - {name: b, kind: bpm, id: 2, port: ring, source: 10.20.3.1, " keys "}\n"

static void what_is_wrong_is_named_with_its_place(void **state) {
    (void)state;
    struct {
        char const *machine, *overlay, *expected;
    } const cases[] = {
        {LIST ONE("format: libera"), "", "instruments[0].format: found \"libera\""},
        {LIST ONE("period_turns: 12"), "instruments: [{name: a, turn_error: 7}]\n",
         "instrument \"a\": turn_error is 7, expected a multiple of period_turns"},
        {LIST ONE("format: libera_grouping, count: 300"), "", "instrument \"a256\": id 256 does not fit into the bits"},
        {LIST ONE("format: libera_grouping") B("period_turns: 9, format: libera_grouping"), "",
         "instrument \"b\": period_turns is 9, expected 1 as of the others in the same datagram"},
        {LIST ONE("format: libera_grouping")
             B("") "  - {name: c, kind: bpm, id: 3, port: ring, source: 10.20.3.1, format: libera_grouping}\n",
         "", "instrument \"c\": it shares its datagrams with \"a\", so write them one after the other"},
        {PAIRS LIST ONE("format: vendor, count: 3"), "", "of 2 instruments, found 1"},
        {PAIRS LIST ONE("format: vendor") B("format: vendor"), "instruments: [{name: b, turn_error: 4}]\n",
         "instrument \"b\": turn_error is 4, expected that of the others in the same datagram"},
        {LAYOUT("instruments: {at: 4, stride: 16}, ", "") LIST ONE("format: vendor"), "",
         "instrument \"a\": id is 1, expected 0, the place in the datagram: the format has no id"},
        {LAYOUT("instruments: {at: 4, stride: 16}, ", "id: {at: 0, type: u16}, ")
             LIST ONE("format: vendor, count: 600"),
         "", "do not fit into a datagram"},
        {LIST ONE(""), "mtu: 500\n", ":1:6: mtu: found 500, expected 576 to 9000"},
        {PORTS LIST ONE("mirror: {port: b}") B(""), "",
         "instrument \"a\" has a mirror and \"b\" has none: a virtual ring sends all"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c)
        test_files_expect(cases[c].machine, cases[c].overlay, cases[c].expected);
}

static void faults_that_cannot_be_are_named(void **state) {
    (void)state;
    struct {
        char const *ports, *mirror, *fault, *expected;
    } const cases[] = {
        {"", "", "{instrument: bpm02, fault: drop, probability: 1}", "the name of all of them: \"bpm\""},
        {"", "", "{instrument: bpm, fault: wrong_version, probability: 1}", "no constants"},
        {"", "", "{instrument: bpm, fault: drop, probability: 1, network: a}", "only one network"},
        {"", "", "{instrument: bpm, fault: drop, probability: 1, order: shuffled}", "no such key"},
        {"", "", "{instrument: bpm, fault: fragment_drop}", "either probability or at_turn"},
        {PORTS, ", mirror: {port: b}", "{instrument: bpm, fault: turn_reset, at_turn: 5, network: a}", "no such key"},
        {"ports: [{name: ring, kind: udp, address: 127.0.0.1:2048}]\n", "",
         "{instrument: bpm, fault: fragment_drop, probability: 1}", "the kernel makes them"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        char machine[512], overlay[256];
        snprintf(machine, sizeof machine,
                 "%sinstruments: [{name: bpm, kind: bpm, format: libera_grouping, count: 3, id: 1, port: ring, source: "
                 "10.20.3.1%s}]\n",
                 cases[c].ports, cases[c].mirror);
        snprintf(overlay, sizeof overlay, "faults: [%s]\n", cases[c].fault);
        test_files_expect(machine, overlay, cases[c].expected);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(an_entry_becomes_so_many_instruments),
        cmocka_unit_test(a_format_says_how_many_share_a_datagram),
        cmocka_unit_test(a_mirror_is_a_second_network),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(faults_that_cannot_be_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
