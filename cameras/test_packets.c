// SPDX-License-Identifier: Apache-2.0
/** What a virtual camera sends is read by the readers of its formats, and put together to the bytes that it was made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "frames/assembly.h"
#include "frames/fragment.h"
#include "frames/gvsp.h"
#include "test_camera.h"

enum { PACKET_MAX = 1500, BYTES_MAX = 1 << 16 };

static struct rm_assembly *assembly_new(void) {
    struct rm_assembly *const assembly = rm_assembly_new(&(struct rm_assembly_settings){.slots = 4,
                                                                                        .bytes_max = BYTES_MAX,
                                                                                        .fragments_max = 512,
                                                                                        .deadline_ticks = 1000,
                                                                                        .restart_ticks = 1000,
                                                                                        .later = 1});
    assert_non_null(assembly);
    return assembly;
}

/** Reads a packet by the reader of its format. */
static struct rm_image_fragment packet_read(struct rm_virtual_camera const *camera, uint8_t const *payload,
                                            uint32_t length) {
    struct rm_image_fragment fragment;
    if (camera->format == RM_CAMERA_GVSP) {
        struct rm_gvsp_packet packet;
        assert_int_equal(rm_gvsp_parse(payload, length, &packet), RM_GVSP_GOOD);
        assert_true(rm_gvsp_fragment(&packet, camera->packet_bytes, &fragment));
        return fragment;
    }
    struct rm_image_datagram datagram;
    assert_int_equal(rm_image_parse(payload, length, &datagram), RM_IMAGE_GOOD);
    assert_int_equal(datagram.camera, camera->id);
    return datagram.fragment;
}

static void check_frame(struct rm_virtual_camera const *camera) {
    uint8_t bytes[BYTES_MAX], payload[PACKET_MAX];
    for (uint32_t i = 0; i < BYTES_MAX; ++i)
        bytes[i] = (uint8_t)random();
    struct rm_camera_frame const frame = test_frame(camera, bytes);
    struct rm_assembly *const assembly = assembly_new();
    uint32_t const count = rm_camera_packets(camera, &frame);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t const length = rm_camera_packet_write(camera, &frame, i, false, payload);
        assert_true(length + RM_CAMERA_IP_UDP_BYTES <= camera->mtu);
        struct rm_image_fragment const fragment = packet_read(camera, payload, length);
        assert_int_equal(fragment.frame, frame.number);
        assert_int_equal(fragment.has_geometry, i == rm_camera_first_packet(camera, &frame));
        enum rm_assembly_counter const end = rm_assembly_put(assembly, &fragment, 1);
        assert_true(end <= RM_FRAGMENT_INFORMED || end == RM_FRAGMENT_TRAILING);
    }
    struct rm_image const *const image = rm_assembly_take(assembly);
    assert_non_null(image);
    assert_int_equal(image->status, RM_IMAGE_WHOLE);
    assert_int_equal(image->time, frame.time);
    assert_int_equal(image->length, frame.length);
    assert_memory_equal(image->bytes, bytes, frame.length);
    assert_memory_equal(&image->geometry, &frame.geometry, sizeof frame.geometry);
    rm_assembly_release(assembly, image);
    rm_assembly_free(assembly);
}

static void frames_of_gige_vision_are_read(void **state) {
    (void)state;
    struct rm_virtual_camera camera = test_camera(RM_CAMERA_GVSP, "Mono12p");
    check_frame(&camera);
    camera.extended_ids = true;
    camera.packet_bytes = rm_camera_packet_bytes(camera.format, true, camera.mtu);
    check_frame(&camera);
}

static void frames_of_ours_are_read(void **state) {
    (void)state;
    struct rm_virtual_camera camera = test_camera(RM_CAMERA_FRAGMENTS, "Mono12p");
    assert_int_equal(camera.packet_bytes % 64, 0);
    check_frame(&camera);
    camera.configuration_first = true;
    check_frame(&camera);
}

