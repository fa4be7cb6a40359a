// SPDX-License-Identifier: Apache-2.0
/** What a machine and an overlay make of cameras, and what is refused, with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cameras_config.h"
#include "faults.h"

#define MACHINE                                                                                                        \
    "workspace: test\n"                                                                                                \
    "ports:\n"                                                                                                         \
    "  - {name: kernel, kind: udp, address: \"127.0.0.1:20001\"}\n"                                                    \
    "  - {name: link, kind: memif, socket: /tmp/test-cameras.sock, role: server, udp_port: 20002, vlan: 5}\n"          \
    "  - {name: hall, kind: af_packet, interface: veth0, udp_port: 20003}\n"                                           \
    "cameras:\n"                                                                                                       \
    "  - {name: cam01, port: kernel, address: 127.0.0.11, pixel_format: Mono12p, width: 100, height: 50}\n"            \
    "  - {name: cam02, port: link, format: fragments, id: 7, udp_port: 30000}\n"
#define HALL "  - {name: cam03, port: hall, address: 10.30.0.13}\n"

static void write_file(char const *path, char const *text) {
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/** Writes both files, loads them and removes them. `overlay` may be NULL: then there is none. */
static enum rm_code load(char const *machine, char const *overlay, struct rm_cameras_config *config,
                         struct rm_errors *errors) {
    char folder[] = "/tmp/test-cameras-XXXXXX", paths[2][64];
    assert_non_null(mkdtemp(folder));
    snprintf(paths[0], sizeof paths[0], "%s/machine.yaml", folder);
    snprintf(paths[1], sizeof paths[1], "%s/overlay.yaml", folder);
    write_file(paths[0], machine);
    write_file(paths[1], overlay == NULL ? "" : overlay);
    *errors = (struct rm_errors){.count = 0};
    enum rm_code const code = rm_cameras_config_load(paths[0], overlay == NULL ? NULL : paths[1], config, errors);
    unlink(paths[0]);
    unlink(paths[1]);
    rmdir(folder);
    return code;
}

static struct rm_cameras_config load_good(char const *machine, char const *overlay) {
    struct rm_cameras_config config;
    struct rm_errors errors;
    if (load(machine, overlay, &config, &errors) != RM_OK)
        fail_msg("%s", errors.first[0].text);
    return config;
}

static void expect(char const *machine, char const *overlay, char const *expected) {
    struct rm_cameras_config config;
    struct rm_errors errors;
    assert_int_equal(load(machine, overlay, &config, &errors), RM_E_CONFIG);
    if (strstr(errors.first[0].text, expected) == NULL)
        fail_msg("found \"%s\", expected \"%s\"", errors.first[0].text, expected);
}

static void cameras_are_what_their_machine_says(void **state) {
    (void)state;
    struct rm_cameras_config config = load_good(MACHINE, NULL);
    assert_int_equal(config.camera_count, 2);
    struct rm_virtual_camera const *const one = &config.camera[0], *const two = &config.camera[1];
    assert_string_equal(one->name, "cam01");
    assert_int_equal(one->ipv4, 0x7F00000B);
    assert_int_equal(one->frame_bytes, 100 * 50 * 3 / 2);
    assert_int_equal(one->packet_bytes, 1464);
    assert_int_equal(two->format, RM_CAMERA_FRAGMENTS);
    assert_int_equal(two->id, 7);
    assert_int_equal(two->udp_port, 30000);
    assert_int_equal(two->frame_bytes, 640 * 480);
    assert_int_equal(two->packet_bytes, 1408);
    assert_int_equal(config.port[0].port.peer_port, 20001);
    assert_int_equal(config.port[0].flow.destination_ipv4, 0x7F000001);
    assert_false(config.port[1].port.memif_server);
    assert_int_equal(config.port[1].flow.vlan, 5);
    assert_false(config.port[2].used);
    rm_cameras_config_free(&config);
}

static void the_first_entry_that_names_a_camera_is_its_own(void **state) {
    (void)state;
    struct rm_cameras_config config =
        load_good(MACHINE, "cameras:\n"
                           "  - {name: cam02, rate_hz: 7, mtu: 9000}\n"
                           "  - {name: \"cam*\", rate_hz: 8, extended_ids: true, pattern: spot, spot: {tilt_deg: 90}}\n"
                           "  - {rate_hz: 9}\n");
    assert_true(config.camera[0].rate_hz == 8 && config.camera[1].rate_hz == 7);
    assert_int_equal(config.camera[0].packet_bytes, 1452);
    assert_int_equal(config.camera[1].packet_bytes, 8896);
    assert_true(config.camera[0].spot.centre_x == 49.5 && config.camera[0].spot.centre_y == 24.5);
    assert_true(config.camera[0].spot.tilt_rad > 1.57 && config.camera[0].spot.tilt_rad < 1.58);
    assert_true(config.port[1].port.longest_frame >= 9000 + 14 + 4);
    assert_true(config.camera[0].seed != config.camera[1].seed);
    rm_cameras_config_free(&config);
}

