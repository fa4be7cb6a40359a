// SPDX-License-Identifier: Apache-2.0
/* A configuration file is right or says where it is wrong. test_config_errors.c has the wrong ones. */
#include "base/cores.h"
#include "config/config.h"
#include "config/kind_lanes.h"
#include "config/test_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct rm_config *load(struct config_file const *file) {
    struct rm_config *config = NULL;
    struct rm_error error = {.text = ""};
    enum rm_code const code = rm_config_load(file->path, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, RM_OK);
    return config;
}

static void everything_given(void **state) {
    struct config_file *const file = *state;
    write_config(
        file,
        "workspace: storage_ring-2\n"
        "turn_rate_hz: 499654.5\n"
        "ports:\n"
        "  - {name: ring, kind: memif, socket: /run/a.sock, role: client, queues: 3, udp_port: 2048}\n"
        "  - {name: hall, kind: af_packet, interface: veth0}\n"
        "  - {name: test, kind: udp, address: \"127.0.0.1:65535\"}\n"
        "instruments:\n"
        "  - {name: a, kind: power_supply, id: 65535, port: test, source: 10.20.0.1, turn_offset: -7}\n"
        "  - name: b\n"
        "    kind: photon_bpm\n"
        "    id: 65535\n"
        "    port: ring\n"
        "    source: 10.20.0.1\n"
        "    lanes:\n"
        "      - {name: x, unit: µm, type: f32}\n"
        "      - {name: flags, unit: \"\", type: i32}\n"
        "buffers: {turn_records: 16384, fast_records: 1024}\n"
        "turn_window: {ahead_turns: 1, late_turns: 64, silence_turns: 64, quorum: 1, gap_turns: 64, phase_turns: 9}\n"
        "roles:\n"
        "  - {role: housekeeping, core: @}\n"
        "  - {role: receive, ports: [hall, ring/2, ring/0, ring/1], core: @}\n"
        "  - {role: receive, ports: [test], core: @}\n");
    struct rm_config *const config = load(file);
    assert_string_equal(config->source_path, file->path);
    assert_string_equal(config->workspace, "storage_ring-2");
    assert_true(config->turn_rate_hz == 499654.5);

    assert_int_equal(config->port_count, 3);
    struct rm_config_port const *const port = config->port;
    assert_string_equal(port[0].port.name, "ring");
    assert_int_equal(port[0].port.kind, RM_PORT_MEMIF);
    assert_string_equal(port[0].port.socket_path, "/run/a.sock");
    assert_false(port[0].port.memif_server);
    assert_int_equal(port[0].port.queues, 3);
    assert_int_equal(port[0].udp_port, 2048);
    assert_int_equal(port[1].port.kind, RM_PORT_AF_PACKET);
    assert_string_equal(port[1].port.interface, "veth0");
    assert_int_equal(port[1].port.queues, 1);
    assert_int_equal(port[1].udp_port, 4660);
    assert_int_equal(port[2].port.kind, RM_PORT_UDP);
    assert_int_equal(port[2].port.bind_ipv4, 0x7F000001);
    assert_int_equal(port[2].port.bind_port, 65535);
    assert_int_equal(port[2].udp_port, 65535);

    assert_int_equal(config->instrument_count, 2);
    struct rm_config_instrument const *const a = &config->instrument[0];
    struct rm_config_instrument const *const b = &config->instrument[1];
    assert_int_equal(a->kind, RM_KIND_POWER_SUPPLY);
    assert_int_equal(a->id, 65535);
    assert_int_equal(a->port, 2);
    assert_int_equal(a->source_ipv4, 0x0A140001);
    assert_true(a->turn_offset == -7);
    assert_int_equal(a->lane_count, 3);
    assert_string_equal(a->lane[1].name, "readback");
    assert_string_equal(a->lane[1].unit, "µA");
    assert_int_equal(a->lane[1].type, RM_LANE_I32);
    assert_string_equal(b->name, "b");
    assert_int_equal(b->port, 0);
    assert_int_equal(b->lane_count, 2);
    assert_string_equal(b->lane[0].name, "x");
    assert_string_equal(b->lane[0].unit, "µm");
    assert_int_equal(b->lane[0].type, RM_LANE_F32);
    assert_string_equal(b->lane[1].unit, "");
    assert_int_equal(b->lane[2].type, RM_LANE_UNUSED);

    assert_int_equal(config->buffers.turn_records, 16384);
    assert_int_equal(config->buffers.fast_records, 1024);
    assert_int_equal(config->turn_window.ahead_turns, 1);
    assert_int_equal(config->turn_window.late_turns, 64);
    assert_int_equal(config->turn_window.silence_turns, 64);
    assert_int_equal(config->turn_window.quorum, 1);
    assert_int_equal(config->turn_window.gap_turns, 64);
    assert_int_equal(config->turn_window.phase_turns, 9);

    assert_int_equal(config->role_count, 3);
    assert_int_equal(config->role[0].kind, RM_ROLE_HOUSEKEEPING);
    assert_int_equal(config->role[0].queue_count, 0);
    struct rm_config_role const *const receive = &config->role[1];
    static struct rm_config_queue const queues[] = {{1, 0}, {0, 2}, {0, 0}, {0, 1}};
    assert_int_equal(receive->kind, RM_ROLE_RECEIVE);
    assert_int_equal(receive->core, file->core);
    assert_int_equal(receive->queue_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(receive->queue[i].port, queues[i].port);
        assert_int_equal(receive->queue[i].queue, queues[i].queue);
    }
    assert_int_equal(config->role[2].queue_count, 1);
    assert_int_equal(config->role[2].queue[0].port, 2);
    rm_config_free(config);
}

