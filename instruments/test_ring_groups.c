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

#include "ring_config.h"

static enum rm_code load(char const *text, struct rm_ring_config *config, struct rm_error *error) {
    char path[] = "/tmp/test_ring_groups.XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    enum rm_code const code = rm_ring_config_load(path, config, error);
    unlink(path);
    return code;
}

static void load_good(char const *text, struct rm_ring_config *config) {
    struct rm_error error = {0};
    if (load(text, config, &error) != RM_OK)
        fail_msg("%s", error.text);
}

#define PORT "port: {kind: memif, socket: /tmp/a.sock}\n"
#define MIRROR "mirror: {port: {kind: af_packet, interface: veth1}}\n"
#define LAYOUT(instruments, id)                                                                                        \
    "formats:\n  - {name: vendor, udp_port: 5000, period_turns: 4, layout: {" instruments id                           \
    "counter: {at: 0, type: u32, in: datagram}, lanes: [{name: x, unit: nm, at: 4, type: i32}]}}\n"
#define PAIRS LAYOUT("instruments: {count: 2, at: 4, stride: 16}, ", "id: {at: 0, type: u8}, ")

static void an_entry_becomes_so_many_instruments(void **state) {
    (void)state;
    struct rm_ring_config config;
    load_good(PORT "instruments:\n"
                   "  - {name: bpm, kind: bpm, format: libera_grouping, count: 168, id: 1, source: 10.20.3.1}\n"
                   "  - {name: more, kind: photon_bpm, format: libera_grouping, count: 2, id: 170, source: 10.20.3.1}\n"
                   "  - {name: psu, kind: power_supply, count: 3, id: 5, source: 10.20.3.2, period_turns: 12}\n"
                   "  - {name: trip, kind: interlock, id: 1, source: 10.20.3.3, turn_error: -4}\n",
              &config);
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
    load_good(PORT PAIRS
              "instruments:\n"
              "  - {name: a, kind: bpm, format: vendor, count: 4, id: 9, source: 10.20.3.1}\n"
              "  - {name: b, kind: bpm, format: vendor, count: 2, id: 13, source: 10.20.3.1, turn_error: 8}\n"
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
    load_good(PORT "mirror: {port: {kind: udp, peer: 127.0.0.1:5000}, destination: 239.0.1.2, vlan: 9}\n"
                   "mtu: 9000\nvlan: 8\ndestination_mac: 02:00:00:00:00:07\n"
                   "instruments:\n"
                   "  - {name: a, kind: bpm, count: 2, id: 9, source: 10.20.3.1, mirror_source: 127.0.0.9}\n"
                   "  - {name: b, kind: bpm, id: 9, source: 10.20.3.2}\n"
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

static void every_kind_of_port_that_sends_is_taken(void **state) {
    (void)state;
    struct {
        char const *port;
        enum rm_port_kind kind;
    } const cases[] = {
        {"{kind: af_xdp, interface: veth0}", RM_PORT_AF_XDP},         {"{kind: tap, interface: rm0}", RM_PORT_TAP},
        {"{kind: virtio_user, socket: /tmp/s}", RM_PORT_VIRTIO_USER}, {"{kind: vhost, socket: /tmp/s}", RM_PORT_VHOST},
        {"{kind: pci, device: \"0000:03:00.0\"}", RM_PORT_PCI},       {"{kind: \"null\"}", RM_PORT_NULL},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        char text[256];
        struct rm_ring_config config;
        snprintf(text, sizeof text, "port: %s\ninstruments: [{name: a, kind: bpm, id: 9, source: 10.20.3.1}]\n",
                 cases[c].port);
        load_good(text, &config);
        assert_int_equal(config.ports[0].port.kind, cases[c].kind);
        rm_ring_config_free(&config);
    }
}

/** An instrument of this format and further keys. */
#define ONE(keys) "  - {name: a, kind: bpm, id: 1, source: 10.20.3.1, " keys "}\n"
#define LIST PORT "instruments:\n"

static void what_is_wrong_is_named_with_its_place(void **state) {
    (void)state;
    struct {
        char const *text, *expected[2];
    } const cases[] = {
        {LIST ONE("format: libera"), {":3:60: instruments[0].format", "libera_grouping"}},
        {LIST ONE("count: 0"), {"instruments[0].count", "expected 1 to 1024"}},
        {LIST ONE("count: 1025"), {"instruments[0].count", "expected 1 to 1024"}},
        {LIST "  - {name: a, kind: bpm, id: 65535, source: 10.20.3.1, count: 2}\n", {"[0].count", "last id"}},
        {LIST "  - {name: a23456789012345678901234, kind: bpm, id: 1, source: 10.20.3.1, count: 2}\n",
         {"[0].name", "with its number"}},
        {LIST ONE("count: 2") "  - {name: a02, kind: bpm, id: 9, source: 10.20.3.1}\n", {"[1].name", "already"}},
        {LIST "  - {name: a02, kind: bpm, id: 9, source: 10.20.3.1}\n" ONE("count: 2"), {"[1].name", "already"}},
        {LIST ONE("mirror_source: 10.21.3.1"), {"mirror_source", "no mirror"}},
        {LIST ONE("period_turns: 0"), {"instruments[0].period_turns", "1 to 65536"}},
        {LIST ONE("period_turns: 12, turn_error: 7"), {"instruments[0].turn_error", "multiple of period_turns"}},
        {LIST ONE("turn_error: 2000000000"), {"instruments[0].turn_error", "2^30"}},
        {LIST ONE("format: libera_grouping, count: 300"), {"instruments[0].id", "bits"}},
        {LIST ONE("format: libera_grouping") "  - {name: b, kind: bpm, id: 2, source: 10.20.3.1, period_turns: 9, "
                                             "format: libera_grouping}\n",
         {"instruments[1].period_turns", "others in the same datagram"}},
        {LIST ONE("format: libera_grouping") "  - {name: b, kind: bpm, id: 2, source: 10.20.3.1}\n"
                                             "  - {name: c, kind: bpm, id: 3, source: 10.20.3.1, format: "
                                             "libera_grouping}\n",
         {"instruments[2]", "one after the other"}},
        {PAIRS LIST ONE("format: vendor, count: 3"), {"instruments[0]", "of 2 instruments, found 1"}},
        {PAIRS LIST ONE("format: vendor") "  - {name: b, kind: bpm, id: 2, source: 10.20.3.1, format: vendor, "
                                          "turn_error: 4}\n",
         {"instruments[1].turn_error", "one counter for all"}},
        {LAYOUT("instruments: {at: 4, stride: 16}, ", "") LIST ONE("format: vendor"), {"instruments[0].id", "no id"}},
        {LAYOUT("instruments: {at: 4, stride: 16}, ", "id: {at: 0, type: u16}, ")
             LIST ONE("format: vendor, count: 600"),
         {"instruments[0]", "do not fit"}},
        {"formats: [{name: v, preset: native}, {name: v, preset: native}]\n" LIST ONE(""),
         {"formats[1].name", "already"}},
        {"formats: [{name: v, preset: libera}]\n" LIST ONE(""), {"formats[0].preset", "libera_grouping"}},
        {"mtu: 500\n" LIST ONE(""), {":1:6: mtu", "576 to 9000"}},
        {"vlan: 4095\n" LIST ONE(""), {":1:7: vlan", "1 to 4094"}},
        {"mirror: {port: {kind: memif}}\n" LIST ONE(""), {"mirror.port", "\"socket\" is missing"}},
        {"mirror: {port: {kind: udp, peer: 1.2.3.4:5, device: x}}\n" LIST ONE(""), {"mirror.port.device", "no such"}},
        {"mirror: {port: {kind: \"null\"}, vlan: 0}\n" LIST ONE(""), {"mirror.vlan", "1 to 4094"}},
        {"mirror: {port: {kind: \"null\"}, destination: x}\n" LIST ONE(""), {"mirror.destination", "IPv4"}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct rm_ring_config config;
        struct rm_error error = {0};
        if (load(cases[c].text, &config, &error) != RM_E_CONFIG)
            fail_msg("expected an error about \"%s\"", cases[c].expected[0]);
        for (unsigned e = 0; e < 2; ++e)
            if (strstr(error.text, cases[c].expected[e]) == NULL)
                fail_msg("expected \"%s\" in \"%s\"", cases[c].expected[e], error.text);
    }
}

static void faults_that_cannot_be_are_named(void **state) {
    (void)state;
    struct {
        char const *before, *fault, *expected;
    } const cases[] = {
        {"", "{instrument: bpm02, fault: drop, probability: 1}", "the name of all of them: \"bpm\""},
        {"", "{instrument: bpm, fault: wrong_version, probability: 1}", "no constants"},
        {"", "{instrument: bpm, fault: drop, probability: 1, network: a}", "only one network"},
        {"", "{instrument: bpm, fault: drop, probability: 1, order: shuffled}", "no such key"},
        {"", "{instrument: bpm, fault: fragment_drop}", "either probability or at_turn"},
        {MIRROR, "{instrument: bpm, fault: turn_reset, at_turn: 5, network: a}", "no such key"},
        {"mirror: {port: {kind: udp, peer: 127.0.0.1:5}}\n", "{instrument: bpm, fault: fragment_drop, probability: 1}",
         "the kernel makes them"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct rm_ring_config config;
        struct rm_error error = {0};
        char text[1024];
        snprintf(text, sizeof text,
                 PORT "%sinstruments: [{name: bpm, kind: bpm, format: libera_grouping, count: 3, id: 1, source: "
                      "10.20.3.1}]\nfaults: [%s]\n",
                 cases[c].before, cases[c].fault);
        assert_int_equal(load(text, &config, &error), RM_E_CONFIG);
        if (strstr(error.text, cases[c].expected) == NULL)
            fail_msg("expected \"%s\" in \"%s\"", cases[c].expected, error.text);
    }
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(an_entry_becomes_so_many_instruments),
        cmocka_unit_test(a_format_says_how_many_share_a_datagram),
        cmocka_unit_test(a_mirror_is_a_second_network),
        cmocka_unit_test(every_kind_of_port_that_sends_is_taken),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(faults_that_cannot_be_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