/** One line and one pixel: a frame of one packet with bytes. */
static void the_smallest_frame_is_read(void **state) {
    (void)state;
    for (int format = RM_CAMERA_GVSP; format <= RM_CAMERA_FRAGMENTS; ++format) {
        struct rm_virtual_camera camera = test_camera((enum rm_camera_format)format, "Mono8");
        camera.geometry.width = camera.geometry.height = 1;
        camera.frame_bytes = 1;
        check_frame(&camera);
    }
}

static void a_packet_that_is_sent_again_says_so(void **state) {
    (void)state;
    struct rm_virtual_camera const camera = test_camera(RM_CAMERA_GVSP, "Mono8");
    uint8_t bytes[BYTES_MAX] = {0}, payload[PACKET_MAX];
    struct rm_camera_frame const frame = test_frame(&camera, bytes);
    struct rm_gvsp_packet packet;
    uint32_t const length = rm_camera_packet_write(&camera, &frame, 1, true, payload);
    assert_int_equal(rm_gvsp_parse(payload, length, &packet), RM_GVSP_GOOD);
    assert_int_equal(packet.status, RM_GVSP_STATUS_RESENT);
}

/** It has a place behind the frame, which a receiver refuses. */
static void a_packet_beyond_the_frame_is_refused(void **state) {
    (void)state;
    uint8_t bytes[BYTES_MAX] = {0}, payload[PACKET_MAX];
    struct rm_virtual_camera const gvsp = test_camera(RM_CAMERA_GVSP, "Mono8");
    struct rm_camera_frame frame = test_frame(&gvsp, bytes);
    struct rm_assembly *const assembly = assembly_new();
    struct rm_image_fragment fragment =
        packet_read(&gvsp, payload, rm_camera_packet_write(&gvsp, &frame, 0, false, payload));
    assert_int_equal(rm_assembly_put(assembly, &fragment, 1), RM_FRAGMENT_INFORMED);
    uint32_t const beyond = rm_camera_packets(&gvsp, &frame);
    fragment = packet_read(&gvsp, payload, rm_camera_packet_write(&gvsp, &frame, beyond, false, payload));
    assert_int_equal(rm_assembly_put(assembly, &fragment, 1), RM_FRAGMENT_BEYOND);
    rm_assembly_free(assembly);

    struct rm_virtual_camera const ours = test_camera(RM_CAMERA_FRAGMENTS, "Mono8");
    frame = test_frame(&ours, bytes);
    struct rm_image_datagram datagram;
    uint32_t const length = rm_camera_packet_write(&ours, &frame, rm_camera_packets(&ours, &frame), false, payload);
    assert_int_equal(rm_image_parse(payload, length, &datagram), RM_IMAGE_BAD_PLACE);
}

static void a_turn_is_sent_as_one(void **state) {
    (void)state;
    struct rm_virtual_camera const camera = test_camera(RM_CAMERA_FRAGMENTS, "Mono8");
    uint8_t bytes[BYTES_MAX] = {0}, payload[PACKET_MAX];
    struct rm_camera_frame frame = test_frame(&camera, bytes);
    frame.time_is_turn = true;
    struct rm_image_datagram datagram = {0};
    for (uint32_t i = 0; i < rm_camera_packets(&camera, &frame); ++i) {
        uint32_t const length = rm_camera_packet_write(&camera, &frame, i, false, payload);
        assert_int_equal(rm_image_parse(payload, length, &datagram), RM_IMAGE_GOOD);
        assert_int_equal(datagram.flags, RM_IMAGE_TIME_IS_TURN);
    }
    assert_int_equal(datagram.exposure_start_ns, frame.exposure_start_ns);
    assert_int_equal(datagram.exposure_end_ns, frame.exposure_end_ns);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(frames_of_gige_vision_are_read),       cmocka_unit_test(frames_of_ours_are_read),
        cmocka_unit_test(the_smallest_frame_is_read),           cmocka_unit_test(a_packet_that_is_sent_again_says_so),
        cmocka_unit_test(a_packet_beyond_the_frame_is_refused), cmocka_unit_test(a_turn_is_sent_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
