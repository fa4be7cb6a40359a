// SPDX-License-Identifier: Apache-2.0
/* Chains of supplies, when setpoints go to them, and the instruments that their answers are. */
#include "config/config.h"
#include "config/test_file.h"

#include <ringmaster/supply.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A right file in parts; a wrong one replaces some of them. Lines: 1, 2–4, 5–6, 7–9, 10, from 11 on. */
#define MACHINE "workspace: demo\n"
#define RING "  - {name: ring, kind: memif, socket: /run/r.sock}\n"
#define LINK "  - {name: link, kind: memif, socket: /run/l.sock, answer: 10.30.0.250}\n"
#define PORTS "ports:\n" RING LINK
#define INSTRUMENTS "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1}\n"
#define TRANSMIT "  - {role: transmit, core: @}\n"
#define ROLES "roles:\n  - {role: receive, ports: [ring, link], core: @}\n" TRANSMIT
#define SETPOINTS "setpoints: {period_turns: 12}\n"
#define SUPPLY "name: q1, unit: A, limits: [-10, 10], slew: 20"
#define CHAIN "name: c, id: 1, port: link, address: 10.30.0.1"
#define CHAINS "chains:\n  - {" CHAIN ", supplies: [{" SUPPLY "}]}\n"

#define BEFORE MACHINE PORTS INSTRUMENTS ROLES
#define ONE_CHAIN(chain) BEFORE SETPOINTS "chains:\n  - {" chain ", supplies: [{" SUPPLY "}]}\n"
#define TWO_CHAINS(first, second)                                                                                      \
    BEFORE SETPOINTS "chains:\n  - {" first ", supplies: [{" SUPPLY "}]}\n  - {" second                                \
                     ", supplies: [{name: q2, unit: A, limits: [-10, 10], slew: 20}]}\n"

static void nothing_of_it(void **state) {
    struct rm_config *const config = load_config(
        *state, MACHINE "ports:\n" RING INSTRUMENTS "roles:\n  - {role: receive, ports: [ring], core: @}\n");
    assert_int_equal(config->chain_count, 0);
    assert_int_equal(config->supply_count, 0);
    assert_int_equal(config->setpoints.period_turns, 0);
    assert_int_equal(config->application_count, 1);
    assert_string_equal(config->application[0].name, "operator");
    assert_int_equal(config->application[0].supply_count, 0);
    rm_config_free(config);
}

static void the_least(void **state) {
    struct rm_config *const config = load_config(*state, BEFORE SETPOINTS CHAINS);
    assert_int_equal(config->setpoints.period_turns, 12);
    assert_int_equal(config->setpoints.phase_turns, 0);
    assert_int_equal(config->setpoints.lead, 0);
    assert_int_equal(config->setpoints.lost_cycles, 10);
    assert_int_equal(config->chain_count, 1);
    struct rm_config_chain const *const chain = &config->chain[0];
    assert_string_equal(chain->name, "c");
    assert_int_equal(chain->id, 1);
    assert_int_equal(chain->port, 1);
    assert_int_equal(chain->address_ipv4, 0x0A1E0001);
    assert_memory_equal(chain->mac, "\xFF\xFF\xFF\xFF\xFF\xFF", 6);
    assert_int_equal(chain->udp_port, 4662);
    assert_true(chain->readback);
    assert_int_equal(chain->supply_count, 1);
    struct rm_config_supply const *const supply = &config->supply[0];
    assert_string_equal(supply->name, "q1");
    assert_int_equal(supply->chain, 0);
    assert_int_equal(supply->application, 0);
    assert_string_equal(supply->unit, "A");
    assert_true(supply->low == -10 && supply->high == 10);
    assert_true(supply->slew_per_s == 20 && supply->safe_slew_per_s == 20);
    assert_true(supply->safe == 0);
    assert_true(supply->tolerance == 0.01 * 20);
    assert_int_equal(supply->settle_cycles, 100);
    assert_string_equal(supply->conversion.unit, "");
    assert_int_equal(config->application[0].supply_count, 1);
    assert_int_equal(config->application[0].supply[0], 0);
    rm_config_free(config);
}

