// SPDX-License-Identifier: Apache-2.0
/** What is wrong with datagrams, with whole frames between: each ends in one counter, and no frame is harmed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cameras/test_camera_rig.h"

enum { PAYLOAD = 1400, ROUNDS = 2000 };

#define CAMERA "  - {name: cam01, port: wire, format: fragments, id: 7, frame_bytes: 4096, deadline_ms: 60000}\n"
#define GVSP "  - {name: cam01, port: wire, frame_bytes: 4096, deadline_ms: 60000}\n"

/** The head of a fragment or configuration as the format has it, good but for what a test changes. */
static uint32_t good_payload(uint8_t payload[PAYLOAD], enum rm_image_kind kind, uint64_t frame) {
    memset(payload, 0, PAYLOAD);
    struct rm_image_datagram const datagram = {
        .kind = kind,
        .camera = 7,
        .fragment = {.frame = frame,
                     .fragment_bytes = RIG_EACH,
                     .total_bytes = RIG_BYTES,
                     .length = kind == RM_IMAGE_FRAGMENT ? RIG_EACH : 0,
                     .has_geometry = kind == RM_IMAGE_CONFIGURATION,
                     .geometry = {.pixel_format = RIG_MONO8, .width = RIG_WIDTH, .height = RIG_HEIGHT}},
    };
    return rm_image_write(payload, &datagram) + datagram.fragment.length;
}

struct spoilt {
    enum rm_image_kind kind;
    uint32_t at;
    uint8_t value;
    /** Taken from the length, or added. */
    int longer;
    enum rm_camera_counter ending;
};

static void each_fault_has_its_counter(void **state) {
    (void)state;
    static struct spoilt const spoilt[] = {
        {RM_IMAGE_FRAGMENT, 0, 'X', 0, RM_CAMERA_FOREIGN},
        {RM_IMAGE_FRAGMENT, 2, 9, 0, RM_CAMERA_FOREIGN},
        {RM_IMAGE_FRAGMENT, 3, 9, 0, RM_CAMERA_UNSUPPORTED},
        {RM_IMAGE_FRAGMENT, 30, 0x80, 0, RM_CAMERA_UNSUPPORTED},
        {RM_IMAGE_FRAGMENT, 32, 1, 0, RM_CAMERA_BAD_PLACE},
        {RM_IMAGE_FRAGMENT, 0, 'R', -1, RM_CAMERA_TOO_SHORT},
        {RM_IMAGE_FRAGMENT, 0, 'R', 1, RM_CAMERA_TOO_SHORT},
        {RM_IMAGE_FRAGMENT, 0, 'R', -530, RM_CAMERA_TOO_SHORT},
        {RM_IMAGE_CONFIGURATION, 36, 3, 0, RM_CAMERA_BAD_GEOMETRY},
        {RM_IMAGE_FRAGMENT, 27, 1, 0, RM_CAMERA_BEYOND}, /* a frame beyond frame_bytes */
    };
    struct camera_rig rig;
    struct rm_frame frame;
    uint8_t payload[PAYLOAD];
    rig_open(&rig, CAMERA);
    uint64_t sent = 0;
    for (uint32_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; ++i) {
        uint64_t const before = rig_count(&rig, "cam01", spoilt[i].ending);
        uint32_t const length = good_payload(payload, spoilt[i].kind, 1000);
        payload[spoilt[i].at] = spoilt[i].value;
        rig_send(&rig, rig.socket, payload, (uint32_t)((int)length + spoilt[i].longer));
        rig_await_received(&rig, ++sent);
        if (rig_count(&rig, "cam01", spoilt[i].ending) != before + 1)
            fail_msg("spoilt datagram %u did not end in counter %u", i, (unsigned)spoilt[i].ending);
    }
    rig_send_whole(&rig, 7, 1);
    uint32_t const camera = rig_next(&rig, &frame);
    rig_check(&rig, camera, &frame, 1, 0);
    rig_close(&rig);
}

static void what_is_no_camera_s_is_the_port_s(void **state) {
    (void)state;
    struct camera_rig rig;
    uint8_t payload[PAYLOAD + 1000];
    rig_open(&rig, "  - {name: cam01, port: wire, format: fragments, id: 7, address: 127.0.0.1, frame_bytes: 4096}\n");
    rig_send_part(&rig, rig.socket, 8, 1, 0);
    rig_send_part(&rig, rig.other, 7, 1, 0);
    memset(payload, 0, sizeof payload);
    rig_send(&rig, rig.socket, payload, sizeof payload);
    rig_await_received(&rig, 3);
    assert_int_equal(rig_port_count(&rig, RM_PORT_UNKNOWN_INSTRUMENT), 1);
    assert_int_equal(rig_port_count(&rig, RM_PORT_UNKNOWN_SOURCE), 1);
    assert_int_equal(rig_port_count(&rig, RM_PORT_TOO_LONG), 1);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_RECEIVED), 0);
    rig_close(&rig);
}