static void everything_left_out(void **state) {
    struct config_file *const file = *state;
    write_config(file, "workspace: demo\n"
                       "ports: [{name: ring, kind: memif, socket: /run/a.sock, queues: 2}]\n"
                       "instruments: [{name: a, kind: bpm, id: 0, port: ring, source: 10.20.0.1}]\n"
                       "roles: [{role: receive, core: @, ports: [ring]}]\n");
    struct rm_config *const config = load(file);
    assert_true(config->turn_rate_hz == 1157000.0);
    assert_true(config->port[0].port.memif_server);
    assert_int_equal(config->port[0].udp_port, 4660);
    assert_int_equal(config->instrument[0].turn_offset, 0);
    assert_int_equal(config->buffers.turn_records, 1048576);
    assert_int_equal(config->buffers.fast_records, 131072);
    assert_int_equal(config->turn_window.ahead_turns, 2048);
    assert_int_equal(config->turn_window.late_turns, 4096);
    assert_int_equal(config->turn_window.silence_turns, 262144);
    assert_int_equal(config->turn_window.quorum, 0);
    assert_int_equal(config->turn_window.gap_turns, 32);
    assert_int_equal(config->turn_window.phase_turns, 2048);
    assert_int_equal(config->role_count, 2);
    assert_int_equal(config->role[0].queue_count, 2);
    assert_int_equal(config->role[0].queue[1].queue, 1);
    assert_int_equal(config->role[1].kind, RM_ROLE_HOUSEKEEPING);
    assert_int_equal(config->role[1].core, file->core);
    rm_config_free(config);
    rm_config_free(NULL);
}

static void every_kind_of_port(void **state) {
    struct config_file *const file = *state;
    write_config(file, "workspace: demo\n"
                       "ports:\n"
                       "  - {name: a, kind: af_xdp, interface: eth0, multicast: [239.1.2.3, 224.0.1.1], vlan: 0}\n"
                       "  - {name: b, kind: pcap, file: /data/a.pcap, queues: 2, spread: true}\n"
                       "  - {name: c, kind: ring, longest_frame: 9600}\n"
                       "  - {name: d, kind: \"null\", spread: false}\n"
                       "  - {name: e, kind: tap, interface: rm0, answer: 10.0.0.1}\n"
                       "  - {name: f, kind: virtio_user, socket: /run/v.sock, udp_port: 2048}\n"
                       "  - {name: g, kind: vhost, socket: /run/w.sock, vlan: 4094}\n"
                       "  - {name: h, kind: pci, device: \"0000:03:00.0\", queues: 8, kernel_interface: rm1}\n"
                       "instruments: [{name: a, kind: bpm, id: 0, port: a, source: 10.20.0.1}]\n"
                       "roles: [{role: receive, core: @, ports: [a, b, c, d, e, f, g, h]}, "
                       "{role: spread, core: @, ports: [b]}]\n");
    struct rm_config *const config = load(file);
    struct rm_config_port const *const port = config->port;
    assert_int_equal(config->port_count, 8);
    assert_int_equal(port[0].port.kind, RM_PORT_AF_XDP);
    assert_string_equal(port[0].port.interface, "eth0");
    assert_int_equal(port[0].port.group_count, 2);
    assert_int_equal(port[0].port.group[0], 0xEF010203);
    assert_int_equal(port[0].port.group[1], 0xE0000101);
    assert_int_equal(port[0].vlan, 0);
    assert_int_equal(port[0].port.longest_frame, RM_LONGEST_FRAME);
    assert_false(port[0].port.exception_path);
    assert_int_equal(port[1].port.kind, RM_PORT_PCAP);
    assert_string_equal(port[1].port.file, "/data/a.pcap");
    assert_true(port[1].port.spread);
    assert_int_equal(port[1].vlan, RM_CONFIG_ANY_VLAN);
    assert_int_equal(port[2].port.kind, RM_PORT_RING);
    assert_int_equal(port[2].port.longest_frame, 9600);
    assert_int_equal(port[3].port.kind, RM_PORT_NULL);
    assert_false(port[3].port.spread);
    assert_int_equal(port[4].port.kind, RM_PORT_TAP);
    assert_int_equal(port[4].answer_ipv4, 0x0A000001);
    assert_true(port[4].port.exception_path);
    assert_int_equal(port[5].port.kind, RM_PORT_VIRTIO_USER);
    assert_string_equal(port[5].port.socket_path, "/run/v.sock");
    assert_int_equal(port[5].udp_port, 2048);
    assert_int_equal(port[6].port.kind, RM_PORT_VHOST);
    assert_int_equal(port[6].vlan, 4094);
    assert_int_equal(port[7].port.kind, RM_PORT_PCI);
    assert_string_equal(port[7].port.device, "0000:03:00.0");
    assert_string_equal(port[7].kernel_interface, "rm1");
    assert_int_equal(port[7].answer_ipv4, 0);
    assert_true(port[7].port.exception_path);
    rm_config_free(config);
}