/* Everything that can be said, with two counts. */
static char const in_full[] = BEFORE "setpoints: {period_turns: 24, phase_turns: 23, lost_cycles: 2}\n"
                                     "chains:\n"
                                     "  - name: c\n"
                                     "    count: 3\n"
                                     "    id: 254\n"
                                     "    port: link\n"
                                     "    address: 10.30.0.254\n"
                                     "    mac: \"02:00:0A:1e:00:ff\"\n"
                                     "    udp_port: 5000\n"
                                     "    supplies:\n"
                                     "      - name: sr/ps/ch_s{chain}_\n"
                                     "        count: 10\n"
                                     "        unit: A\n"
                                     "        limits: [2, 10.5]\n"
                                     "        slew: 2000\n"
                                     "        safe: 3\n"
                                     "        safe_slew: 5\n"
                                     "        tolerance: 0.05\n"
                                     "        settle_cycles: 0\n"
                                     "        convert: {unit: µrad, polynomial: [1, 12.5, -0.25, 0.001]}\n"
                                     "      - {name: \"sr/ps/cv_s{chain}\", unit: mA, limits: [-1, 1], slew: 1}\n"
                                     "  - name: mute\n"
                                     "    id: 16383\n"
                                     "    port: link\n"
                                     "    address: 10.30.0.1\n"
                                     "    readback: false\n"
                                     "    supplies:\n"
                                     "      - {name: sr/ps/bend, unit: A, limits: [-1, 1], slew: 1}\n";

static void all_keys(void **state) {
    struct rm_config *const config = load_config(*state, in_full);
    assert_int_equal(config->setpoints.period_turns, 24);
    assert_int_equal(config->setpoints.phase_turns, 23);
    assert_int_equal(config->setpoints.lost_cycles, 2);
    assert_int_equal(config->chain_count, 4);
    assert_int_equal(config->supply_count, 3 * 11 + 1);
    struct rm_config_chain const *const third = &config->chain[2];
    assert_string_equal(third->name, "c03");
    assert_int_equal(third->id, 256);
    assert_int_equal(third->address_ipv4, 0x0A1E0100); /* 10.30.1.0 */
    assert_memory_equal(third->mac, "\x02\x00\x0A\x1E\x01\x01", 6);
    assert_int_equal(third->udp_port, 5000);
    assert_int_equal(third->first_supply, 22);
    assert_int_equal(third->supply_count, 11);
    struct rm_config_supply const *const supply = &config->supply[22];
    assert_string_equal(supply->name, "sr/ps/ch_s03_01");
    assert_string_equal(config->supply[31].name, "sr/ps/ch_s03_10");
    assert_string_equal(config->supply[32].name, "sr/ps/cv_s03");
    assert_int_equal(supply->chain, 2);
    assert_true(supply->low == 2 && supply->high == 10.5 && supply->safe == 3);
    assert_true(supply->slew_per_s == 2000 && supply->safe_slew_per_s == 5 && supply->tolerance == 0.05);
    assert_int_equal(supply->settle_cycles, 0);
    assert_string_equal(supply->conversion.unit, "µrad");
    double const polynomial[4] = {1, 12.5, -0.25, 0.001};
    assert_memory_equal(supply->conversion.c, polynomial, sizeof polynomial);
    struct rm_config_chain const *const mute = &config->chain[3];
    assert_false(mute->readback);
    assert_int_equal(mute->id, 16383);
    assert_int_equal(mute->instrument_count, 0);
    assert_memory_equal(mute->mac, "\xFF\xFF\xFF\xFF\xFF\xFF", 6);
    rm_config_free(config);
}

static void check_lane(struct rm_lane_info const *lane, char const *name, char const *unit, enum rm_lane_type type,
                       enum rm_reduction reduction) {
    assert_string_equal(lane->name, name);
    assert_string_equal(lane->unit, unit);
    assert_int_equal(lane->type, type);
    assert_int_equal(lane->reduction, reduction);
}

static void answers_are_instruments(void **state) {
    struct rm_config *const config = load_config(*state, in_full);
    assert_int_equal(config->instrument_count, 1 + 3 * 2);
    assert_false(config->instrument[0].follows);
    assert_int_equal(config->chain[2].first_instrument, 5);
    assert_int_equal(config->chain[2].instrument_count, 2);
    struct rm_config_instrument const *const a = &config->instrument[5];
    struct rm_config_instrument const *const b = &config->instrument[6];
    assert_string_equal(a->name, "c03_a");
    assert_string_equal(b->name, "c03_b");
    assert_int_equal(a->kind, RM_KIND_POWER_SUPPLY);
    assert_int_equal(a->id, 4 * 256);
    assert_int_equal(b->id, 4 * 256 + 1);
    assert_int_equal(b->port, 1);
    assert_int_equal(b->source_ipv4, 0x0A1E0100);
    assert_int_equal(b->period_turns, 24);
    assert_int_equal(b->format, 0);
    assert_int_equal(b->turn_offset, 0);
    assert_false(b->mirror.present);
    assert_true(a->follows && b->follows);
    assert_int_equal(a->lane_count, 12);
    check_lane(&a->lane[RM_SUPPLY_LANE_SEQUENCE], "sequence", "", RM_LANE_I32, RM_REDUCE_LAST);
    check_lane(&a->lane[RM_SUPPLY_LANE_STATE], "state", "bits", RM_LANE_I32, RM_REDUCE_OR);
    check_lane(&a->lane[2], "ch_s03_01", "A", RM_LANE_F32, RM_REDUCE_FIR);
    check_lane(&a->lane[11], "ch_s03_10", "A", RM_LANE_F32, RM_REDUCE_FIR);
    assert_int_equal(b->lane_count, 3);
    check_lane(&b->lane[2], "cv_s03", "mA", RM_LANE_F32, RM_REDUCE_FIR);
    /* They come to the port's own UDP port, so the port takes it. */
    assert_int_equal(config->port[1].port.claim_count, 1);
    assert_int_equal(config->port[1].port.claim[0], 4660);
    rm_config_free(config);
}

