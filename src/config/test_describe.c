// SPDX-License-Identifier: Apache-2.0
/* What people are told of chains, supplies and applications, and what they are asked to think about. */
#include "config/config.h"
#include "config/test_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE "workspace: demo\nturn_rate_hz: 1200000\n"
#define PORTS                                                                                                          \
    "ports:\n  - {name: ring, kind: memif, socket: /run/r.sock}\n"                                                     \
    "  - {name: link, kind: memif, socket: /run/l.sock, answer: 10.30.0.250}\n"
#define INSTRUMENTS "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1}\n"
#define ROLES "roles:\n  - {role: receive, ports: [ring, link], core: @}\n  - {role: transmit, core: @}\n"
#define SETPOINTS "setpoints: {period_turns: 12}\n"
#define CHAIN                                                                                                          \
    "chains:\n  - {name: c, id: 1, port: link, address: 10.30.0.1, "                                                   \
    "supplies: [{name: ps/q, count: 2, unit: A, limits: [-1, 1], slew: 1000}]}\n"

enum { TEXT_BYTES = 8192 };

static void describe(struct config_file const *file, char const *yaml, char text[TEXT_BYTES]) {
    struct rm_config *const config = load_config(file, yaml);
    FILE *const out = fmemopen(text, TEXT_BYTES, "w");
    assert_non_null(out);
    rm_config_describe(config, out);
    assert_int_equal(fclose(out), 0);
    rm_config_free(config);
}

static void chains_and_applications(void **state) {
    char text[TEXT_BYTES];
    describe(
        *state,
        MACHINE PORTS INSTRUMENTS ROLES
        "  - {role: application, core: @, application: kick}\n"
        "setpoints: {period_turns: 12, phase_turns: 10, lead: kick}\n"
        "chains:\n"
        "  - {name: c, count: 3, id: 1, port: link, address: 10.30.0.1, mac: \"02:00:0a:1e:00:01\", supplies: [\n"
        "     {name: \"ps/h{chain}_\", count: 10, unit: A, limits: [-10, 10], slew: 2000, safe_slew: 5,\n"
        "      convert: {unit: µrad, polynomial: [0, 12.5]}},\n"
        "     {name: \"ps/v{chain}_\", count: 1, unit: A, limits: [1, 2], slew: 1, safe: 1.5, tolerance: 0.25}]}\n"
        "  - {name: bend, id: 9, port: link, address: 10.30.0.9, udp_port: 5000,\n"
        "     supplies: [{name: ps/bend, unit: kA, limits: [0, 1], slew: 1}]}\n"
        "applications:\n"
        "  - {name: ramp, code: ramp, user: rm-ramp, supplies: [\"ps/h0*\"], settings: [{name: rate, value: 0.5},\n"
        "     {name: gain, value: 2}]}\n"
        "  - {name: kick, code: /opt/kick.so, hosted: true, inputs: [c01_a/raw, c01_b/raw, c02_a/raw, c02_b/raw, "
        "c03_a/raw], supplies: [\"ps/v*\"], stop: ramp}\n",
        text);
    char const *const begin = strstr(text, "setpoints: ");
    char *const end = strstr(text, "  core ");
    assert_non_null(begin);
    assert_non_null(end);
    *end = '\0';
    assert_string_equal(
        begin,
        "setpoints: every 12 turns (100 kHz), when kick has a vector, at the latest 10 turns after the turn that they "
        "are "
        "of; a chain is lost after 10 cycles without an answer\n"
        "chains: 4\n"
        "  c01 … c03: id 1–3, 10.30.0.1 … 10.30.0.3 UDP port 4662, 02:00:0a:1e:00:01 … on link, 11 supplies, answer "
        "c01_a/raw to c01_b/raw\n"
        "  bend: id 9, 10.30.0.9 UDP port 5000, broadcast on link, 1 supply, answer bend/raw\n"
        "supplies: 34\n"
        "  30    ps/h01_01 … ps/h03_10, set by ramp\n"
        "        -10 to 10 A, 2000 A/s (0.02 A a cycle); safe at 0 A, by 5 A/s; answers within 0.2 A after 100 cycles; "
        "-125 to 125 µrad\n"
        "  3     ps/v01_01 … ps/v03_01, set by kick\n"
        "        1 to 2 A, 1 A/s (1e-05 A a cycle); safe at 1.5 A, by 1 A/s; answers within 0.25 A after 100 cycles\n"
        "  1     ps/bend, set by operator\n"
        "        0 to 1 kA, 1 kA/s (1e-05 kA a cycle); safe at 0 kA, by 1 kA/s; answers within 0.01 kA after 100 "
        "cycles\n"
        "applications: 2 and the operator\n"
        "  operator         sets 1: ps/bend\n"
        "  ramp             sets 30: ps/h01_01 … ps/h03_10; code ramp, a process of its own as user rm-ramp\n"
        "        every 12 turns; vectors are fresh for 240 turns, it has stopped after 10 steps without one: its "
        "supplies "
        "stay\n"
        "        begins with rate = 0.5, gain = 2\n"
        "  kick             sets 3: ps/v01_01 … ps/v03_01; code /opt/kick.so, hosted\n"
        "        every 12 turns, from c01_a/raw, c01_b/raw, c02_a/raw, c02_b/raw … (5), waits 24 turns for them; "
        "vectors "
        "are fresh for 240 turns, it has stopped after 10 steps without one: its supplies go to their safe values\n"
        "roles: 4\n");
    *end = ' ';
    assert_non_null(strstr(text, "instruments: 8, 7 of them the answers of chains, more than half of"));
    assert_non_null(strstr(text, " application kick\n"));
    assert_non_null(strstr(text, ", setpoints come from 10.30.0.250\n"));
    assert_null(strstr(text, "to think about"));
}

