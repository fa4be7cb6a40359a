// SPDX-License-Identifier: Apache-2.0
/* Everything that can be wrong with a configuration, with the place and the words that come of it. */
#include "base/cores.h"
#include "config/config.h"
#include "config/test_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A right file in parts; a wrong one replaces some of them. Lines: 1, 2–3, 4–5, 6–7, from 8 on. */
#define MACHINE "workspace: demo\n"
#define PORTS "ports:\n  - {name: ring, kind: memif, socket: /run/r.sock, queues: 2}\n"
#define INSTRUMENTS "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1}\n"
#define ROLES "roles:\n  - {role: receive, ports: [ring], core: @}\n"

static void the_right_one_is_right(void **state) {
    struct config_file const *const file = *state;
    write_config(file, MACHINE PORTS INSTRUMENTS ROLES);
    struct rm_config *config;
    assert_int_equal(rm_config_load(file->path, &config, NULL), RM_OK);
    rm_config_free(config);
}

static void machine(void **state) {
    static struct wrong_yaml const wrong[] = {
        {"workspace: De/mo\n" PORTS INSTRUMENTS ROLES,
         "1:12: workspace: found \"De/mo\", expected lower-case letters, digits, _ and -"},
        {"workspace: \"a\\nb\\e[1m\"\n" PORTS INSTRUMENTS ROLES,
         "1:12: workspace: found \"a?b?[1m\", expected lower-case letters, digits, _ and -"},
        {"workspace: a23456789012345678901234x\n" PORTS INSTRUMENTS ROLES,
         "1:12: workspace: found \"a23456789012345678901234x\", expected text of 1 to 24 bytes"},
        {PORTS INSTRUMENTS ROLES, "1:1: the key \"workspace\" is missing, expected text of 1 to 24 bytes"},
        {MACHINE PORTS INSTRUMENTS ROLES "turn_rate_hz: 0\n",
         "8:15: turn_rate_hz: found 0 Hz, expected more than 0, up to 1e+08 Hz"},
        {MACHINE PORTS INSTRUMENTS ROLES "turn_rate_hz: -1\n",
         "8:15: turn_rate_hz: found -1 Hz, expected more than 0, up to 1e+08 Hz"},
        {MACHINE PORTS INSTRUMENTS ROLES "turn_rate_hz: 1.1e8\n",
         "8:15: turn_rate_hz: found 1.1e+08 Hz, expected more than 0, up to 1e+08 Hz"},
        {MACHINE PORTS INSTRUMENTS ROLES "turn_rate: 1157000\n",
         "8:1: unknown key \"turn_rate\", expected one of: workspace, turn_rate_hz, simulated_time, "
         "keep_after_stop, dpdk_telemetry, ports, "
         "instruments, buffers, "
         "turn_window, roles, spare_cores, formats, rates, calibration, polling, setpoints, standby, chains, "
         "applications, router, "
         "cameras "
         "(did you "
         "mean "
         "\"turn_rate_hz\"?)"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define ONE_PORT(port) MACHINE "ports:\n  - {" port "}\n" INSTRUMENTS ROLES
#define TWO_PORTS(first, second) MACHINE "ports:\n  - {" first "}\n  - {" second "}\n" INSTRUMENTS ROLES

static void ports(void **state) {
    static struct wrong_yaml const wrong[] = {
        {MACHINE "ports: []\n" INSTRUMENTS ROLES, "2:8: ports: found a list of 0, expected a list of 1 to 16 entries"},
        {ONE_PORT("name: ring, kind: memf, socket: /r"),
         "3:24: ports[0].kind: found \"memf\", expected one of: memif, af_packet, udp, af_xdp, pcap, ring, null, tap, "
         "virtio_user, vhost, pci (did you mean \"memif\"?)"},
        {ONE_PORT("name: Ring, kind: memif, socket: /r"),
         "3:12: ports[0].name: found \"Ring\", expected lower-case letters, digits, _ and -"},
        {TWO_PORTS("name: ring, kind: memif, socket: /r", "name: ring, kind: memif, socket: /s"),
         "4:12: ports[1].name: \"ring\" is already the name of ports[0], expected one of its own"},
        {ONE_PORT("name: ring, kind: memif"), "3:5: ports[0]: the key \"socket\" is missing, expected the path of its "
                                              "control socket, such as /run/ringmaster/demo.sock"},
        {ONE_PORT("name: ring, kind: af_packet"), "3:5: ports[0]: the key \"interface\" is missing, expected the "
                                                  "kernel's name of the interface, such as veth0"},
        {ONE_PORT("name: ring, kind: udp"), "3:5: ports[0]: the key \"address\" is missing, expected the address and "
                                            "UDP port to listen on, such as 127.0.0.1:4660"},
        {ONE_PORT("name: ring, kind: af_packet, interface: veth0, socket: /r"),
         "3:61: ports[0].socket: a port of kind af_packet has no such key, take it out"},
        {ONE_PORT("name: ring, kind: udp, address: 127.0.0.1:1, role: client"),
         "3:57: ports[0].role: a port of kind udp has no such key, take it out"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, interface: veth0"),
         "3:54: ports[0].interface: a port of kind memif has no such key, take it out"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, address: 127.0.0.1:1"),
         "3:52: ports[0].address: a port of kind memif has no such key, take it out"},
        {ONE_PORT("name: ring, kind: udp, address: 127.0.0.1:1, udp_port: 1"),
         "3:61: ports[0].udp_port: a port of kind udp has no such key, take it out"},
        {ONE_PORT("name: ring, kind: udp, address: 127.0.0.1:1, queues: 1"),
         "3:59: ports[0].queues: a port of kind udp has no such key, take it out"},
        {ONE_PORT("name: ring, kind: memif, socket: r.sock"),
         "3:39: ports[0].socket: found \"r.sock\", expected a path that begins with /"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, role: master"),
         "3:49: ports[0].role: found \"master\", expected one of: server, client"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, queues: 17"),
         "3:51: ports[0].queues: found 17, expected 1 to 16"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, queues: 0"),
         "3:51: ports[0].queues: found 0, expected 1 to 16"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, udp_port: 0"),
         "3:53: ports[0].udp_port: found 0, expected 1 to 65535"},
        {ONE_PORT("name: ring, kind: af_packet, interface: sixteen_letters_"),
         "3:46: ports[0].interface: found \"sixteen_letters_\", expected text of 1 to 15 bytes"},
        {TWO_PORTS("name: ring, kind: memif, socket: /r", "name: hall, kind: memif, socket: /r"),
         "4:39: ports[1].socket: port \"ring\" (ports[0]) already has it, expected one of its own"},
        {TWO_PORTS("name: ring, kind: af_packet, interface: eth0", "name: hall, kind: af_packet, interface: eth0"),
         "4:46: ports[1].interface: port \"ring\" (ports[0]) already has it, expected one of its own"},
        {TWO_PORTS("name: ring, kind: udp, address: 127.0.0.1:1", "name: hall, kind: udp, address: 127.0.0.1:1"),
         "4:38: ports[1].address: port \"ring\" (ports[0]) already has it, expected one of its own"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void ports_of_all_kinds(void **state) {
    static struct wrong_yaml const wrong[] = {
        {ONE_PORT("name: ring, kind: af_xdp"), "3:5: ports[0]: the key \"interface\" is missing, expected the kernel's "
                                               "name of the interface, such as veth0"},
        {ONE_PORT("name: ring, kind: pcap"),
         "3:5: ports[0]: the key \"file\" is missing, expected the path of the capture, such as /data/ring.pcap"},
        {ONE_PORT("name: ring, kind: pci"),
         "3:5: ports[0]: the key \"device\" is missing, expected the card's PCI address, such as 0000:03:00.0"},
        {ONE_PORT("name: ring, kind: vhost"), "3:5: ports[0]: the key \"socket\" is missing, expected the path of its "
                                              "control socket, such as /run/ringmaster/demo.sock"},
        {ONE_PORT("name: ring, kind: tap, interface: rm0, file: /a"),
         "3:51: ports[0].file: a port of kind tap has no such key, take it out"},
        {ONE_PORT("name: ring, kind: ring, device: 0000:03:00.0"),
         "3:38: ports[0].device: a port of kind ring has no such key, take it out"},
        {ONE_PORT("name: ring, kind: udp, address: 127.0.0.1:1, spread: true"),
         "3:59: ports[0].spread: a port of kind udp has no such key, take it out"},
        {ONE_PORT("name: ring, kind: udp, address: 127.0.0.1:1, vlan: 3"),
         "3:57: ports[0].vlan: a port of kind udp has no such key, take it out"},
        {ONE_PORT("name: ring, kind: udp, address: 127.0.0.1:1, answer: 10.0.0.1"),
         "3:59: ports[0].answer: a port of kind udp has no such key, take it out"},
        {ONE_PORT("name: ring, kind: af_xdp, interface: eth0, kernel_interface: rm0"),
         "3:67: ports[0].kernel_interface: a port of kind af_xdp has no such key, take it out"},
        {ONE_PORT("name: ring, kind: null, multicast: [239.1.1.1]"),
         "3:41: ports[0].multicast: a port of kind null has no such key, take it out"},
        {ONE_PORT("name: ring, kind: ring, spread: true"),
         "3:38: ports[0].spread: there is one queue to spread to, expected the key \"queues\" with 2 to 16"},
        {ONE_PORT("name: ring, kind: ring, spread: 4"), "3:38: ports[0].spread: found \"4\", expected true or false"},
        {ONE_PORT("name: ring, kind: ring, longest_frame: 63"),
         "3:45: ports[0].longest_frame: found 63 bytes, expected 64 to 9600, without FCS"},
        {ONE_PORT("name: ring, kind: ring, longest_frame: 9601"),
         "3:45: ports[0].longest_frame: found 9601 bytes, expected 64 to 9600, without FCS"},
        {ONE_PORT("name: ring, kind: ring, vlan: 4095"), "3:36: ports[0].vlan: found 4095, expected 0 to 4094"},
        {ONE_PORT("name: ring, kind: af_xdp, interface: e, multicast: []"),
         "3:57: ports[0].multicast: found a list of 0, expected a list of 1 to 16 entries"},
        {ONE_PORT("name: ring, kind: af_xdp, interface: e, multicast: [239.1.1.1, 240.0.0.0]"),
         "3:69: ports[0].multicast[1]: found \"240.0.0.0\", expected a multicast address, 224.0.0.0 to "
         "239.255.255.255"},
        {ONE_PORT("name: ring, kind: af_xdp, interface: e, multicast: [223.255.255.255]"),
         "3:58: ports[0].multicast[0]: found \"223.255.255.255\", expected a multicast address, 224.0.0.0 to "
         "239.255.255.255"},
        {ONE_PORT("name: ring, kind: af_xdp, interface: e, multicast: [239.1.1.1, 239.1.1.1]"),
         "3:69: ports[0].multicast[1]: 239.1.1.1 is multicast[0] already"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, answer: 10.20.0"),
         "3:51: ports[0].answer: found \"10.20.0\", expected the IPv4 address that the server shall have on this port, "
         "such as 10.20.0.100"},
        {ONE_PORT("name: ring, kind: memif, socket: /r, answer: 0.0.0.0"),
         "3:51: ports[0].answer: found \"0.0.0.0\", expected the IPv4 address that the server shall have on this port, "
         "such as 10.20.0.100"},
        {TWO_PORTS("name: ring, kind: af_xdp, interface: eth0", "name: hall, kind: af_packet, interface: eth0"),
         "4:46: ports[1].interface: port \"ring\" (ports[0]) already has it, expected one of its own"},
        {TWO_PORTS("name: ring, kind: pci, device: 0000:03:00.0", "name: hall, kind: pci, device: 0000:03:00.0"),
         "4:37: ports[1].device: port \"ring\" (ports[0]) already has it, expected one of its own"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void addresses(void **state) {
    static char const *const wrong[] = {"127.0.0.1",       "127.0.0.1:",   "127.0.0.1:0", "127.0.0.1:65536",
                                        "127.0.0.1:4660x", "127.0.0:4660", "host:4660",   "255.255.255.256:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char yaml[512];
        char expected[256];
        snprintf(yaml, sizeof yaml, "%s", MACHINE "ports:\n  - {name: ring, kind: udp, address: \"");
        snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "%s\"}\n%s", wrong[i], INSTRUMENTS ROLES);
        snprintf(expected, sizeof expected,
                 "3:38: ports[0].address: found \"%s\", expected an IPv4 address and a UDP port, such as "
                 "127.0.0.1:4660",
                 wrong[i]);
        write_config(*state, yaml);
        expect_error(*state, expected);
    }
}

#define ONE_INSTRUMENT(instrument) MACHINE PORTS "instruments:\n  - {" instrument "}\n" ROLES
#define TWO_INSTRUMENTS(first, second) MACHINE PORTS "instruments:\n  - {" first "}\n  - {" second "}\n" ROLES
#define LANES(lanes) ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: ring, source: 10.20.0.1, lanes: [" lanes "]")
#define LANE "{name: x, unit: nm, type: i32}"

static void instruments(void **state) {
    static struct wrong_yaml const wrong[] = {
        {MACHINE PORTS "instruments: []\n" ROLES,
         "4:14: instruments: found a list of 0, expected a list of 1 to 1024 entries"},
        {ONE_INSTRUMENT("name: a, kind: bmp, id: 1, port: ring, source: 10.20.0.1"),
         "5:21: instruments[0].kind: found \"bmp\", expected one of: bpm, blm, llrf, photon_bpm, interlock, "
         "power_supply (did you mean \"bpm\"?)"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 65536, port: ring, source: 10.20.0.1"),
         "5:30: instruments[0].id: found \"65536\", expected a whole number from 0 to 65535"},
        {ONE_INSTRUMENT("name: a/b, kind: bpm, id: 1, port: ring, source: 10.20.0.1"),
         "5:12: instruments[0].name: found \"a/b\", expected lower-case letters, digits, _ and -"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: rign, source: 10.20.0.1"),
         "5:39: instruments[0].port: found \"rign\", expected the name of a port (did you mean \"ring\"?)"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: hall, source: 10.20.0.1"),
         "5:39: instruments[0].port: found \"hall\", expected the name of a port"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: ring, source: 10.20.0"),
         "5:53: instruments[0].source: found \"10.20.0\", expected the IPv4 address of one host, such as 10.20.0.1"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: ring, source: 0.0.0.0"),
         "5:53: instruments[0].source: found \"0.0.0.0\", expected the IPv4 address of one host, such as 10.20.0.1"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: ring, source: 224.0.0.1"),
         "5:53: instruments[0].source: found \"224.0.0.1\", expected the IPv4 address of one host, such as 10.20.0.1"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: ring, source: 10.20.0.1, turn_offset: 1.5"),
         "5:77: instruments[0].turn_offset: found \"1.5\", expected a whole number from -9223372036854775808 to "
         "9223372036854775807"},
        {ONE_INSTRUMENT("name: a, kind: bpm, id: 1, port: ring, source: 10.20.0.1, turn_offset: -4611686018427387905"),
         "5:77: instruments[0].turn_offset: found -4611686018427387905, expected -4611686018427387904 to "
         "4611686018427387904"},
        {TWO_INSTRUMENTS("name: a, kind: bpm, id: 1, port: ring, source: 10.20.0.1",
                         "name: a, kind: bpm, id: 2, port: ring, source: 10.20.0.2"),
         "6:12: instruments[1].name: \"a\" is already the name of instruments[0], expected one of its own"},
        {TWO_INSTRUMENTS("name: a, kind: bpm, id: 1, port: ring, source: 10.20.0.1",
                         "name: b, kind: blm, id: 1, port: ring, source: 10.20.0.1"),
         "6:30: instruments[1].id: id 1 from 10.20.0.1 on port \"ring\" is already instrument \"a\" "
         "(instruments[0]), expected another port, source or id"},
        {LANES(""), "5:71: instruments[0].lanes: found a list of 0, expected a list of 1 to 12 entries"},
        {LANES("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}"),
         "5:71: instruments[0].lanes: found a list of 13, expected a list of 1 to 12 entries"},
        {LANES("{name: x, unit: nm, type: i64}"),
         "5:98: instruments[0].lanes[0].type: found \"i64\", expected one of: i32, f32"},
        {LANES("{name: X, unit: nm, type: i32}"),
         "5:79: instruments[0].lanes[0].name: found \"X\", expected lower-case letters, digits, _ and -"},
        {LANES(LANE ", " LANE),
         "5:111: instruments[0].lanes[1].name: found \"x\", expected a name that no lane before it has"},
        {LANES("{name: x, unit: sixteen letters., type: i32}"),
         "5:88: instruments[0].lanes[0].unit: found \"sixteen letters.\", expected text of 0 to 15 bytes"},
        {LANES("{name: sixteen_letters_, unit: nm, type: i32}"),
         "5:79: instruments[0].lanes[0].name: found \"sixteen_letters_\", expected text of 1 to 15 bytes"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define SIZES(sizes) MACHINE PORTS INSTRUMENTS ROLES sizes "\n"

static void sizes(void **state) {
    static struct wrong_yaml const wrong[] = {
        {SIZES("buffers: {turn_records: 1000000}"), "8:25: buffers.turn_records: found 1000000, expected a power of "
                                                    "two from 16384 to 4294967296 records"},
        {SIZES("buffers: {turn_records: 8192}"),
         "8:25: buffers.turn_records: found 8192, expected a power of two from 16384 to 4294967296 records"},
        {SIZES("buffers: {turn_records: 8589934592}"),
         "8:25: buffers.turn_records: found 8589934592, expected a power of two from 16384 to 4294967296 records"},
        {SIZES("buffers: {fast_records: 512}"),
         "8:25: buffers.fast_records: found 512, expected a power of two from 1024 to 4294967296 records"},
        {SIZES("buffers: {fast_records: 0}"),
         "8:25: buffers.fast_records: found 0, expected a power of two from 1024 to 4294967296 records"},
        {SIZES("buffers: {fast: 1024}"), "8:11: buffers: unknown key \"fast\", expected one of: turn_records, "
                                         "fast_records"},
        {SIZES("turn_window: {ahead_turns: 0}"), "8:28: turn_window.ahead_turns: found 0, expected 1 to 4096 turns"},
        {SIZES("turn_window: {ahead_turns: 4097}"),
         "8:28: turn_window.ahead_turns: found 4097, expected 1 to 4096 turns"},
        {SIZES("turn_window: {late_turns: 100}"),
         "8:27: turn_window.late_turns: found 100, expected a power of two from 64 to 65536 turns"},
        {SIZES("turn_window: {late_turns: 131072}"),
         "8:27: turn_window.late_turns: found 131072, expected a power of two from 64 to 65536 turns"},
        {SIZES("turn_window: {silence_turns: 4095}"),
         "8:30: turn_window.silence_turns: found 4095, expected 4096 to 1073741824 turns (late_turns at least)"},
        {SIZES("turn_window: {quorum: 2}"),
         "8:23: turn_window.quorum: found 2, expected 0 to 1 instruments (0: more than half)"},
        {SIZES("turn_window: {gap_turns: 0}"),
         "8:26: turn_window.gap_turns: found 0, expected 1 to 4096 turns (late_turns at most)"},
        {SIZES("turn_window: {phase_turns: 0}"),
         "8:28: turn_window.phase_turns: found 0, expected 1 to 1073741824 turns"},
        {SIZES("turn_window: {gap_turns: 4097}"),
         "8:26: turn_window.gap_turns: found 4097, expected 1 to 4096 turns (late_turns at most)"},
        {SIZES("turn_window: {late_turns: 8192}\nbuffers: {turn_records: 16384}"),
         "8:14: turn_window: ahead_turns + late_turns is 10240, expected at most half of buffers.turn_records "
         "(16384)"},
        {SIZES("buffers:"), "8:9: buffers: found nothing, expected a mapping with the keys turn_records, fast_records"},
    };
    EXPECT_ERRORS(*state, wrong);
}

#define ONE_ROLE(role) MACHINE PORTS INSTRUMENTS "roles:\n  - {" role "}\n"
#define TWO_ROLES(first, second) MACHINE PORTS INSTRUMENTS "roles:\n  - {" first "}\n  - {" second "}\n"

static void roles(void **state) {
    static struct wrong_yaml const wrong[] = {
        {MACHINE PORTS INSTRUMENTS "roles: []\n", "6:8: roles: found a list of 0, expected a list of 1 to 64 entries"},
        {ONE_ROLE("role: recieve, ports: [ring], core: @"),
         "7:12: roles[0].role: found \"recieve\", expected one of: "
         "receive, housekeeping, spread, exception_path, transmit, "
         "application, generate, forward (did you mean \"receive\"?)"},
        {ONE_ROLE("role: receive, core: @"),
         "7:5: roles[0]: the key \"ports\" is missing, expected the ports that this role polls"},
        {ONE_ROLE("role: receive, ports: [], core: @"),
         "7:28: roles[0].ports: found a list of 0, expected a list of 1 to 256 entries"},
        {ONE_ROLE("role: housekeeping, ports: [ring], core: @"),
         "7:33: roles[0].ports: housekeeping serves all ports, take this key out"},
        {ONE_ROLE("role: receive, ports: [rin], core: @"),
         "7:29: roles[0].ports[0]: found \"rin\", expected the name of a port (did you mean \"ring\"?)"},
        {ONE_ROLE("role: receive, ports: [ring/0, ring/2], core: @"),
         "7:37: roles[0].ports[1]: found \"ring/2\", expected a queue from 0 to 1, such as \"ring/1\""},
        {ONE_ROLE("role: receive, ports: [ring/], core: @"),
         "7:29: roles[0].ports[0]: found \"ring/\", expected a queue from 0 to 1, such as \"ring/1\""},
        {ONE_ROLE("role: receive, ports: [ring, ring/1], core: @"),
         "7:35: roles[0].ports[1]: queue 1 of port \"ring\" is already polled by roles[0], expected it once"},
        {TWO_ROLES("role: receive, ports: [ring], core: @", "role: receive, ports: [ring], core: @"),
         "8:29: roles[1].ports[0]: queue 0 of port \"ring\" is already polled by roles[0], expected it once"},
        {TWO_ROLES("role: receive, ports: [ring/0], core: @", "role: receive, ports: [ring/1], core: @"),
         "8:29: roles[1].ports[0]: two queues for one identity: roles[0] polls port \"ring\" too, and any of its "
         "queues may carry any instrument; expected all queues of a port in one role, or spread: true in the port"},
        {ONE_ROLE("role: receive, ports: [ring/0], core: @"),
         "7:3: roles: no role polls queue 1 of port \"ring\", expected \"ring\" in one role's ports"},
        {ONE_ROLE("role: receive, ports: [ring], script: a.pkt, core: @"),
         "7:44: roles[0].script: a role receive has no such key, take it out; it belongs to a role generate"},
        {ONE_ROLE("role: generate, ports: [ring], core: @"),
         "7:3: roles: instrument \"bpm01\" comes by port \"ring\", which roles[0] polls to generate; expected a role "
         "receive there, or another port"},
        {ONE_ROLE("role: housekeeping, core: @"),
         "7:3: roles: no role polls queue 0 of port \"ring\", expected \"ring\" in one role's ports"},
        {ONE_ROLE("role: receive, ports: [ring], first: [rin], core: @"),
         "7:44: roles[0].first[0]: found \"rin\", expected the name of a port (did you mean \"ring\"?)"},
        {ONE_ROLE("role: receive, ports: [ring], first: [ring/0, ring/0], core: @"),
         "7:52: roles[0].first[1]: this is already served first, expected it once"},
        {ONE_ROLE("role: receive, ports: [ring/0], first: [ring/1], core: @"),
         "7:46: roles[0].first[0]: this role does not poll it, expected one of its own ports"},
        {ONE_ROLE("role: receive, ports: [ring], first: [ring], core: @"),
         "7:43: roles[0].first: all that this role polls is in it, expected some of its ports, not all"},
        {ONE_ROLE("role: housekeeping, first: [ring], core: @"),
         "7:33: roles[0].first: a role housekeeping has no such key, take it out; it belongs to a role receive"},
        {TWO_ROLES("role: housekeeping, core: @", "role: housekeeping, core: @"),
         "8:12: roles[1].role: roles[0] is housekeeping already, expected only one"},
    };
    EXPECT_ERRORS(*state, wrong);
}

static void a_core_that_is_not_there(void **state) {
    static unsigned const absent[] = {1023, 4000000000};
    cpu_set_t cores;
    char available[128];
    assert_int_equal(rm_cores_available(&cores, NULL), RM_OK);
    rm_cores_text(&cores, available, sizeof available);
    assert_true(strlen(available) > 0);
    for (size_t i = 0; i < 2; i++) {
        if (absent[i] < CPU_SETSIZE)
            assert_false(CPU_ISSET(absent[i], &cores));
        char yaml[512];
        char expected[256];
        snprintf(yaml, sizeof yaml, "%s  - {role: receive, ports: [ring], core: %u}\n",
                 MACHINE PORTS INSTRUMENTS "roles:\n", absent[i]);
        snprintf(expected, sizeof expected,
                 "7:42: roles[0].core: core %u is none that this process may run on, expected one of: %s", absent[i],
                 available);
        write_config(*state, yaml);
        expect_error(*state, expected);
    }
}

static void a_file_that_is_not_there(void **state) {
    struct config_file const *const file = *state;
    struct rm_config *config = NULL;
    struct rm_error error;
    char expected[RM_ERROR_TEXT_BYTES];
    assert_int_equal(rm_config_load(file->path, &config, &error), RM_E_SYSTEM);
    snprintf(expected, sizeof expected, "%s: cannot be opened: No such file or directory", file->path);
    assert_string_equal(error.text, expected);
    char longest[2000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(rm_config_load(longest, &config, &error), RM_E_ARGUMENT);
    assert_null(config);
}

/* Each is told, and what stands on what is wrong is not told as wrong too. */
static void all_at_once(void **state) {
    struct config_file const *const file = *state;
    static char const *const expected[] = {
        " ports[0].queues: ",       " ports[0].socket: ",
        " instruments[0].source: ", " instruments[0].period_turns: ",
        " instruments[1].port: ",   " buffers.turn_records: ",
    };
    write_config(file, "workspace: demo\nports:\n  - {name: ring, kind: memif, socket: r, queues: 17}\ninstruments:\n"
                       "  - {name: a, kind: bpm, id: 1, port: ring, source: ten, period_turns: 0}\n"
                       "  - {name: b, kind: bpm, id: 2, port: rong, source: 10.0.0.1}\n"
                       "  - {name: c, kind: bpm, id: 3, port: ring, source: 10.0.0.1}\n"
                       "buffers: {turn_records: 3}\n" ROLES);
    struct rm_config *config;
    struct rm_errors errors = {.count = 0};
    assert_int_equal(rm_config_load_all(file->path, &config, &errors), RM_E_CONFIG);
    assert_int_equal(errors.count, sizeof expected / sizeof expected[0]);
    for (uint32_t i = 0; i < errors.count; i++)
        if (strstr(errors.first[i].text, expected[i]) == NULL)
            fail_msg("%s does not say %s", errors.first[i].text, expected[i]);
}

/* An entry of a list that is wrong does not hide what is wrong with those behind it. */
static void all_entries_at_once(void **state) {
    struct config_file const *const file = *state;
    static char const *const expected[] = {
        " rates[0].decimation: ", " rates[1].from: ",     " rates[2].records: ",
        " chains[0].port: ",      " chains[1].address: ", " chains[1].supplies[0].limits",
    };
    write_config(file, MACHINE
                 "ports:\n  - {name: ring, kind: memif, socket: /run/r.sock, answer: 10.0.0.9}\n" INSTRUMENTS ROLES
                 "  - {role: transmit, core: @}\n"
                 "rates:\n  - {name: fast, filter: sharp, decimation: 1}\n"
                 "  - {name: loop, filter: sharp, from: fats, decimation: 10}\n"
                 "  - {name: slow, filter: sharp, decimation: 12, records: 3}\n"
                 "setpoints: {period_turns: 12}\n"
                 "chains:\n"
                 "  - {name: c, id: 1, port: rong, address: 10.1.0.1,\n"
                 "     supplies: [{name: q, unit: A, limits: [-1, 1], slew: 1}]}\n"
                 "  - {name: d, id: 2, port: ring, address: ten,\n"
                 "     supplies: [{name: r, unit: A, limits: [1, -1], slew: 1}]}\n");
    struct rm_config *config;
    struct rm_errors errors = {.count = 0};
    assert_int_equal(rm_config_load_all(file->path, &config, &errors), RM_E_CONFIG);
    for (uint32_t i = 0; i < errors.count && i < sizeof expected / sizeof expected[0]; i++)
        if (strstr(errors.first[i].text, expected[i]) == NULL)
            fail_msg("%s does not say %s", errors.first[i].text, expected[i]);
    assert_int_equal(errors.count, sizeof expected / sizeof expected[0]);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_config_file, remove_config_file)
    struct CMUnitTest const tests[] = {
        TEST(the_right_one_is_right),
        TEST(machine),
        TEST(ports),
        TEST(ports_of_all_kinds),
        TEST(addresses),
        TEST(instruments),
        TEST(sizes),
        TEST(roles),
        TEST(all_at_once),
        TEST(all_entries_at_once),
        TEST(a_core_that_is_not_there),
        TEST(a_file_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