/* Names of lanes that a supply's name cannot give. */
static void lanes_by_number(void **state) {
    static char const *const names[][2] = {
        {"a/x", "b/x"}, {"a/sequence", "b"}, {"b", "state"}, {"a", "ps/a_name_of_16_byt"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char yaml[2048];
        snprintf(yaml, sizeof yaml,
                 BEFORE SETPOINTS "chains:\n  - {" CHAIN ", supplies: [{name: %s, unit: A, limits: [-1, 1], slew: 1}, "
                                  "{name: %s, unit: V, limits: [-1, 1], slew: 1}]}\n",
                 names[i][0], names[i][1]);
        struct rm_config *const config = load_config(*state, yaml);
        struct rm_config_instrument const *const instrument = &config->instrument[1];
        assert_string_equal(instrument->name, "c");
        assert_string_equal(instrument->lane[2].name, "i01");
        assert_string_equal(instrument->lane[3].name, "i02");
        assert_string_equal(instrument->lane[3].unit, "V");
        rm_config_free(config);
    }
    struct rm_config *const config =
        load_config(*state, BEFORE SETPOINTS "chains:\n  - {" CHAIN
                                             ", supplies: [{name: a/, count: 12, unit: A, limits: [-1, 1], slew: 1}, "
                                             "{name: b/12, unit: V, limits: [-1, 1], slew: 1}]}\n");
    assert_string_equal(config->instrument[1].lane[2].name, "01");
    assert_string_equal(config->instrument[2].lane[2].name, "i11");
    assert_string_equal(config->instrument[2].lane[4].name, "i13");
    rm_config_free(config);
}

/* 1248 supplies: each chain answers in two datagrams, of ten and of three. */
static void as_many_as_a_ring_has(void **state) {
    struct rm_config *const config = load_config(
        *state, BEFORE SETPOINTS "chains:\n  - {name: c, count: 96, id: 1, port: link, address: 10.30.0.1, supplies: ["
                                 "{name: \"ch_{chain}_\", count: 8, unit: A, limits: [-10, 10], slew: 20}, "
                                 "{name: \"cv_{chain}_\", count: 5, unit: A, limits: [-10, 10], slew: 20}]}\n");
    assert_int_equal(config->chain_count, 96);
    assert_int_equal(config->supply_count, 1248);
    assert_int_equal(config->instrument_count, 1 + 192);
    for (uint32_t i = 0; i < 96; i++) {
        struct rm_config_chain const *const chain = &config->chain[i];
        assert_int_equal(chain->supply_count, 13);
        assert_int_equal(chain->first_supply, 13 * i);
        assert_int_equal(chain->first_instrument, 1 + 2 * i);
        assert_int_equal(config->instrument[1 + 2 * i].lane_count, 12);
        assert_int_equal(config->instrument[2 + 2 * i].lane_count, 5);
        assert_int_equal(config->instrument[2 + 2 * i].source_ipv4, 0x0A1E0001 + i);
    }
    assert_string_equal(config->supply[1247].name, "cv_96_05");
    assert_string_equal(config->instrument[192].lane[4].name, "cv_96_05");
    rm_config_free(config);
}

/* A server may have nothing to read but what its supplies say. */
static void no_instruments_but_answers(void **state) {
    struct rm_config *const config =
        load_config(*state, MACHINE "ports:\n" LINK
                                    "roles:\n  - {role: receive, ports: [link], core: @}\n" TRANSMIT SETPOINTS CHAINS);
    assert_int_equal(config->instrument_count, 1);
    assert_true(config->instrument[0].follows);
    rm_config_free(config);
}

/* Ports that have no exception path, or whose only ring it might take: there `answer` says where setpoints come from,
 * and nothing more. */
static void ports_and_their_exception_paths(void **state) {
    static struct {
        char const *port;
        bool exception_path;
    } const ports[] = {{"kind: ring", false},
                       {"kind: \"null\"", false},
                       {"kind: af_xdp, interface: veth0", false},
                       {"kind: memif, socket: /run/l.sock", false},
                       {"kind: memif, socket: /run/l.sock, role: client", false},
                       {"kind: tap, interface: rm1", false},
                       {"kind: vhost, socket: /run/v.sock", false},
                       {"kind: virtio_user, socket: /run/v.sock", false},
                       {"kind: af_packet, interface: veth0", true},
                       {"kind: af_packet, interface: veth0, kernel_interface: rm0", true},
                       {"kind: pci, device: \"0000:03:00.0\"", true}};
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        char yaml[1024];
        snprintf(yaml, sizeof yaml,
                 MACHINE "ports:\n" RING
                         "  - {name: link, %s, answer: 10.30.0.250}\n" INSTRUMENTS ROLES SETPOINTS CHAINS,
                 ports[i].port);
        struct rm_config *const config = load_config(*state, yaml);
        assert_int_equal(config->port[1].answer_ipv4, 0x0A1E00FA);
        assert_int_equal(config->port[1].port.exception_path, ports[i].exception_path);
        rm_config_free(config);
    }
}