static void expect_remark(struct config_file const *file, char const *yaml, char const *expected) {
    char text[TEXT_BYTES];
    describe(file, yaml, text);
    char const *const remarks = strstr(text, "to think about:\n");
    assert_string_equal(remarks == NULL ? "" : remarks, expected);
}

/* Port, formats, instruments: a server of nothing else. */
#define DATAGRAMS(port, rest)                                                                                          \
    "workspace: demo\nports:\n  - {name: hall, " port "}\n" rest "roles:\n  - {role: receive, ports: [hall], core: "   \
    "@}\n"
#define LIBERA(count)                                                                                                  \
    "instruments:\n  - {name: b, kind: bpm, count: " count ", id: 0, port: hall, source: 10.20.0.1, format: "          \
    "libera_grouping}\n"

static void datagrams_that_do_not_fit(void **state) {
    struct config_file const *const file = *state;
    char const *const long_datagram =
        "to think about:\n  a datagram of format libera_grouping from b001 … has 2688 bytes, 2730 with its headers, "
        "and "
        "longest_frame of port hall is 1518: it would not be received; longest_frame: 2730 holds it\n";
    expect_remark(file, DATAGRAMS("kind: af_packet, interface: veth0", LIBERA("168")), long_datagram);
    expect_remark(file, DATAGRAMS("kind: udp, address: 127.0.0.1:2048", LIBERA("168")), long_datagram);
    expect_remark(
        file, DATAGRAMS("kind: af_packet, interface: veth0, longest_frame: 2729", LIBERA("168")),
        "to think about:\n  a datagram of format libera_grouping from b001 … has 2688 bytes, 2730 with its "
        "headers, and longest_frame of port hall is 2729: it would not be received; longest_frame: 2730 holds "
        "it\n");
    expect_remark(file, DATAGRAMS("kind: af_packet, interface: veth0, longest_frame: 2730", LIBERA("168")), "");
    expect_remark(file, DATAGRAMS("kind: af_packet, interface: veth0", LIBERA("92")), "");
    expect_remark(file, DATAGRAMS("kind: memif, socket: /run/r.sock", LIBERA("168")), ""); /* it comes in fragments */
    expect_remark(file,
                  DATAGRAMS("kind: memif, socket: /run/r.sock, longest_frame: 64",
                            "instruments:\n  - {name: b, kind: bpm, id: 1, port: hall, source: 10.20.0.1}\n"),
                  "to think about:\n  a datagram of format native from b has 48 bytes, 90 with its headers, and "
                  "longest_frame of port hall is 64: it would not be received; longest_frame: 90 holds it\n");
}

static void lanes_that_overlap(void **state) {
    expect_remark(
        *state,
        DATAGRAMS("kind: memif, socket: /run/r.sock",
                  "formats:\n  - {name: odd, layout: {counter: {at: 0, type: u32}, lanes: [{name: x, unit: "
                  "nm, at: 4, type: i32}, {name: y, unit: nm, at: 8, type: i32}, {name: z, unit: nm, at: 10, "
                  "type: i16}]}}\n"
                  "instruments:\n  - {name: b, kind: bpm, id: 1, port: hall, source: 10.20.0.1, format: odd}\n"),
        "to think about:\n  format odd: lanes y (bytes 8 to 11) and z (bytes 10 to 11) overlap; is one `at` "
        "wrong?\n");
}

#define COUNTED(type, period, other_period)                                                                            \
    DATAGRAMS(                                                                                                         \
        "kind: memif, socket: /run/r.sock",                                                                            \
        "formats:\n  - {name: short, layout: {counter: {at: 0, type: u16}, lanes: [{name: x, unit: nm, at: 4, "        \
        "type: i32}]}}\n"                                                                                              \
        "  - {name: other, udp_port: 4661, layout: {counter: {at: 0, type: " type                                      \
        "}, lanes: [{name: x, unit: nm, at: 8, "                                                                       \
        "type: i32}]}}\n"                                                                                              \
        "instruments:\n  - {name: a, kind: bpm, id: 1, port: hall, source: 10.20.0.1, format: short, "                 \
        "period_turns: " period "}\n"                                                                                  \
        "  - {name: b, kind: bpm, id: 2, port: hall, source: 10.20.0.2, format: other, period_turns: " other_period    \
        "}\n")