static void faults_have_their_frames(void **state) {
    (void)state;
    struct rm_cameras_config config = load_good(
        MACHINE, "cameras: [{faults: [{kind: lose, probability: 0.5}, {kind: jumbo, every: 3, first: 2, end: 9}]}]\n");
    struct rm_camera_fault const *const fault = config.camera[0].fault;
    assert_int_equal(config.camera[0].fault_count, 2);
    assert_true(fault[0].probability == 0.5 && fault[0].every == 0 && fault[0].end == UINT64_MAX);
    assert_true(fault[1].every == 3 && fault[1].first == 2 && fault[1].end == 9);
    assert_true(config.port[0].port.longest_frame > RM_JUMBO_BYTES);
    rm_cameras_config_free(&config);
}

static void a_camera_can_pose_as_another(void **state) {
    (void)state;
    struct rm_cameras_config config = load_good(MACHINE, "cameras: [{name: cam01, poses_as: cam02}]\n");
    assert_int_equal(config.camera[0].id, 7);
    assert_int_equal(config.camera[0].udp_port, 30000);
    assert_int_equal(config.camera[0].ipv4, 0);
    rm_cameras_config_free(&config);
}

static void an_interface_is_named_by_the_overlay(void **state) {
    (void)state;
    struct rm_cameras_config config =
        load_good(MACHINE HALL, "ports: [{name: hall, interface: veth1, destination: 10.30.0.1, "
                                "destination_mac: \"02:00:00:00:00:09\", source_mac: \"02:00:00:00:00:0a\"}]\n");
    assert_string_equal(config.port[2].port.interface, "veth1");
    assert_int_equal(config.port[2].flow.destination_ipv4, 0x0A1E0001);
    assert_int_equal(config.port[2].flow.destination_mac[5], 9);
    assert_int_equal(config.port[2].flow.source_mac[5], 10);
    rm_cameras_config_free(&config);
    config = load_good(MACHINE HALL, "ports: [{name: hall, kind: 'null'}]\n");
    assert_int_equal(config.port[2].port.kind, RM_PORT_NULL);
    rm_cameras_config_free(&config);
}

static void what_is_wrong_is_told_with_its_place(void **state) {
    (void)state;
    expect(MACHINE HALL, "seed: 2\n", "ports.interface: port \"hall\" has an interface at its other end");
    expect(MACHINE, "cameras: [{name: cam9}]\n",
           "overlay.yaml:1:18: cameras[0].name: found \"cam9\", expected a camera");
    expect(MACHINE, "cameras: [{poses_as: cam9}]\n", "cameras[0].poses_as: found \"cam9\"");
    expect(MACHINE, "cameras: [{pixel_format: Mono9}]\n", "cameras[0].pixel_format: found \"Mono9\"");
    expect(MACHINE, "cameras: [{width: 5000, height: 5000}]\n", "5000 × 5000 pixels are too many");
    expect(MACHINE, "cameras: [{name: cam02, control: true}]\n",
           "cameras[0].control: expected a camera with format gvsp");
    expect(MACHINE, "cameras: [{first_number: 0}]\n", "cameras[0].first_number: found 0");
    expect(MACHINE, "cameras: [{faults: [{kind: lose}]}]\n", "cameras[0].faults[0]: it never happens");
    expect(MACHINE, "cameras: [{faults: [{kind: lose, probability: 2}]}]\n",
           "cameras[0].faults[0].probability: found 2, expected 0 to 1");
    expect(MACHINE, "cameras: [{spot: {sigma_x: 0}}]\n", "cameras[0].spot.sigma_x: found 0, expected 0.1 to 10000");
    expect(MACHINE, "cameras: [{mtu: 100}]\n", "cameras[0].mtu: found 100, expected 576 to 9500");
    expect(MACHINE, "ports: [{name: hell}]\n", "ports[0].name: found \"hell\", expected a port");
    expect(MACHINE, "ports: [{name: kernel, destination_mac: me}]\n", "ports[0].destination_mac: found \"me\"");
    expect("workspace: test\nports: [{name: p, kind: udp, address: \"127.0.0.1:20001\"}]\n"
           "instruments: [{name: a, kind: bpm, id: 9, port: p, source: 127.0.0.1}]\n",
           NULL, "no camera in it sends gvsp or fragments");
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(cameras_are_what_their_machine_says),
        cmocka_unit_test(the_first_entry_that_names_a_camera_is_its_own),
        cmocka_unit_test(faults_have_their_frames),
        cmocka_unit_test(a_camera_can_pose_as_another),
        cmocka_unit_test(an_interface_is_named_by_the_overlay),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
