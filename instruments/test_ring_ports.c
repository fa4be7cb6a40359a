// SPDX-License-Identifier: Apache-2.0
/** The keys `port` and `ports` of a ring's file, and who sends through which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ring_config.h"

#define PORTS                                                                                                          \
    "ports:\n"                                                                                                         \
    "  - {name: a, kind: memif, socket: /tmp/a.sock}\n"                                                                \
    "  - {name: hall, kind: af_packet, interface: veth1, destination: 10.21.255.1, vlan: 7,\n"                         \
    "     destination_mac: \"02:00:00:00:00:09\"}\n"
#define BPM "instruments:\n  - {name: bpm, kind: bpm, id: 1, count: 2, source: 10.20.0.1}\n"
#define BLM "  - {name: blm, kind: blm, id: 1, port: hall, source: 10.20.1.1}\n"
#define CHAIN "{name: c, id: 1, address: 10.30.0.1, supplies: [{}]"

static enum rm_code load(char const *text, struct rm_ring_config *config, struct rm_error *error) {
    char path[] = "/tmp/test_ring_ports.XXXXXX";
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

static void an_instrument_sends_through_the_port_that_it_names(void **state) {
    (void)state;
    struct rm_ring_config config;
    load_good("vlan: 5\nmtu: 9000\ndestination: 10.20.255.9\n" PORTS BPM BLM, &config);
    assert_int_equal(config.port_count, 2);
    assert_int_equal(config.network_count, 1);
    assert_string_equal(config.ports[0].port.name, "a");
    assert_int_equal(config.ports[0].flow.destination_ipv4, 0x0A14FF09);
    assert_int_equal(config.ports[0].flow.vlan, 5);
    assert_string_equal(config.ports[1].port.interface, "veth1");
    assert_int_equal(config.ports[1].flow.destination_ipv4, 0x0A15FF01);
    assert_int_equal(config.ports[1].flow.destination_mac[5], 9);
    assert_int_equal(config.ports[1].flow.vlan, 7);
    assert_int_equal(config.ports[1].mtu, 9000);
    assert_int_equal(config.group_count, 3);
    assert_int_equal(config.groups[1].port[0], 0);
    assert_int_equal(config.groups[2].port[0], 1);
    assert_true(rm_ring_sends_through(&config, 0) && rm_ring_sends_through(&config, 1));
    rm_ring_config_free(&config);
}

static void instruments_of_two_ports_share_no_datagram(void **state) {
    (void)state;
    struct rm_ring_config config;
    load_good(PORTS
              "instruments:\n"
              "  - {name: l, kind: bpm, format: libera_grouping, count: 4, id: 0, source: 10.20.0.1}\n"
              "  - {name: r, kind: bpm, format: libera_grouping, count: 4, id: 4, source: 10.20.0.1, port: hall}\n",
              &config);
    assert_int_equal(config.group_count, 2);
    assert_int_equal(config.groups[0].count, 4);
    assert_int_equal(config.groups[1].port[0], 1);
    rm_ring_config_free(&config);
}

static void a_mirror_is_beside_several_ports(void **state) {
    (void)state;
    struct rm_ring_config config;
    load_good(PORTS "mirror: {port: {kind: af_packet, interface: veth9}, vlan: 8}\n" BPM BLM, &config);
    assert_int_equal(config.network_count, 2);
    assert_int_equal(config.groups[0].port[1], 2);
    assert_int_equal(config.groups[2].port[0], 1);
    assert_int_equal(config.groups[2].port[1], 2);
    assert_int_equal(config.ports[2].flow.vlan, 8);
    rm_ring_config_free(&config);
}

static void each_chain_has_its_port(void **state) {
    (void)state;
    struct rm_ring_config config;
    load_good(PORTS BPM "supplies:\n  port: {kind: memif, socket: /tmp/s.sock}\n"
                        "  chains: [" CHAIN ", port: hall}, {name: d, id: 2, address: 10.30.0.2, supplies: [{}]}]\n",
              &config);
    assert_int_equal(config.supplies.chains[0].port, 1);
    assert_int_equal(config.supplies.chains[1].port, 2);
    assert_string_equal(config.ports[2].port.socket_path, "/tmp/s.sock");
    assert_false(rm_ring_sends_through(&config, 1));
    rm_ring_config_free(&config);
}

static void mistakes_are_named(void **state) {
    (void)state;
    static char const UDP[] = "ports:\n  - {name: u, kind: udp, peer: \"127.0.0.1:4660\"}\n";
    struct {
        char const *text, *expected;
    } const cases[] = {
        {"port: {kind: memif, socket: /tmp/a.sock}\n" PORTS BPM BLM, "ports: found beside \"port\""},
        {BPM, "or \"ports\""},
        {PORTS BPM, "3:5: ports[1]: no instrument and no chain uses \"hall\""},
        {PORTS BPM "  - {name: blm, kind: blm, id: 1, port: hal, source: 10.20.1.1}\n",
         "instruments[1].port: found \"hal\", expected the name of an entry of \"ports\" (did you mean \"hall\"?)"},
        {PORTS BPM "  - {name: blm, kind: blm, id: 1, port: quite_else, source: 10.20.1.1}\n",
         "found \"quite_else\", expected the name of an entry of \"ports\""},
        {"port: {kind: memif, socket: /tmp/a.sock}\n" BPM BLM, "instruments[1].port: the ring has no list \"ports\""},
        {"ports: [{kind: memif, socket: /tmp/a.sock}]\n" BPM, "ports[0]: the key \"name\" is missing"},
        {"ports: [{name: A b, kind: memif, socket: /tmp/a.sock}]\n" BPM, "ports[0].name: found \"A b\""},
        {"ports: [{name: a, kind: memif, socket: /tmp/a.sock}, {name: a, kind: \"null\"}]\n" BPM,
         "ports[1].name: \"a\" is already the name of ports[0]"},
        {"ports: [{name: a, kind: memif}]\n" BPM, "ports[0]: the key \"socket\" is missing"},
        {"ports: [{name: a, kind: \"null\", peer: \"1.2.3.4:5\"}]\n" BPM, "ports[0].peer: a port of this kind"},
        {"ports: [{name: a, kind: \"null\", vlan: 4095}]\n" BPM, "ports[0].vlan: found 4095"},
        {"ports: [{name: a, kind: \"null\", destination: here}]\n" BPM, "ports[0].destination: found \"here\""},
        {PORTS BPM "supplies: {chains: [" CHAIN ", port: hell}]}\n",
         "supplies.chains[0].port: found \"hell\", expected the name of an entry of \"ports\" (did you mean "
         "\"hall\"?)"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct rm_ring_config config;
        struct rm_error error = {0};
        assert_int_equal(load(cases[c].text, &config, &error), RM_E_CONFIG);
        if (strstr(error.text, cases[c].expected) == NULL)
            fail_msg("\"%s\" says nothing of \"%s\"", error.text, cases[c].expected);
    }
    char text[512];
    struct rm_ring_config config;
    struct rm_error error = {0};
    snprintf(text, sizeof text, "%s%ssupplies: {chains: [%s, port: u}]}\n", UDP, BPM, CHAIN);
    assert_int_equal(load(text, &config, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "ports[0].kind: found udp, expected a port of frames"));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(an_instrument_sends_through_the_port_that_it_names),
        cmocka_unit_test(instruments_of_two_ports_share_no_datagram),
        cmocka_unit_test(a_mirror_is_beside_several_ports),
        cmocka_unit_test(each_chain_has_its_port),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