static void counters_that_do_not_go_together(void **state) {
    struct config_file const *const file = *state;
    expect_remark(file, COUNTED("u32", "1", "1"), "");
    expect_remark(file, COUNTED("u16", "1", "12"), "");
    expect_remark(file, COUNTED("u64", "5", "1"), ""); /* which tells the turn */
    expect_remark(file, COUNTED("u16", "2", "3"),
                  "to think about:\n  the counter of a begins again every 131072 turns, that of b, which sets the turn "
                  "clock, every 196608: no multiple, so the turns of the two go apart each time\n");
}

#define KICK(keys) "applications:\n  - {name: kick, code: kick, supplies: [ps/q01]" keys "}\n"

static void remarks(void **state) {
    struct config_file const *const file = *state;
    expect_remark(file, MACHINE PORTS INSTRUMENTS ROLES SETPOINTS CHAIN, "");
    expect_remark(file, MACHINE PORTS ROLES SETPOINTS CHAIN,
                  "to think about:\n  no instrument tells the turn: setpoints go by TAI\n");
    expect_remark(file,
                  MACHINE PORTS INSTRUMENTS "roles:\n  - {role: transmit, core: @}\n  - {role: receive, ports: [link], "
                                            "core: @}\n  - {role: receive, ports: [ring], core: @}\n" SETPOINTS CHAIN,
                  "to think about:\n  roles[1] publishes the turn clock, as the first receive role, but only chains "
                  "come to it: setpoints go by TAI; put a role that polls instruments before it\n");
    expect_remark(file,
                  MACHINE "ports:\n  - {name: ring, kind: memif, socket: /run/r.sock}\n"
                          "  - {name: link, kind: af_packet, interface: veth0, answer: 10.30.0.250}\n" INSTRUMENTS ROLES
                              SETPOINTS CHAIN "  - {name: d, id: 2, port: link, address: 10.30.0.2, readback: false, "
                          "supplies: [{name: d, unit: A, limits: [-1, 1], slew: 1}]}\n",
                  "to think about:\n  frames to 2 chains (c, …) are broadcast: a switch sends them to everybody; "
                  "\"mac\" says to whom\n"
                  "  chain d does not answer: a supply of it that does not obey is not noticed\n");
    expect_remark(file, MACHINE PORTS INSTRUMENTS ROLES SETPOINTS CHAIN KICK(", inputs: [bpm01/fast]"), "");
    expect_remark(file,
                  MACHINE PORTS INSTRUMENTS ROLES SETPOINTS CHAIN KICK(", inputs: [bpm01/fast], freshness_turns: 107"),
                  "to think about:\n  setpoint vectors of kick would always be too old: bpm01/fast comes 107 turns "
                  "after the turn "
                  "that it is of, and freshness_turns is 107\n");
    expect_remark(file,
                  MACHINE PORTS INSTRUMENTS ROLES SETPOINTS CHAIN KICK(", inputs: [bpm01/fast], deadline_turns: 121"),
                  "to think about:\n  kick waits 121 turns for a missing input, but is taken to have stopped after 120 "
                  "turns without a vector; a longer watchdog_cycles, or a shorter deadline_turns?\n");
    expect_remark(
        file, MACHINE PORTS INSTRUMENTS ROLES SETPOINTS CHAIN KICK(", watchdog_cycles: 9"),
        "to think about:\n  kick counts as stopped after 9 cycles without a vector, and has no core of its own: a "
        "pause of the host would stop it; watchdog_cycles: 10, or a core of its own?\n");
    expect_remark(file,
                  MACHINE PORTS INSTRUMENTS ROLES
                  "setpoints: {period_turns: 12, lead: kick}\n" CHAIN KICK(", period_turns: 36"),
                  "to think about:\n  kick leads only one cycle in 3: it is stepped every 36 turns, and setpoints go "
                  "out every 12\n");
    expect_remark(
        file,
        MACHINE PORTS INSTRUMENTS ROLES
        "setpoints: {period_turns: 12, phase_turns: 8, lead: kick}\n" CHAIN KICK(", inputs: [c/raw], period_turns: 12"),
        "to think about:\n  vectors of kick that come more than 8 turns after theirs go out a cycle later, and "
        "no feedback is made for a delay that comes and goes; it leads, so phase_turns may be near 12\n");
    expect_remark(
        file,
        MACHINE PORTS INSTRUMENTS ROLES
        "setpoints: {period_turns: 12, phase_turns: 9, lead: kick}\n" CHAIN KICK(", inputs: [c/raw], period_turns: 12"),
        "");
    char expected[256];
    snprintf(expected, sizeof expected,
             "to think about:\n  core %u is that of kick and of roles[0] (receive), which never sleeps\n", file->core);
    expect_remark(file, MACHINE PORTS INSTRUMENTS ROLES SETPOINTS CHAIN KICK(", core: @"), expected);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_config_file, remove_config_file)
    struct CMUnitTest const tests[] = {TEST(chains_and_applications), TEST(remarks), TEST(datagrams_that_do_not_fit),
                                       TEST(lanes_that_overlap), TEST(counters_that_do_not_go_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
