// SPDX-License-Identifier: Apache-2.0
/** The receiver over sockets of this host, from datagrams to frames in a program's hands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cameras/test_camera_rig.h"

#define FRAGMENTS "  - {name: cam01, port: wire, format: fragments, id: 7, frame_bytes: 4096, record_turns: 10"
/** Longer than any test takes on the busiest host. */
#define PATIENT ", deadline_ms: 60000}\n"

static void whole_frames_come_bit_for_bit(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, FRAGMENTS PATIENT);
    assert_int_equal(rm_frames_count(rig.frames), 1);
    assert_string_equal(rm_frames_name(rig.frames, 0), "cam01");
    assert_int_equal(rm_frames_find(rig.frames, "cam01"), 0);
    assert_int_equal(rm_frames_find(rig.frames, "cam02"), 1);
    for (uint64_t number = 1; number <= 100; ++number) {
        struct rm_frame frame;
        rig_send_whole(&rig, 7, number);
        uint32_t const camera = rig_next(&rig, &frame);
        assert_int_equal(frame.sequence, number);
        assert_int_equal(frame.slot->turn, 1000 * number);
        assert_int_equal(frame.slot->exposure_end_ns, 6 * number);
        assert_int_equal(frame.slot->flags & ~(uint32_t)RM_IMAGE_HAS_GEOMETRY,
                         RM_IMAGE_HAS_TURN | RM_IMAGE_TURN_SENT | RM_IMAGE_HAS_EXPOSURE);
        rig_check(&rig, camera, &frame, number, 0);
    }
    rig_await_received(&rig, 100 * (RIG_FRAGMENTS + 1));
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_PLACED), 100 * RIG_FRAGMENTS);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_INFORMED), 100);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_PUBLISHED), 100);
    rig_close(&rig);
}

static void each_frame_has_a_record_at_its_turn(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_stream_view view;
    struct rm_error error;
    rig_open(&rig, FRAGMENTS PATIENT);
    assert_int_equal(rm_workspace_stream(rig.workspace, "cam01/frames", &view, &error), RM_OK);
    for (uint64_t number = 1; number <= 3; ++number) {
        struct rm_frame frame;
        rig_send_whole(&rig, 7, number);
        rig_check(&rig, rig_next(&rig, &frame), &frame, number, 0);
    }
    rig_await_received(&rig, 3 * (RIG_FRAGMENTS + 1));
    struct rm_record record;
    assert_int_equal(rm_stream_head(&view), 3000);
    assert_int_equal(rm_stream_read(&view, 2000, &record), RM_READ_OK);
    assert_int_equal(record.lane[rm_stream_lane(view.header, "number")].i, 2);
    assert_int_equal(record.lane[rm_stream_lane(view.header, "width")].i, RIG_WIDTH);
    assert_int_equal(record.lane[rm_stream_lane(view.header, "bytes")].i, RIG_BYTES);
    assert_true(record.lane[rm_stream_lane(view.header, "latency")].f > 0);
    assert_int_equal(rm_stream_read(&view, 2010, &record), RM_READ_MISSING);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_RECORDED), 3);
    rig_close(&rig);
}

static void blocks_of_gige_vision_become_frames(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, "  - {name: cam01, port: wire, frame_bytes: 4096" PATIENT);
    for (uint64_t block = 65530; block != 5; block = block == 65535 ? 1 : block + 1) {
        struct rm_frame frame;
        for (uint32_t packet = 0; packet <= RIG_FRAGMENTS + 1; ++packet)
            rig_send_packet(&rig, block, packet);
        uint32_t const camera = rig_next(&rig, &frame);
        assert_int_equal(frame.slot->device_time, 7 * block);
        assert_int_equal(frame.slot->turn, RM_TURN_NONE);
        rig_check(&rig, camera, &frame, block, 0);
    }
    rig_await_received(&rig, 10 * (RIG_FRAGMENTS + 2));
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_SKIPPED), 0);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_RENUMBERINGS), 0);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_TRAILING), 10);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_UNRECORDED), 10);
    rig_close(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(whole_frames_come_bit_for_bit),
        cmocka_unit_test(each_frame_has_a_record_at_its_turn),
        cmocka_unit_test(blocks_of_gige_vision_become_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