static void a_camera_changes_its_geometry(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_frame frame;
    uint8_t payload[PAYLOAD];
    rig_open(&rig, CAMERA);
    rig_send_whole(&rig, 7, 1);
    rig_check(&rig, rig_next(&rig, &frame), &frame, 1, 0);
    for (uint64_t number = 2; number <= 3; ++number) { /* one fragment of 20 × 5 pixels */
        struct rm_image_datagram datagram = {
            .kind = RM_IMAGE_CONFIGURATION,
            .camera = 7,
            .fragment = {.frame = number,
                         .fragment_bytes = 100,
                         .total_bytes = 100,
                         .has_geometry = true,
                         .geometry = {.pixel_format = RIG_MONO8, .width = 20, .height = 5}}};
        rig_send(&rig, rig.socket, payload, rm_image_write(payload, &datagram));
        datagram.kind = RM_IMAGE_FRAGMENT;
        datagram.fragment.length = 100;
        memset(payload, 3, sizeof payload);
        rig_send(&rig, rig.socket, payload, rm_image_write(payload, &datagram) + 100);
        uint32_t const camera = rig_next(&rig, &frame);
        assert_int_equal(frame.slot->status, RM_IMAGE_WHOLE);
        assert_int_equal(frame.slot->width, 20);
        assert_int_equal(frame.slot->length, 100);
        assert_int_equal((frame.slot->flags & RM_IMAGE_GEOMETRY_CHANGED) != 0, number == 2);
        rm_frames_release(rig.frames, camera, &frame);
    }
    rig_close(&rig);
}

/** Endings of a camera's datagrams add up to those received, and all are there. */
static void rig_check_sums(struct camera_rig const *rig, uint64_t sent) {
    uint64_t endings = 0, port = 0;
    rig_await_received(rig, sent);
    for (uint32_t i = RM_CAMERA_PLACED; i <= RM_CAMERA_GATHERED; ++i)
        endings += rig_count(rig, "cam01", (enum rm_camera_counter)i);
    assert_int_equal(endings, rig_count(rig, "cam01", RM_CAMERA_RECEIVED));
    for (uint32_t i = RM_PORT_DECODED; i <= RM_PORT_WRONG_LANES; ++i)
        port += rig_port_count(rig, (enum rm_port_counter)i);
    assert_int_equal(port, sent);
    assert_int_equal(rig_port_count(rig, RM_PORT_DECODED), rig_count(rig, "cam01", RM_CAMERA_RECEIVED));
}

/** Random bytes in good heads, so that they come far. Frame numbers stay within the window of good ones. */
static void random_datagrams_harm_no_frame(struct camera_rig *rig, bool gvsp) {
    struct rm_frame frame;
    uint64_t sent = 0;
    srandom(7);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        uint8_t payload[PAYLOAD];
        uint32_t length = gvsp ? RM_GVSP_HEADER_BYTES + 100 : good_payload(payload, 1 + round % 2, 3000000);
        if (gvsp) {
            struct rm_gvsp_packet const packet = {.format = RM_GVSP_PAYLOAD, .block = 30000, .packet = 2};
            memset(payload, 1, sizeof payload);
            rm_gvsp_write(payload, &packet);
        }
        for (uint32_t change = 0; change < 1 + round % 3; ++change)
            payload[random() % 40] = (uint8_t)random();
        length = round % 5 == 0 ? (uint32_t)random() % length : length;
        rig_send(rig, rig->socket, payload, length);
        ++sent;
        rig_await_received(rig, sent);
        while (rm_images_next(rm_frames_reader(rig->frames, 0), 0, &frame) == RM_FRAME_OK) {
            assert_true(frame.slot->length <= 4096);
            assert_true(frame.slot->placed <= frame.slot->fragments);
            rm_frames_release(rig->frames, 0, &frame);
        }
    }
    rig_check_sums(rig, sent);
}

static void random_datagrams_of_our_format(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, CAMERA);
    random_datagrams_harm_no_frame(&rig, false);
    rig_close(&rig);
}

static void random_datagrams_of_gige_vision(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, GVSP);
    random_datagrams_harm_no_frame(&rig, true);
    rig_close(&rig);
}

/** A packet that says that another is gone tells nothing of how long packets are. */
static void what_is_gone_does_not_change_the_length_of_packets(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_frame frame;
    uint8_t payload[PAYLOAD];
    struct rm_gvsp_packet const gone = {
        .status = RM_GVSP_STATUS_UNAVAILABLE, .format = RM_GVSP_PAYLOAD, .block = 1, .packet = 1};
    rig_open(&rig, GVSP);
    for (uint32_t packet = 0; packet <= RIG_FRAGMENTS + 1; ++packet)
        rig_send_packet(&rig, 1, packet);
    rig_check(&rig, rig_next(&rig, &frame), &frame, 1, 0);
    rig_send_packet(&rig, 2, 0);
    rig_send_packet(&rig, 2, 1);
    rig_send(&rig, rig.socket, payload, rm_gvsp_write(payload, &gone));
    for (uint32_t packet = RIG_FRAGMENTS; packet >= 2; --packet) /* the short one first */
        rig_send_packet(&rig, 2, packet);
    rig_send_packet(&rig, 3, 0);
    for (uint32_t packet = 1; packet <= RIG_FRAGMENTS + 1; ++packet)
        rig_send_packet(&rig, 3, packet);
    rig_check(&rig, rig_next(&rig, &frame), &frame, 2, 0);
    rig_close(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_fault_has_its_counter),
        cmocka_unit_test(what_is_no_camera_s_is_the_port_s),
        cmocka_unit_test(a_camera_changes_its_geometry),
        cmocka_unit_test(random_datagrams_of_our_format),
        cmocka_unit_test(random_datagrams_of_gige_vision),
        cmocka_unit_test(what_is_gone_does_not_change_the_length_of_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
