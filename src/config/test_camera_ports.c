// SPDX-License-Identifier: Apache-2.0
/* The section `cameras`: what it comes to, whose ports are whose, how it is described, and what can be wrong. */
#include "config/config.h"
#include "config/test_file.h"

#include <stdio.h>
#include <string.h>

/* Lines: 1–2, 3–6, 7 on. */
#define MACHINE "workspace: demo\nturn_rate_hz: 1e6\n"
#define PORTS                                                                                                          \
    "ports:\n  - {name: wire, kind: memif, socket: /run/0.sock}\n"                                                     \
    "  - {name: local, kind: udp, address: \"127.0.0.1:20001\"}\n"                                                     \
    "  - {name: bpms, kind: memif, socket: /run/1.sock}\n"
#define SERVER                                                                                                         \
    "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: bpms, source: 10.0.0.1}\n"                                \
    "roles:\n  - {role: receive, ports: [bpms], core: @}\n"
#define HEAD MACHINE PORTS SERVER "cameras:\n"

enum { TEXT_BYTES = 4096 };

static void what_it_comes_to(void **state) {
    struct rm_config *const config = load_config(
        *state, HEAD
        "  - {name: cam01, port: local, address: 127.0.0.2}\n"
        "  - {name: cam02, port: wire, format: fragments, id: 70000, udp_port: 20002, slots: 20,\n"
        "     leases: 15, incomplete: fill, deadline_ms: 2.5, frame_bytes: 5000000, profile: true}\n"
        "  - {name: cam03, port: wire, format: fragments, id: 1, udp_port: 20002}\n"
        "  - {name: cam04, port: wire, format: tecmp, device: 1, id: 3, pixel_format: RAW12, width: 8, height: 4}\n");
    assert_int_equal(config->camera_count, 4);
    struct rm_config_camera const *const camera = config->camera;
    assert_string_equal(camera[0].name, "cam01");
    assert_int_equal(camera[0].format, RM_CAMERA_GVSP);
    assert_int_equal(camera[0].udp_port, 20001);
    assert_int_equal(camera[0].ipv4, 0x7F000002);
    assert_int_equal(camera[0].slots, 16);
    assert_int_equal(camera[0].leases, 8);
    assert_int_equal(camera[0].incomplete, RM_CAMERA_DELIVER);
    assert_int_equal(camera[1].id, 70000);
    assert_int_equal(camera[1].incomplete, RM_CAMERA_FILL);
    assert_true(camera[1].profile && !camera[0].profile);
    assert_int_equal(camera[1].frame_bytes, 5000000);
    assert_int_equal(camera[3].width, 8);
    struct rm_port_config const *const wire = &config->port[0].port;
    assert_true(config->port[0].cameras && config->port[1].cameras && !config->port[2].cameras);
    assert_int_equal(wire->claim_count, 1); /* two cameras share it */
    assert_int_equal(wire->claim[0], 20002);
    assert_int_equal(wire->ethertype_count, 1);
    assert_int_equal(wire->ethertype[0], 0x99FE);
    assert_int_equal(config->port[1].port.claim[0], 20001);
    rm_config_free(config);
}

static void a_machine_of_cameras_needs_no_server(void **state) {
    struct config_file const *const file = *state;
    struct rm_errors errors = {.count = 0};
    struct rm_config *config = NULL;
    write_config(file, MACHINE PORTS "cameras:\n  - {name: cam01, port: local}\n");
    assert_int_equal(rm_config_load_machine(file->path, &config, &errors), RM_OK);
    assert_int_equal(config->camera_count, 1);
    rm_config_free(config);
    expect_error(file, "1:1: the key \"roles\" is missing, expected a list of what the server's cores do (a file for "
                       "cameras alone is for `ringmaster cameras run`)");
}

static void how_it_is_described(void **state) {
    struct rm_config *const config = load_config(
        *state, HEAD "  - {name: cam01, port: local, address: 127.0.0.2}\n"
                     "  - {name: cam02, port: wire, format: fragments, id: 7, udp_port: 20002, deadline_ms: 2.5}\n");
    char text[TEXT_BYTES];
    FILE *const out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    rm_config_describe(config, out);
    fclose(out);
    char const *const found = strstr(text, "cameras: 2");
    assert_non_null(found);
    char const wanted[] =
        "cameras: 2, received by `ringmaster cameras run`\n"
        "  cam01            gvsp from 127.0.0.2 on local, UDP port 20001: 16 frames to 8 MiB, 8 of them leased at "
        "most, deadline 200 ms\n"
        "  cam02            fragments 7 from anywhere on wire, UDP port 20002: 16 frames to 8 MiB, 8 of them leased "
        "at most, deadline 2.5 ms\n";
    char begin[sizeof wanted];
    snprintf(begin, sizeof begin, "%s", found);
    assert_string_equal(begin, wanted);
    rm_config_free(config);
}

static void what_is_wrong_is_told_with_its_place(void **state) {
    static struct wrong_yaml const wrong[] = {
        {HEAD "  - {name: cam01, port: wires}\n",
         "12:25: cameras[0].port: there is no port \"wires\" (did you mean \"wire\"?)"},
        {HEAD "  - {name: cam01, port: bpms, udp_port: 20002}\n",
         "8:3: instruments: cameras send to port \"bpms\", which the server does not open, expected another port"},
        {HEAD "  - {name: cam01, port: local, udp_port: 20002}\n",
         "12:42: cameras[0].udp_port: found 20002, but port \"local\" is a socket on 20001, expected one and the same"},
        {HEAD "  - {name: cam01, port: local}\n  - {name: cam01, port: wire, udp_port: 1}\n",
         "13:12: cameras[1].name: \"cam01\" is already the name of cameras[0], expected one of its own"},
        {HEAD "  - {name: cam01, port: local}\n  - {name: cam02, port: local, address: 10.0.0.1}\n",
         "13:12: cameras[1].name: its datagrams cannot be told from those of \"cam01\", expected another port, "
         "udp_port, "
         "address, id, device or channel"},
        {HEAD "  - {name: cam01, port: local, format: fragments, id: 3}\n"
              "  - {name: cam02, port: local, format: fragments, id: 3}\n",
         "13:12: cameras[1].name: its datagrams cannot be told from those of \"cam01\", expected another port, "
         "udp_port, "
         "address, id, device or channel"},
        {HEAD "  - {name: cam01, port: local, slots: 8, leases: 4}\n",
         "12:50: cameras[0].leases: found 4, expected 1 to 3, which is 5 below slots"},
        {HEAD "  - {name: cam01, port: local, format: other}\n",
         "12:40: cameras[0].format: found \"other\", expected gvsp, fragments, tecmp, cmp, or the name of one of "
         "\"formats\""},
        {HEAD "  - {name: cam01, port: local, format: cmp, device: 1}\n",
         "12:40: cameras[0].format: lines do not tell their geometry, expected the keys pixel_format, width and "
         "height"},
        {MACHINE "ports:\n  - {name: wire, kind: memif, socket: /run/0.sock, queues: 2}\n" SERVER
                 "cameras:\n  - {name: cam01, port: wire, udp_port: 1}\n",
         "10:25: cameras[0].port: port \"wire\" has 2 queues, expected one: its cameras are received by one thread"},
    };
    EXPECT_ERRORS(*state, wrong);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(what_it_comes_to, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(a_machine_of_cameras_needs_no_server, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(how_it_is_described, make_config_file, remove_config_file),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_told_with_its_place, make_config_file, remove_config_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
