// SPDX-License-Identifier: Apache-2.0
/** The other ends of the server's ports: what follows from these, what the overlay says, which the ring takes. */
#include "test_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PORTS                                                                                                          \
    "ports:\n"                                                                                                         \
    "  - {name: a, kind: memif, socket: /tmp/a.sock, vlan: 5, answer: 10.20.255.9}\n"                                  \
    "  - {name: hall, kind: af_packet, interface: veth0, udp_port: 5000, answer: 10.21.255.1}\n"
#define BPM "instruments:\n  - {name: bpm, kind: bpm, id: 1, count: 2, port: a, source: 10.20.0.1}\n"
#define BLM "  - {name: blm, kind: blm, id: 1, port: hall, source: 10.20.1.1}\n"
#define HALL "ports: [{name: hall, interface: veth1}]\n"

/** An instrument on one port. */
#define ONE(port)                                                                                                      \
    "ports: [{name: p, " port "}]\ninstruments: [{name: a, kind: bpm, id: 9, port: p, source: 10.20.3.1}]\n"

static void an_instrument_sends_through_the_other_end_of_its_port(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(PORTS BPM BLM,
                         "mtu: 9000\n"
                         "ports: [{name: hall, interface: veth1, vlan: 7, destination_mac: \"02:00:00:00:00:09\"}]\n",
                         &config);
    assert_int_equal(config.port_count, 2);
    assert_int_equal(config.network_count, 1);
    assert_string_equal(config.ports[0].port.name, "a");
    assert_string_equal(config.ports[0].port.socket_path, "/tmp/a.sock");
    assert_false(config.ports[0].port.memif_server);
    assert_int_equal(config.ports[0].flow.destination_ipv4, 0x0A14FF09);
    assert_int_equal(config.ports[0].flow.destination_port, 4660);
    assert_int_equal(config.ports[0].flow.vlan, 5);
    assert_string_equal(config.ports[1].port.interface, "veth1");
    assert_int_equal(config.ports[1].flow.destination_ipv4, 0x0A15FF01);
    assert_int_equal(config.ports[1].flow.destination_mac[5], 9);
    assert_int_equal(config.ports[1].flow.destination_port, 5000);
    assert_int_equal(config.ports[1].flow.vlan, 7);
    assert_int_equal(config.ports[1].mtu, 9000);
    assert_int_equal(config.group_count, 3);
    assert_int_equal(config.groups[1].port[0], 0);
    assert_int_equal(config.groups[2].port[0], 1);
    assert_true(rm_ring_sends_through(&config, 0) && rm_ring_sends_through(&config, 1));
    rm_ring_config_free(&config);
}

static void each_kind_has_its_other_end(void **state) {
    (void)state;
    struct {
        char const *machine, *overlay;
        enum rm_port_kind kind;
    } const cases[] = {
        {ONE("kind: memif, socket: /tmp/s, role: client"), "", RM_PORT_MEMIF},
        {ONE("kind: udp, address: 127.0.0.1:5000"), "", RM_PORT_UDP},
        {ONE("kind: virtio_user, socket: /tmp/s"), "", RM_PORT_VHOST},
        {ONE("kind: vhost, socket: /tmp/s"), "", RM_PORT_VIRTIO_USER},
        {ONE("kind: af_xdp, interface: veth0"), "ports: [{name: p, interface: veth1}]\n", RM_PORT_AF_XDP},
        {ONE("kind: af_xdp, interface: veth0"), "ports: [{name: p, kind: af_packet, interface: veth1}]\n",
         RM_PORT_AF_PACKET},
        {ONE("kind: af_packet, interface: veth0"), "ports: [{name: p, kind: udp, peer: 127.0.0.1:5000}]\n",
         RM_PORT_UDP},
        {ONE("kind: tap, interface: rm0"), "ports: [{name: p, interface: rm1}]\n", RM_PORT_TAP},
        {ONE("kind: pci, device: \"0000:03:00.0\""), "ports: [{name: p, device: \"0000:03:00.1\"}]\n", RM_PORT_PCI},
        {ONE("kind: ring"), "ports: [{name: p, kind: \"null\"}]\n", RM_PORT_NULL},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct rm_ring_config config;
        test_files_load_good(cases[c].machine, cases[c].overlay, &config);
        struct rm_port_config const *port = &config.ports[0].port;
        assert_int_equal(port->kind, cases[c].kind);
        if (port->kind == RM_PORT_MEMIF)
            assert_true(port->memif_server);
        if (port->kind == RM_PORT_VHOST || port->kind == RM_PORT_VIRTIO_USER)
            assert_string_equal(port->socket_path, "/tmp/s");
        if (port->kind == RM_PORT_UDP)
            assert_true(port->peer_ipv4 == 0x7F000001 && port->peer_port == 5000);
        rm_ring_config_free(&config);
    }
}

static void instruments_of_two_ports_share_no_datagram(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(
        PORTS "instruments:\n"
              "  - {name: l, kind: bpm, format: libera_grouping, count: 4, id: 0, source: 10.20.0.1, port: a}\n"
              "  - {name: r, kind: bpm, format: libera_grouping, count: 4, id: 4, source: 10.20.0.1, port: hall}\n",
        HALL, &config);
    assert_int_equal(config.group_count, 2);
    assert_int_equal(config.groups[0].count, 4);
    assert_int_equal(config.groups[1].port[0], 1);
    rm_ring_config_free(&config);
}

