// SPDX-License-Identifier: Apache-2.0
/** Cameras with a described line of pixels in each datagram, on one socket, told apart by their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cameras/test_camera_rig.h"
#include "wire/network_order.h"

enum { WIDTH = 10, HEIGHT = 4, PIXELS_AT = 10, DATAGRAM = PIXELS_AT + WIDTH, MAGIC = 0x4C43, FRAMES = 20 };

static char const cameras[] = "  - {name: cam01, port: wire, format: lines, id: 1, pixel_format: Mono8, width: 10,\n"
                              "     height: 4, first_line: 1, frame_bytes: 4096, deadline_ms: 60000}\n"
                              "  - {name: cam02, port: wire, format: lines, id: 2, pixel_format: Mono8, width: 10,\n"
                              "     height: 4, first_line: 1, frame_bytes: 4096, deadline_ms: 60000}\n"
                              "formats:\n"
                              "  - name: lines\n"
                              "    layout:\n"
                              "      byte_order: big\n"
                              "      bytes: 20\n"
                              "      constants: [{at: 0, type: u16, value: 0x4C43}]\n"
                              "      id: {at: 2, type: u16}\n"
                              "      counter: {at: 4, type: u16}\n"
                              "      status: {at: 6, type: u16}\n"
                              "      lanes: [{name: pixels, unit: counts, at: 10, type: u8}]\n";

static uint8_t line_pixel(uint32_t camera, uint16_t frame, uint32_t line, uint32_t at) {
    return (uint8_t)(camera * 100 + frame * 40 + line * WIDTH + at);
}

/** Lines count from 1. */
static void send_line(struct camera_rig const *rig, uint16_t magic, uint32_t camera, uint16_t frame, uint16_t line,
                      uint32_t length) {
    uint8_t payload[DATAGRAM + 1] = {0};
    rm_store16(payload, magic);
    rm_store16(payload + 2, (uint16_t)camera);
    rm_store16(payload + 4, frame);
    rm_store16(payload + 6, line);
    for (uint32_t at = 0; at < WIDTH; ++at)
        payload[PIXELS_AT + at] = line_pixel(camera, frame, line, at);
    rig_send(rig, rig->socket, payload, length);
}

static void frame_is(struct camera_rig *rig, uint32_t camera, uint16_t number) {
    struct rm_frame frame;
    assert_int_equal(rig_next(rig, &frame), camera - 1);
    assert_int_equal(frame.slot->number, number);
    assert_int_equal(frame.slot->status, RM_IMAGE_WHOLE);
    assert_int_equal(frame.slot->length, WIDTH * HEIGHT);
    for (uint32_t at = 0; at < WIDTH * HEIGHT; ++at)
        assert_int_equal(frame.bytes[at], line_pixel(camera, number, 1 + at / WIDTH, at % WIDTH));
    rm_frames_release(rig->frames, camera - 1, &frame);
}

static void lines_become_frames_of_their_cameras(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, cameras);
    uint16_t number = 65530;
    for (uint32_t i = 0; i < FRAMES; ++i) {
        for (uint16_t line = HEIGHT; line >= 1; --line) // the last line first
            for (uint32_t camera = 1; camera <= 2; ++camera)
                send_line(&rig, MAGIC, camera, number, line, DATAGRAM);
        frame_is(&rig, 1, number);
        frame_is(&rig, 2, number);
        ++number; // with 0 among them
    }
    send_line(&rig, MAGIC + 1, 1, number, 1, DATAGRAM);
    send_line(&rig, MAGIC, 1, number, 1, DATAGRAM + 1);
    send_line(&rig, MAGIC, 1, number, HEIGHT + 1, DATAGRAM);
    send_line(&rig, MAGIC, 3, number, 1, DATAGRAM);
    rig_await_received(&rig, 2 * FRAMES * HEIGHT + 4);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_WHOLE), FRAMES);
    assert_int_equal(rig_count(&rig, "cam02", RM_CAMERA_WHOLE), FRAMES);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_RENUMBERINGS), 0);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_FOREIGN), 1);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_TOO_SHORT), 1);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_BAD_PLACE), 1);
    assert_int_equal(rig_port_count(&rig, RM_PORT_UNKNOWN_INSTRUMENT), 1);
    rig_close(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {cmocka_unit_test(lines_become_frames_of_their_cameras)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