#define WITH_SETPOINTS(setpoints) BEFORE "setpoints: {" setpoints "}\n" CHAINS

static void setpoints(void **state) {
    static struct wrong_yaml const wrong[] = {
        {BEFORE CHAINS, "11:3: chains: nothing says how often setpoints are sent to them, expected the key "
                        "\"setpoints\" too, such as setpoints: {period_turns: 12}"},
        {BEFORE SETPOINTS, "10:12: setpoints: there are no chains of supplies to send them to, expected the key "
                           "\"chains\" too, or take this one out"},
        {WITH_SETPOINTS("phase_turns: 3"),
         "10:12: setpoints: the key \"period_turns\" is missing, expected a whole number from 0 to 4294967295"},
        {WITH_SETPOINTS("period_turns: 0"), "10:27: setpoints.period_turns: found 0, expected 1 to 65536 turns"},
        {WITH_SETPOINTS("period_turns: 65537"),
         "10:27: setpoints.period_turns: found 65537, expected 1 to 65536 turns"},
        {WITH_SETPOINTS("period_turns: 12, phase_turns: 12"),
         "10:44: setpoints.phase_turns: found 12, expected 0 to 11: less than period_turns"},
        {WITH_SETPOINTS("period_turns: 12, lost_cycles: 1"),
         "10:44: setpoints.lost_cycles: found 1, expected 2 to 10000 cycles"},
        {WITH_SETPOINTS("period_turns: 12, lost_cycles: 10001"),
         "10:44: setpoints.lost_cycles: found 10001, expected 2 to 10000 cycles"},
        {WITH_SETPOINTS("period_turns: 12, lead: operator"), "10:37: setpoints.lead: found \"operator\", expected the "
                                                             "name of an application, whose setpoint vectors send the "
                                                             "setpoints at once"},
        {WITH_SETPOINTS("period_turn: 12"), "10:13: setpoints: unknown key \"period_turn\", expected one of: "
                                            "period_turns, phase_turns, lead, lost_cycles, "
                                            "terms (did you mean \"period_turns\"?)"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void names_and_numbers(void **state) {
    static struct wrong_yaml const wrong[] = {
        {BEFORE SETPOINTS "chains: []\n", "11:9: chains: found a list of 0, expected a list of 1 to 128 entries"},
        {ONE_CHAIN("name: C, id: 1, port: link, address: 10.30.0.1"),
         "12:12: chains[0].name: found \"C\", expected lower-case letters, digits, _ and -"},
        {ONE_CHAIN("name: a23456789012345678901234, count: 2, id: 1, port: link, address: 10.30.0.1"),
         "12:12: chains[0].name: \"a23456789012345678901234\" and a number of 2 digits are 26 characters, expected at "
         "most 24"},
        {TWO_CHAINS(CHAIN, "name: c, id: 2, port: link, address: 10.30.0.2"),
         "13:12: chains[1].name: \"c\" is already the name of a chain of chains[0], expected one of its own"},
        {ONE_CHAIN("name: bpm01, id: 2, port: link, address: 10.30.0.2"),
         "12:12: chains[0].name: its answers would be an instrument \"bpm01\", as instruments[0] is, expected another "
         "name"},
        {ONE_CHAIN("name: c, id: 0, port: link, address: 10.30.0.1"),
         "12:19: chains[0].id: found 0, expected 1 to 16383"},
        {ONE_CHAIN("name: c, id: 16384, port: link, address: 10.30.0.1"),
         "12:19: chains[0].id: found 16384, expected 1 to 16383"},
        {TWO_CHAINS(CHAIN, "name: d, id: 1, port: link, address: 10.30.0.2"),
         "13:19: chains[1].id: id 1 is already that of chain \"c\" (chains[0]), expected one of its own"},
        {ONE_CHAIN("name: c, count: 0, id: 1, port: link, address: 10.30.0.1"),
         "12:22: chains[0].count: found 0, expected 1 to 128: at most 128 chains in all"},
        {TWO_CHAINS(CHAIN, "name: d, count: 128, id: 2, port: link, address: 10.30.0.2"),
         "13:22: chains[1].count: found 128, expected 1 to 127: at most 128 chains in all"},
        {ONE_CHAIN("name: c, count: 2, id: 16383, port: link, address: 10.30.0.1"),
         "12:22: chains[0].count: ids would go from 16383 to 16384, expected up to 16383"},
        {ONE_CHAIN("name: c, count: 3, id: 1, port: link, address: 223.255.255.254"),
         "12:22: chains[0].count: addresses would go beyond 223.255.255.255, expected at most 2 chains from "
         "223.255.255.254 on"},
        {ONE_CHAIN("name: c, count: 3, id: 1, port: link, address: 10.30.0.1, mac: \"02:00:0a:ff:ff:fe\""),
         "12:22: chains[0].count: MAC addresses would go beyond 02:00:0a:ff:ff:ff, expected at most 2 chains from "
         "\"02:00:0a:ff:ff:fe\" on"},
        {ONE_CHAIN(CHAIN ", mac: \"02:00:0a:1e:00\""),
         "12:59: chains[0].mac: found \"02:00:0a:1e:00\", expected the MAC address of one controller, such as "
         "\"02:00:0a:1e:00:01\"; without this key frames are broadcast"},
        {ONE_CHAIN(CHAIN ", mac: \"02-00:0a:1e:00:01\""),
         "12:59: chains[0].mac: found \"02-00:0a:1e:00:01\", expected the MAC address of one controller, such as "
         "\"02:00:0a:1e:00:01\"; without this key frames are broadcast"},
        {ONE_CHAIN(CHAIN ", mac: \"01:00:5e:00:00:01\""),
         "12:59: chains[0].mac: found \"01:00:5e:00:00:01\", expected the MAC address of one controller, such as "
         "\"02:00:0a:1e:00:01\"; without this key frames are broadcast"},
        {ONE_CHAIN(CHAIN ", mac: \"00:00:00:00:00:00\""),
         "12:59: chains[0].mac: found \"00:00:00:00:00:00\", expected the MAC address of one controller, such as "
         "\"02:00:0a:1e:00:01\"; without this key frames are broadcast"},
        {ONE_CHAIN(CHAIN ", mac: \"02:00:0a:1e:00:0g\""),
         "12:59: chains[0].mac: found \"02:00:0a:1e:00:0g\", expected the MAC address of one controller, such as "
         "\"02:00:0a:1e:00:01\"; without this key frames are broadcast"},
        {ONE_CHAIN(CHAIN ", udp_port: 0"), "12:64: chains[0].udp_port: found 0, expected 1 to 65535"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define ON_PORT(port) MACHINE "ports:\n" RING "  - {name: link, " port "}\n" INSTRUMENTS ROLES SETPOINTS CHAINS
#define BESIDE(port, instrument)                                                                                       \
    MACHINE PORTS "instruments:\n  - {name: x, kind: bpm, id: 9, port: " port ", source: " instrument                  \
                  "}\n" ROLES SETPOINTS CHAINS

static void places(void **state) {
    static struct wrong_yaml const wrong[] = {
        {ONE_CHAIN("name: c, id: 1, port: lnk, address: 10.30.0.1"),
         "12:28: chains[0].port: found \"lnk\", expected the name of a port (did you mean \"link\"?)"},
        {ON_PORT("kind: udp, address: 127.0.0.1:4660"),
         "12:28: chains[0].port: port \"link\" is of kind udp, which sends no frames; expected one of kind memif, "
         "af_packet, af_xdp, pci, tap, virtio_user, vhost, ring or null"},
        {ON_PORT("kind: pcap, file: /x"),
         "12:28: chains[0].port: port \"link\" is of kind pcap, which sends no frames; expected one of kind memif, "
         "af_packet, af_xdp, pci, tap, virtio_user, vhost, ring or null"},
        {ON_PORT("kind: memif, socket: /run/l.sock"),
         "12:28: chains[0].port: setpoints would have no source address: port \"link\" lacks the key \"answer\", "
         "expected there the IPv4 address of the server on this port, such as answer: 10.30.0.250"},
        {ON_PORT("kind: memif, socket: /run/l.sock, answer: 10.30.0.250, kernel_interface: rm0"),
         "12:28: chains[0].port: port \"link\" has a kernel_interface, which may take the only transmit ring of a port "
         "of "
         "kind memif, so that no setpoint leaves; take that key out there, or put the chains on another port"},
        {MACHINE "ports:\n" RING "  - {name: link, kind: ring, answer: 10.30.0.250}\n" INSTRUMENTS
                 "roles:\n  - {role: receive, ports: [ring, link], core: @}\n",
         "4:38: ports[1].answer: a port of kind ring answers nobody and has no chains whose setpoints would come from "
         "there, take this key out"},
        {ONE_CHAIN("name: c, id: 1, port: link, address: 10.30.0"),
         "12:43: chains[0].address: found \"10.30.0\", expected the IPv4 address of the chain's controller, such as "
         "10.30.0.1"},
        {ONE_CHAIN("name: c, id: 1, port: link, address: 224.0.0.1"),
         "12:43: chains[0].address: found \"224.0.0.1\", expected the IPv4 address of the chain's controller, such as "
         "10.30.0.1"},
        {ONE_CHAIN("name: c, id: 1, port: link, address: 10.30.0.250"),
         "12:43: chains[0].address: 10.30.0.250 is the server's own address on port \"link\" (its \"answer\"), "
         "expected another"},
        {TWO_CHAINS(CHAIN, "name: d, id: 2, port: link, address: 10.30.0.1"),
         "13:43: chains[1].address: 10.30.0.1 on port \"link\" is already chain \"c\" (chains[0]), expected one of its "
         "own"},
        {BESIDE("link", "10.30.0.1"),
         "12:43: chains[0].address: 10.30.0.1 on port \"link\" is already instrument \"x\" "
         "(instruments[0]), expected an address of its own"},
        {BESIDE("ring", "10.20.0.1, mirror: {port: link, source: 10.30.0.1}"),
         "12:43: chains[0].address: 10.30.0.1 on port \"link\" is already instrument \"x\" (instruments[0]), expected "
         "an address of its own"},
        {MACHINE PORTS
         "instruments:\n  - {name: x, kind: bpm, id: 9, port: link, source: 10.30.0.9, format: vendor}\n" ROLES
             SETPOINTS CHAINS "formats:\n  - {name: vendor, preset: libera_grouping, udp_port: 4660}\n",
         "12:28: chains[0].port: formats \"vendor\" and \"native\" both come to UDP port 4660 of port \"link\", "
         "expected a udp_port of its own for one of them"},
        {MACHINE "ports:\n" LINK "roles:\n  - {role: receive, ports: [link], core: @}\n" TRANSMIT SETPOINTS
                 "chains:\n  - {" CHAIN ", readback: false, supplies: [{" SUPPLY "}]}\n",
         "1:1: the key \"instruments\" is missing, expected a list of those that send, \"chains\" of supplies that "
         "answer, or a role that generates or forwards"},
    };
    EXPECT_ERRORS(*state, wrong);
    rm_config_free(load_config(*state, BESIDE("ring", "10.30.0.1")));
}

/* One supply with line 17 to itself. */
#define ONE_SUPPLY(supply)                                                                                             \
    BEFORE SETPOINTS "chains:\n  - name: c\n    id: 1\n    port: link\n    address: 10.30.0.1\n    supplies:\n"        \
                     "      - {" supply "}\n"
#define TWO_SUPPLIES(first, second) ONE_SUPPLY(first) "      - {" second "}\n"
#define REST ", unit: A, limits: [-10, 10], slew: 20"

static void supply_names(void **state) {
    static struct wrong_yaml const wrong[] = {
        {ONE_SUPPLY("name: Q1" REST),
         "17:16: chains[0].supplies[0].name: found \"Q1\", expected lower-case letters, digits, _ and -, with single / "
         "between parts, and {chain} for the chain's number"},
        {ONE_SUPPLY("name: /q1" REST), "17:16: chains[0].supplies[0].name: found \"/q1\", expected lower-case letters, "
                                       "digits, _ and -, with single / "
                                       "between parts, and {chain} for the chain's number"},
        {ONE_SUPPLY("name: q1/" REST), "17:16: chains[0].supplies[0].name: found \"q1/\", expected lower-case letters, "
                                       "digits, _ and -, with single / "
                                       "between parts, and {chain} for the chain's number"},
        {ONE_SUPPLY("name: a//b" REST),
         "17:16: chains[0].supplies[0].name: found \"a//b\", expected lower-case letters, digits, _ and -, with single "
         "/ between parts, and {chain} for the chain's number"},
        {ONE_SUPPLY("name: \"q{chian}\"" REST),
         "17:16: chains[0].supplies[0].name: found \"q{chian}\", expected lower-case letters, digits, _ and -, with "
         "single / between parts, and {chain} for the chain's number"},
        {ONE_SUPPLY("name: \"q{chain}\"" REST),
         "17:16: chains[0].supplies[0].name: found \"q{chain}\", but this chain has no number, for it has no "
         "\"count\"; expected the name without {chain}"},
        {ONE_SUPPLY("name: a234567890123456789012345678901234567890123456789012345678901234, count: 3" REST),
         "17:16: chains[0].supplies[0].name: \"a234567890123456789012345678901234567890123456789012345678901234\" with "
         "its numbers is longer than 64 characters, expected a shorter name"},
        {TWO_SUPPLIES("name: q1" REST, "name: q1" REST), "18:16: chains[0].supplies[1].name: \"q1\" is already the "
                                                         "name of a supply of chain \"c\", expected one of its "
                                                         "own"},
        {BEFORE SETPOINTS "chains:\n  - {name: c, count: 2, id: 1, port: link, address: 10.30.0.1, supplies: [{" SUPPLY
                          "}]}\n",
         "12:82: chains[0].supplies[0].name: \"q1\" is already the name of a supply of chain \"c01\", expected one of "
         "its own: {chain} in it stands for the chain's number"},
        {ONE_SUPPLY("name: q, count: 0" REST), "17:26: chains[0].supplies[0].count: found 0, expected 1 to 40"},
        {ONE_SUPPLY("name: q, count: 41" REST), "17:26: chains[0].supplies[0].count: the chain would have 41 supplies, "
                                                "expected at most 40: put the others into another chain"},
        {TWO_SUPPLIES("name: q, count: 40" REST, "name: r" REST),
         "18:9: chains[0].supplies[1]: the chain would have 41 supplies, expected at most 40: put the others into "
         "another chain"},
        {BEFORE SETPOINTS "chains:\n  - {name: c, count: 52, id: 1, port: link, address: 10.30.0.1, readback: false, "
                          "supplies: [{name: \"q{chain}_\", count: 40" REST "}]}\n",
         "12:93: chains[0].supplies[0]: with those of chain \"c52\" there are more than 2048 supplies, expected "
         "fewer"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define WITH(rest) ONE_SUPPLY("name: q1, unit: A, " rest)

static void supply_values(void **state) {
    static struct wrong_yaml const wrong[] = {
        {WITH("slew: 1"), "17:9: chains[0].supplies[0]: the key \"limits\" is missing, expected a list of 2 entries"},
        {WITH("limits: [1], slew: 1"),
         "17:37: chains[0].supplies[0].limits: found a list of 1, expected a list of 2 entries"},
        {WITH("limits: [1, 1], slew: 1"), "17:37: chains[0].supplies[0].limits: found [1, 1], expected the lower one "
                                          "first, and another above it"},
        {WITH("limits: [10, -10], slew: 1"), "17:37: chains[0].supplies[0].limits: found [10, -10], expected the lower "
                                             "one first, and another above it"},
        {WITH("limits: [0, .inf], slew: 1"),
         "17:41: chains[0].supplies[0].limits[1]: found \".inf\", expected a number"},
        {WITH("limits: [0, 1e39], slew: 1"),
         "17:37: chains[0].supplies[0].limits: found [0, 9.9999999999999994e+38], expected limits with 32-bit floating "
         "point numbers between them: setpoints are sent as such"},
        {WITH("limits: [16777216.25, 16777216.5], slew: 1, safe: 16777216.25"),
         "17:37: chains[0].supplies[0].limits: found [16777216.25, 16777216.5], expected limits with 32-bit floating "
         "point numbers between them: setpoints are sent as such"},
        {WITH("limits: [1, 2], slew: 1"),
         "17:9: chains[0].supplies[0]: 0 is not within the limits [1, 2], expected the key \"safe\" with the value to "
         "go to when no setpoint arrives"},
        {WITH("limits: [1, 2], slew: 1, safe: 2.5"),
         "17:60: chains[0].supplies[0].safe: found 2.5, expected a value within the limits, 1 to 2"},
        {WITH("limits: [1, 2], slew: 1, safe: 0.5"),
         "17:60: chains[0].supplies[0].safe: found 0.5, expected a value within the limits, 1 to 2"},
        {WITH("limits: [-1, 1], slew: 0"),
         "17:52: chains[0].supplies[0].slew: found 0, expected more than 0 A per second"},
        {WITH("limits: [-1, 1], slew: fast"), "17:52: chains[0].supplies[0].slew: found \"fast\", expected a number"},
        {WITH("limits: [-1, 1], slew: 1, safe_slew: 0"),
         "17:66: chains[0].supplies[0].safe_slew: found 0, expected more than 0, up to the slew of 1 A per second"},
        {WITH("limits: [-1, 1], slew: 1, safe_slew: 2"),
         "17:66: chains[0].supplies[0].safe_slew: found 2, expected more than 0, up to the slew of 1 A per second"},
        {WITH("limits: [-1, 1], slew: 1, tolerance: 0"),
         "17:66: chains[0].supplies[0].tolerance: found 0, expected more than 0 A"},
        {WITH("limits: [-1, 1], slew: 1, settle_cycles: 1000001"),
         "17:70: chains[0].supplies[0].settle_cycles: found 1000001, expected 0 to 1000000"},
        {WITH("limits: [-1, 1], slew: 1, convert: {unit: mT}"),
         "17:64: chains[0].supplies[0].convert: the key \"polynomial\" is missing, expected a list of 1 to 4 entries"},
        {WITH("limits: [-1, 1], slew: 1, convert: {unit: mT, polynomial: [1, 2, 3, 4, 5]}"),
         "17:87: chains[0].supplies[0].convert.polynomial: found a list of 5, expected a list of 1 to 4 entries"},
        {WITH("limits: [-1, 1], slew: 1, convert: {unit: mT, polynomial: [3]}"),
         "17:87: chains[0].supplies[0].convert.polynomial: it does not rise or fall all the way from -1 to 1 A, so "
         "there is no way back; expected coefficients c0, c1, … of c0 + c1·x + …, monotone within the limits"},
        {WITH("limits: [-1, 1], slew: 1, convert: {unit: mT, polynomial: [0, 1, 1]}"),
         "17:87: chains[0].supplies[0].convert.polynomial: it does not rise or fall all the way from -1 to 1 A, so "
         "there is no way back; expected coefficients c0, c1, … of c0 + c1·x + …, monotone within the limits"},
        {WITH("limits: [-1, 1], slew: 1, convert: {unit: a_unit_of_16_byt, polynomial: [1]}"),
         "17:71: chains[0].supplies[0].convert.unit: found \"a_unit_of_16_byt\", expected text of 1 to 15 bytes"},
        {ONE_SUPPLY("name: q1, unit: a_unit_of_16_byt, limits: [-1, 1], slew: 1"),
         "17:26: chains[0].supplies[0].unit: found \"a_unit_of_16_byt\", expected text of 0 to 15 bytes"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void room_for_answers(void **state) {
    static struct wrong_yaml const wrong[] = {
        {BEFORE SETPOINTS "chains:\n  - {name: a2345678901234567890123, id: 1, port: link, address: 10.30.0.1, "
                          "supplies: [{name: q, count: 11" REST "}]}\n",
         "12:12: chains[0].name: \"a2345678901234567890123\" has no room for the \"_a\" of its answers, expected at "
         "most 22 characters"},
        {BEFORE SETPOINTS "chains:\n  - {name: c_b, id: 1, port: link, address: 10.30.0.1, supplies: [{" SUPPLY "}]}\n"
                          "  - {name: c, id: 2, port: link, address: 10.30.0.2, supplies: [{name: r, count: 11" REST
                          "}]}\n",
         "13:12: chains[1].name: its answers would be an instrument \"c_b\", as those of chain \"c_b\" (chains[0]) "
         "are, "
         "expected another name"},
        {MACHINE PORTS
         "instruments:\n  - {name: x, kind: bpm, id: 1, count: 1023, port: ring, source: 10.20.0.1}\n" ROLES SETPOINTS
         "chains:\n  - {" CHAIN ", supplies: [{name: q, count: 11" REST "}]}\n",
         "12:5: chains[0]: with the answers of chain \"c\" there are more than 1024 instruments, expected fewer, or "
         "readback: false"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define WITH_ROLES(roles)                                                                                              \
    MACHINE PORTS INSTRUMENTS "roles:\n  - {role: receive, ports: [ring, link], core: @}\n" roles SETPOINTS CHAINS

static void roles(void **state) {
    static struct wrong_yaml const wrong[] = {
        {WITH_ROLES(""), "8:3: roles: no role sends the setpoints of chain \"c\", expected {role: transmit, core: …}"},
        {WITH_ROLES(TRANSMIT TRANSMIT), "10:12: roles[2].role: roles[1] is transmit already, expected only one"},
        {WITH_ROLES("  - {role: transmit, core: @, ports: [link]}\n"),
         "9:38: roles[1].ports: a role transmit polls no port, take this key out"},
        {WITH_ROLES("  - {role: transmit, core: @, application: x}\n"),
         "9:44: roles[1].application: a role transmit has no such key, take it out; it belongs to a role application"},
        {MACHINE PORTS INSTRUMENTS ROLES, "9:12: roles[1].role: there are no chains of supplies to transmit to, "
                                          "expected the key \"chains\", or take this role out"},
    };
    EXPECT_ERRORS(*state, wrong);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_config_file, remove_config_file)
    struct CMUnitTest const tests[] = {
        TEST(nothing_of_it),
        TEST(the_least),
        TEST(all_keys),
        TEST(answers_are_instruments),
        TEST(lanes_by_number),
        TEST(as_many_as_a_ring_has),
        TEST(no_instruments_but_answers),
        TEST(ports_and_their_exception_paths),
        TEST(setpoints),
        TEST(names_and_numbers),
        TEST(places),
        TEST(supply_names),
        TEST(supply_values),
        TEST(room_for_answers),
        TEST(roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