static void every_kind_has_its_lanes(void **state) {
    (void)state;
    static struct {
        enum rm_instrument_kind kind;
        uint32_t lanes;
    } const kinds[] = {{RM_KIND_BPM, 8},        {RM_KIND_BLM, 10},      {RM_KIND_LLRF, 8},
                       {RM_KIND_PHOTON_BPM, 3}, {RM_KIND_INTERLOCK, 4}, {RM_KIND_POWER_SUPPLY, 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint32_t count;
        struct rm_kind_lane const *const lanes = rm_kind_lanes(kinds[i].kind, &count);
        assert_int_equal(count, kinds[i].lanes);
        for (uint32_t j = 0; j < count; j++) {
            assert_in_range(strlen(lanes[j].name), 1, RM_LANE_NAME_BYTES - 1);
            assert_in_range(strlen(lanes[j].unit), 1, RM_UNIT_BYTES - 1);
            for (uint32_t k = 0; k < j; k++)
                assert_string_not_equal(lanes[j].name, lanes[k].name);
        }
    }
}

static void describes_itself(void **state) {
    struct config_file *const file = *state;
    write_config(file, "workspace: demo\n"
                       "turn_rate_hz: 1000000\n"
                       "ports:\n"
                       "  - {name: ring, kind: memif, socket: /run/a.sock, queues: 2}\n"
                       "  - {name: test, kind: udp, address: 127.0.0.1:5000}\n"
                       "  - name: hall\n"
                       "    kind: af_packet\n"
                       "    interface: eth1\n"
                       "    queues: 2\n"
                       "    spread: true\n"
                       "    vlan: 7\n"
                       "    longest_frame: 9000\n"
                       "    multicast: [239.1.2.3]\n"
                       "    answer: 10.0.0.9\n"
                       "    kernel_interface: rm0\n"
                       "instruments:\n"
                       "  - {name: bpm01, kind: photon_bpm, id: 3, port: ring, source: 10.20.0.1, turn_offset: 4}\n"
                       "  - {name: bpm02, kind: interlock, id: 4, port: test, source: 10.20.0.2}\n"
                       "roles: [{role: receive, core: @, ports: [ring, test, hall]}, "
                       "{role: spread, core: @, ports: [hall]}]\n");
    struct rm_config *const config = load(file);
    assert_int_equal(rm_config_stream_bytes(config), 2 * 64 * (1048576 + 2 * 131072 + 2 * 65536 + 2 * 4096));
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    rm_config_describe(config, out);
    fclose(out);
    char expected[2048];
    snprintf(
        expected, sizeof expected,
        "workspace demo, 1000000 turns per second\n"
        "ports: 3\n"
        "  ring             memif     /run/a.sock, server, UDP port 4660, 2 queues\n"
        "  test             udp       127.0.0.1, UDP port 5000, 1 queue\n"
        "  hall             af_packet eth1, UDP port 4660, 2 queues spread by software, VLAN 7, frames to 9000 "
        "bytes, joins 239.1.2.3, answers for 10.0.0.9, the rest to kernel interface rm0\n"
        "instruments: 2, more than half of those that send can re-anchor the turn clock\n"
        "  bpm01            photon_bpm 3 from 10.20.0.1 on ring, turn offset +4: x y sum\n"
        "  bpm02            interlock 4 from 10.20.0.2 on test: flags permits loss_turn current\n"
        "streams: 14, 177 MiB of shared memory\n"
        "  each instrument that sends every turn, 88.5 MiB:\n"
        "    /turn               1000 kHz, 64 MiB, 1.05 s\n"
        "    /low_latency       83.33 kHz, 8 MiB, 1.57 s, low_latency from /turn, delayed by 0.011 ms\n"
        "    /fast              83.33 kHz, 8 MiB, 1.57 s, sharp from /turn, delayed by 0.107 ms\n"
        "    /loop_low_latency  8.333 kHz, 4 MiB, 7.86 s, low_latency from /low_latency, delayed by 0.119 ms\n"
        "    /loop              8.333 kHz, 4 MiB, 7.86 s, sharp from /fast, delayed by 1.175 ms\n"
        "    /slow_low_latency  8.333 Hz,  0.25 MiB, 492 s, low_latency from /loop_low_latency, delayed by 120 ms\n"
        "    /slow              8.333 Hz,  0.25 MiB, 492 s, sharp from /loop, delayed by 1.2 s\n"
        "roles: 4\n"
        "  core %-4u receive ring/0 ring/1 test/0 hall/0 hall/1\n"
        "  core %-4u spread hall/0\n"
        "  core %-4u housekeeping\n"
        "  core %-4u exception_path\n",
        file->core, file->core, file->core, file->core);
    assert_string_equal(text, expected);
    free(text);
    rm_config_free(config);
}

static void what_is_served_first_comes_first(void **state) {
    struct config_file *const file = *state;
    write_config(file, "workspace: demo\n"
                       "ports: [{name: a, kind: \"null\", queues: 2}, {name: b, kind: \"null\", queues: 3}]\n"
                       "instruments: [{name: i, kind: bpm, id: 0, port: a, source: 10.20.0.1}]\n"
                       "roles: [{role: receive, core: @, ports: [a, b], first: [b/2, a/1]}]\n");
    struct rm_config *const config = load(file);
    struct rm_config_role const *const role = &config->role[0];
    static struct rm_config_queue const queues[] = {{1, 2}, {0, 1}, {0, 0}, {1, 0}, {1, 1}};
    assert_int_equal(role->first_count, 2);
    assert_int_equal(role->queue_count, 5);
    assert_memory_equal(role->queue, queues, sizeof queues);
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    rm_config_describe(config, out);
    fclose(out);
    assert_non_null(strstr(text, " receive b/2 a/1 first, then a/0 b/0 b/1\n"));
    free(text);
    rm_config_free(config);
}

static void later_failures_are_located(void **state) {
    struct config_file *const file = *state;
    write_config(file, "workspace: demo\n"
                       "ports: [{name: ring, kind: af_packet, interface: veth9}]\n"
                       "instruments: [{name: a, kind: bpm, id: 0, port: ring, source: 10.20.0.1}]\n"
                       "roles: [{role: receive, core: @, ports: [ring]}]\n");
    struct rm_config *const config = load(file);
    struct rm_error error;
    char expected[RM_ERROR_TEXT_BYTES];
    assert_int_equal(rm_config_fail_entry(config, &error, "ports", 0, "interface", "there is no %s", "veth9"),
                     RM_E_CONFIG);
    snprintf(expected, sizeof expected, "%s:2:50: ports[0].interface: there is no veth9", file->path);
    assert_string_equal(error.text, expected);
    assert_int_equal(rm_config_fail(config, &error, "workspace", "is taken"), RM_E_CONFIG);
    snprintf(expected, sizeof expected, "%s:1:12: workspace: is taken", file->path);
    assert_string_equal(error.text, expected);
    rm_config_free(config);
}

static void writes_cores_as_ranges(void **state) {
    (void)state;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    char text[64];
    assert_string_equal(rm_cores_text(&cores, text, sizeof text), "");
    CPU_SET(1, &cores);
    assert_string_equal(rm_cores_text(&cores, text, sizeof text), "1");
    for (int core = 4; core < 8; core++)
        CPU_SET(core, &cores);
    CPU_SET(1023, &cores);
    assert_string_equal(rm_cores_text(&cores, text, sizeof text), "1,4-7,1023");
    for (int core = 0; core < CPU_SETSIZE; core += 2)
        CPU_CLR(core, &cores);
    for (int core = 101; core < CPU_SETSIZE; core += 2)
        CPU_SET(core, &cores);
    char const *const cut = rm_cores_text(&cores, text, 32);
    assert_string_equal(cut, "1,5,7,101,103,105,…");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(everything_given, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(everything_left_out, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(every_kind_of_port, make_config_file, remove_config_file),
        cmocka_unit_test(every_kind_has_its_lanes),
        cmocka_unit_test_setup_teardown(describes_itself, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(what_is_served_first_comes_first, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(later_failures_are_located, make_config_file, remove_config_file),
        cmocka_unit_test(writes_cores_as_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
