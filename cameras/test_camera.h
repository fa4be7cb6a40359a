// SPDX-License-Identifier: Apache-2.0
/** For tests: a small camera. */
#ifndef RM_CAMERAS_TEST_CAMERA_H
#define RM_CAMERAS_TEST_CAMERA_H

#include <string.h>

#include "frames/pixels.h"
#include "packets.h"

/** 50 × 20 pixels, whose frames take a few packets. */
static inline struct rm_virtual_camera test_camera(enum rm_camera_format format, char const *pixel_format) {
    struct rm_virtual_camera camera = {
        .name = "cam01",
        .format = format,
        .ipv4 = 0x7F00000B,
        .udp_port = 20001,
        .id = 7,
        .geometry = {.pixel_format = rm_pixel_format_named(pixel_format)->number, .width = 50, .height = 20},
        .rate_hz = 10,
        .exposure_s = 1e-3,
        .first_number = 1,
        .mtu = 576,
        .pattern = RM_CAMERA_COUNTER,
        .seed = 1,
    };
    camera.frame_bytes = rm_image_bytes(&camera.geometry);
    camera.packet_bytes = rm_camera_packet_bytes(format, false, camera.mtu);
    return camera;
}

static inline struct rm_camera_frame test_frame(struct rm_virtual_camera const *camera, uint8_t const *bytes) {
    return (struct rm_camera_frame){
        .number = 41,
        .time = 123456789,
        .exposure_start_ns = 123456789,
        .exposure_end_ns = 124456789,
        .geometry = camera->geometry,
        .bytes = bytes,
        .length = camera->frame_bytes,
        .told_length = camera->frame_bytes,
        .packet_bytes = camera->packet_bytes,
    };
}

#endif
