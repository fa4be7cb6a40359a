// SPDX-License-Identifier: Apache-2.0
/* Cameras of the section `cameras`: capture devices, described lines and features; and what can be wrong with them. */
#include "config/config.h"
#include "config/test_file.h"
#include "frames/pixels.h"
#include "frames/tecmp.h"

/* Lines: 1, 2–4, from 5 on. */
#define HEAD                                                                                                           \
    "workspace: demo\n"                                                                                                \
    "ports:\n  - {name: hall, kind: af_xdp, interface: veth0}\n"                                                       \
    "  - {name: sockets, kind: udp, address: \"127.0.0.1:20001\"}\n"
#define GEOMETRY "pixel_format: RAW12, width: 64, height: 4"
#define OTHER "  - {name: x, port: hall}\n"
#define FORMATS(bytes)                                                                                                 \
    "formats:\n  - name: lines\n    layout:\n      byte_order: big\n      bytes: " bytes "\n"                          \
    "      counter: {at: 0, type: u32}\n      status: {at: 4, type: u16}\n"                                            \
    "      lanes: [{name: pixels, unit: counts, at: 6, type: u8}]\n"

/** A machine of cameras alone has no roles. */
static struct rm_config *machine_of(struct config_file const *file, char const *yaml) {
    struct rm_config *config = NULL;
    struct rm_errors errors = {.count = 0};
    write_config(file, yaml);
    if (rm_config_load_machine(file->path, &config, &errors) != RM_OK)
        fail_msg("%s", errors.first[0].text);
    return config;
}

static void capture_devices(void **state) {
    struct rm_config *const config = machine_of(
        *state, HEAD "cameras:\n  - {name: a, port: hall, format: tecmp, device: 67, id: 9, " GEOMETRY "}\n"
                     "  - {name: b, port: hall, format: cmp, device: 1, channel: 3, first_line: 1, " GEOMETRY "}\n"
                     "  - {name: c, port: sockets}\n");
    struct rm_config_camera const *const camera = config->camera;
    assert_int_equal(config->camera_count, 3);
    assert_int_equal(camera[0].format, RM_CAMERA_TECMP);
    assert_int_equal(camera[0].device, 67);
    assert_int_equal(camera[0].id, 9);
    assert_int_equal(camera[0].channel, 0);
    assert_int_equal(camera[1].format, RM_CAMERA_CMP);
    assert_int_equal(camera[1].channel, 3);
    assert_int_equal(camera[1].first_line, 1);
    assert_int_equal(camera[2].format, RM_CAMERA_GVSP);
    /* Frames of capture devices are no IPv4: the port takes them, once. */
    assert_int_equal(config->port[0].port.ethertype_count, 1);
    assert_int_equal(config->port[0].port.ethertype[0], RM_CAPTURE_ETHERTYPE);
    assert_int_equal(config->port[1].port.ethertype_count, 0);
    rm_config_free(config);
}

static void described_lines(void **state) {
    struct rm_config *const config = machine_of(
        *state, HEAD "cameras:\n  - {name: a, port: sockets, format: lines, " GEOMETRY "}\n" OTHER FORMATS("102"));
    assert_int_equal(config->camera[0].format, RM_CAMERA_LINES);
    assert_string_equal(config->format[config->camera[0].lines].name, "lines");
    rm_config_free(config);
}

static void features(void **state) {
    struct rm_config *const config =
        machine_of(*state, HEAD "cameras:\n"
                                "  - name: a\n"
                                "    port: sockets\n"
                                "    address: 10.30.0.11\n"
                                "    features: [{name: ExposureTime, value: 2000}, {name: TriggerReset},\n"
                                "               {name: PixelFormat, value: Mono12p}]\n" OTHER);
    struct rm_config_camera const *const camera = config->camera;
    assert_int_equal(camera->feature_count, 3);
    assert_string_equal(camera->feature[0].name, "ExposureTime");
    assert_string_equal(camera->feature[0].value, "2000");
    assert_string_equal(camera->feature[1].name, "TriggerReset");
    assert_string_equal(camera->feature[1].value, "");
    assert_string_equal(camera->feature[2].value, "Mono12p");
    rm_config_free(config);
}

#define ONE(camera) HEAD "cameras:\n  - {name: a, " camera "}\n"

static void wrong_ones(void **state) {
    static struct wrong_yaml const wrong[] = {
        {ONE("port: hall, format: tecmp, " GEOMETRY),
         "6:35: cameras[0].format: packets of capture devices need the key device, the number of the camera's"},
        {ONE("port: hall, device: 3"),
         "6:35: cameras[0].device: a camera of this format is behind no capture device, take it out"},
        {ONE("port: hall, format: tecmp"),
         "6:35: cameras[0].format: lines do not tell their geometry, expected the keys pixel_format, width and height"},
        {ONE("port: hall, format: cmp, device: 1, pixel_format: Mono12p, width: 64, height: 4"),
         "6:65: cameras[0].pixel_format: no line of MIPI CSI-2 has it, expected 8 bits, or packed as RAW10 or RAW12 "
         "there"},
        {ONE("port: sockets, format: lines, " GEOMETRY) FORMATS("101"),
         "6:38: cameras[0].format: formats \"lines\", layout.bytes: found 101, expected 102: the pixels' place (6), "
         "and "
         "the bytes of a line (96)"},
        {ONE("port: sockets, pixel_format: Mono12, width: 2448, height: 2048, frame_bytes: 8388608"),
         "6:92: cameras[0].frame_bytes: found 8388608, a frame of its geometry has 10027008"},
        {ONE("port: sockets, features: [{name: Gain}]"),
         "6:40: cameras[0].features: the key address is missing, expected the IPv4 address by which the camera is "
         "controlled"},
        {ONE("port: sockets, format: fragments, address: 10.0.0.1, features: [{name: Gain}]"),
         "6:78: cameras[0].features: a camera of this format is not controlled, expected the format gvsp"},
    };
    EXPECT_ERRORS(*state, wrong);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(capture_devices),
        cmocka_unit_test(described_lines),
        cmocka_unit_test(features),
        cmocka_unit_test(wrong_ones),
    };
    return cmocka_run_group_tests(tests, make_config_file, remove_config_file);
}