static void each_instrument_has_the_mirror_that_it_names(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(PORTS "  - {name: b, kind: memif, socket: /tmp/b.sock, vlan: 8}\n"
                               "instruments:\n"
                               "  - {name: bpm, kind: bpm, id: 1, port: a, source: 10.20.0.1, mirror: {port: b}}\n"
                               "  - {name: blm, kind: blm, id: 1, port: hall, source: 10.20.1.1, mirror: {port: a}}\n",
                         HALL, &config);
    assert_int_equal(config.network_count, 2);
    assert_int_equal(config.groups[0].port[0], 0);
    assert_int_equal(config.groups[0].port[1], 2);
    assert_int_equal(config.groups[1].port[0], 1);
    assert_int_equal(config.groups[1].port[1], 0);
    assert_int_equal(config.ports[2].flow.vlan, 8);
    rm_ring_config_free(&config);
}

static void each_chain_has_its_port(void **state) {
    (void)state;
    struct rm_ring_config config;
    test_files_load_good(PORTS BPM
                         "setpoints: {period_turns: 12}\n"
                         "chains: [{name: c, id: 1, port: hall, address: 10.30.0.1, supplies: [{name: s, unit: "
                         "A, limits: [-1, 1], slew: 1}]}]\n",
                         HALL, &config);
    assert_int_equal(config.supplies.chains[0].port, 1);
    assert_int_equal(config.supplies.chains[0].answer_port, 5000);
    assert_false(rm_ring_sends_through(&config, 1));
    rm_ring_config_free(&config);
}

/** A ring of some ports: the others are other rings' ends, or true instruments'. */
static void a_ring_may_be_the_end_of_some_ports(void **state) {
    (void)state;
    struct rm_ring_config config;
    struct rm_error error;
    char path[] = "/tmp/test_ring_ports.XXXXXX";
    close(mkstemp(path));
    test_files_write_machine(path, PORTS BPM BLM);
    struct rm_ring_files files = {.config = path, .ports = "a"};
    if (rm_ring_config_load(&files, &config, &error) != RM_OK)
        fail_msg("%s", error.text);
    assert_int_equal(config.port_count, 1);
    assert_int_equal(config.instrument_count, 2);
    rm_ring_config_free(&config);
    files.ports = "a,hal";
    assert_int_equal(rm_ring_config_load(&files, &config, &error), RM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "--ports: found \"hal\""));
    assert_non_null(strstr(error.text, "did you mean \"hall\"?"));
    unlink(path);
}

static void mistakes_are_named(void **state) {
    (void)state;
    struct {
        char const *machine, *overlay, *expected;
    } const cases[] = {
        {PORTS BPM BLM, "", ":3:5: ports[1]: the virtual ring is its other end: the key \"interface\" is missing"},
        {PORTS BPM BLM, "ports: [{name: hall, vlan: 3}]\n", ":1:9: ports[0]: the key \"interface\" is missing"},
        {PORTS BPM BLM, "ports: [{name: hal, interface: veth1}]\n",
         "ports[0].name: found \"hal\", expected the name of"},
        {PORTS BPM BLM, "ports: [{name: hall, interface: v}, {name: hall, interface: w}]\n", "ports[0] is of \"hall\""},
        {PORTS BPM BLM, "ports: [{name: a, interface: v}]\n",
         "ports[0].interface: a port of this kind has no such key"},
        {PORTS BPM BLM, "ports: [{name: a, kind: udp}]\n", "the key \"peer\" is missing"},
        {PORTS BPM BLM, "ports: [{name: a, kind: udp, peer: 127.0.0.1}]\n", "ports[0].peer: found \"127.0.0.1\""},
        {PORTS BPM BLM, "ports: [{name: a, kind: udp, peer: 127.0.0.1:5, role: client}]\n", "ports[0].role: a port"},
        {PORTS BPM BLM, "ports: [{name: a, kind: pci}]\n", "the key \"device\" is missing"},
        {PORTS BPM BLM, "ports: [{name: a, kind: tcp}]\n", "expected one of: memif, af_packet, udp, af_xdp"},
        {PORTS BPM BLM, "ports: [{name: a, vlan: 4095}]\n", "ports[0].vlan: found 4095"},
        {PORTS BPM BLM, "ports: [{name: a, destination: here}]\n", "ports[0].destination: found \"here\""},
        {ONE("kind: ring"), "", "nothing can be at the other end of a port of this kind"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c)
        test_files_expect(cases[c].machine, cases[c].overlay, cases[c].expected);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(an_instrument_sends_through_the_other_end_of_its_port),
        cmocka_unit_test(each_kind_has_its_other_end),
        cmocka_unit_test(instruments_of_two_ports_share_no_datagram),
        cmocka_unit_test(each_instrument_has_the_mirror_that_it_names),
        cmocka_unit_test(each_chain_has_its_port),
        cmocka_unit_test(a_ring_may_be_the_end_of_some_ports),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
