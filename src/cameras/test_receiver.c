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

static void lost_fragments_show_as_zeros_or_as_the_frame_before(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_frame frame;
    rig_open(&rig, FRAGMENTS PATIENT "  - {name: cam02, port: wire, format: fragments, id: 8, frame_bytes: 4096, "
                                     "incomplete: fill" PATIENT
                                     "  - {name: cam03, port: wire, format: fragments, id: 9, frame_bytes: 4096, "
                                     "incomplete: drop" PATIENT);
    for (uint32_t id = 7; id <= 9; ++id) {
        for (uint64_t number = 1; number <= 3; ++number)
            for (int part = -1; part < RIG_FRAGMENTS; ++part)
                if (number != 2 || part != 2)
                    rig_send_part(&rig, rig.socket, id, number, part);
        uint32_t camera = rig_next(&rig, &frame);
        assert_int_equal(camera, id - 7);
        rig_check(&rig, camera, &frame, 1, 0);
        if (id == 7) {
            camera = rig_next(&rig, &frame);
            rig_check(&rig, camera, &frame, 2, 1);
        }
        if (id == 8) {
            camera = rig_next(&rig, &frame);
            assert_int_equal(frame.slot->status, RM_IMAGE_FILLED);
            assert_int_equal(frame.slot->placed, RIG_FRAGMENTS - 1);
            assert_int_equal(frame.map[0], 0x3B);
            for (uint32_t at = 0; at < RIG_BYTES; ++at)
                assert_int_equal(frame.bytes[at], rig_pixel(at / RIG_EACH == 2 ? 1 : 2, at));
            rm_frames_release(rig.frames, camera, &frame);
        }
        camera = rig_next(&rig, &frame);
        rig_check(&rig, camera, &frame, 3, 0);
    }
    rig_await_shown(&rig, "cam03", RM_CAMERA_WHOLE, 2);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_INCOMPLETE), 1);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_BEHIND_LATER), 1);
    assert_int_equal(rig_count(&rig, "cam02", RM_CAMERA_FILLED), 1);
    assert_int_equal(rig_count(&rig, "cam03", RM_CAMERA_DROPPED), 1);
    rig_close(&rig);
}

static void a_frame_ends_at_its_deadline_though_nothing_comes(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_frame frame;
    rig_open(&rig, FRAGMENTS ", deadline_ms: 1}\n");
    rig_send_part(&rig, rig.socket, 7, 1, 3);
    uint32_t const camera = rig_next(&rig, &frame);
    assert_int_equal(frame.slot->status, RM_IMAGE_INCOMPLETE);
    assert_int_equal(frame.slot->placed, 1);
    assert_false(frame.slot->flags & RM_IMAGE_HAS_GEOMETRY);
    assert_int_equal(frame.slot->width, 0);
    rm_frames_release(rig.frames, camera, &frame);
    rig_await_shown(&rig, "cam01", RM_CAMERA_AT_DEADLINE, 1);
    rig_close(&rig);
}

static void of_two_cameras_with_one_id_one_is_heard(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_frame frame;
    rig_open(&rig, FRAGMENTS PATIENT);
    for (uint64_t number = 1; number <= 5; ++number) {
        for (int part = -1; part < RIG_FRAGMENTS; ++part) {
            rig_send_part(&rig, rig.socket, 7, number, part);
            rig_send_part(&rig, rig.other, 7, number + 100, part);
        }
        uint32_t const camera = rig_next(&rig, &frame);
        rig_check(&rig, camera, &frame, number, 0);
    }
    rig_await_received(&rig, 10 * (RIG_FRAGMENTS + 1));
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_OTHER_SENDER), 5 * (RIG_FRAGMENTS + 1));
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_RECEIVED), 10 * (RIG_FRAGMENTS + 1));
    rig_close(&rig);
}

static void readers_that_never_release_do_not_stop_new_frames(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_frame held[8], frame;
    struct rm_images_view view;
    struct rm_error error;
    uint32_t leased = 0;
    rig_open(&rig, FRAGMENTS ", slots: 8, leases: 3" PATIENT);
    assert_int_equal(rm_workspace_images(rig.workspace, "cam01", &view, &error), RM_OK);
    struct rm_images_reader *greedy[3];
    for (uint32_t i = 0; i < 3; ++i)
        assert_int_equal(rm_images_reader_new(&view, &greedy[i], &error), RM_OK);
    for (uint64_t number = 1; number <= 50; ++number) {
        rig_send_whole(&rig, 7, number);
        rig_await_shown(&rig, "cam01", RM_CAMERA_WHOLE, number);
        if (leased < 3)
            leased += rm_images_next(greedy[leased], 1000000000, &held[leased]) == RM_FRAME_OK;
    }
    assert_int_equal(leased, 3);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_PUBLISHED), 50);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_WITHOUT_ROOM), 0);
    assert_true(rig_count(&rig, "cam01", RM_CAMERA_FREE_SLOTS) >= 4);
    assert_int_equal(rm_images_newest(rm_frames_reader(rig.frames, 0), 0, &frame), RM_FRAME_NO_LEASE);
    for (uint32_t i = 0; i < leased; ++i) {
        uint64_t const number = held[i].slot->number;
        for (uint32_t at = 0; at < RIG_BYTES; ++at)
            assert_int_equal(held[i].bytes[at], rig_pixel(number, at));
        rm_images_release(greedy[i], &held[i]);
        rm_images_reader_free(greedy[i]);
    }
    assert_int_equal(rm_images_newest(rm_frames_reader(rig.frames, 0), 0, &frame), RM_FRAME_OK);
    rig_check(&rig, 0, &frame, 50, 0);
    rig_close(&rig);
}

/** More frames wait for fragments than slots are kept free: what lies published and is not leased makes room. */
static void frames_in_flight_take_published_slots(void **state) {
    (void)state;
    enum { PUBLISHED = 20, IN_FLIGHT = 7 };
    struct camera_rig rig;
    struct rm_frame frame;
    rig_open(&rig, "  - {name: cam01, port: wire, format: fragments, id: 7, frame_bytes: 4096, deadline_ms: 60000}\n");
    uint64_t number = 1;
    for (; number <= PUBLISHED; ++number) {
        rig_send_whole(&rig, 7, number);
        rig_check(&rig, rig_next(&rig, &frame), &frame, number, 0);
    }
    for (; number <= PUBLISHED + IN_FLIGHT; ++number)
        rig_send_part(&rig, rig.socket, 7, number, 0);
    rig_await_shown(&rig, "cam01", RM_CAMERA_BEGUN, PUBLISHED + IN_FLIGHT);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_DROPPED), 0);
    rig_close(&rig);
}

/** Also where nothing comes any more. */
static void dropped_frames_are_counted_at_their_deadline(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, "  - {name: cam01, port: wire, format: fragments, id: 7, frame_bytes: 4096, deadline_ms: 50, "
                   "incomplete: drop}\n");
    rig_send_part(&rig, rig.socket, 7, 1, 0);
    rig_await_shown(&rig, "cam01", RM_CAMERA_DROPPED, 1);
    assert_int_equal(rig_count(&rig, "cam01", RM_CAMERA_AT_DEADLINE), 1);
    rig_close(&rig);
}

/** Numbers come again, and what was told of a frame before is not this one's. */
static void a_restarted_camera_tells_anew(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_frame frame;
    rig_open(&rig, "  - {name: cam01, port: wire, format: fragments, id: 7, frame_bytes: 4096, deadline_ms: 60000}\n");
    static uint64_t const whole[] = {1, 5000};
    for (uint32_t i = 0; i < 2; ++i) {
        rig_send_whole(&rig, 7, whole[i]);
        assert_int_equal(rig_next(&rig, &frame), 0);
        assert_true(frame.slot->flags & RM_IMAGE_HAS_EXPOSURE);
        rig_check(&rig, 0, &frame, whole[i], 0);
    }
    rig_send_part(&rig, rig.socket, 7, 1, 0); /* its configuration is lost */
    rig_send_whole(&rig, 7, 2);
    assert_int_equal(rig_next(&rig, &frame), 0);
    assert_int_equal(frame.slot->number, 1);
    assert_false(frame.slot->flags & RM_IMAGE_HAS_EXPOSURE);
    rm_frames_release(rig.frames, 0, &frame);
    rig_close(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_restarted_camera_tells_anew),
        cmocka_unit_test(dropped_frames_are_counted_at_their_deadline),
        cmocka_unit_test(frames_in_flight_take_published_slots),
        cmocka_unit_test(whole_frames_come_bit_for_bit),
        cmocka_unit_test(each_frame_has_a_record_at_its_turn),
        cmocka_unit_test(blocks_of_gige_vision_become_frames),
        cmocka_unit_test(lost_fragments_show_as_zeros_or_as_the_frame_before),
        cmocka_unit_test(a_frame_ends_at_its_deadline_though_nothing_comes),
        cmocka_unit_test(of_two_cameras_with_one_id_one_is_heard),
        cmocka_unit_test(readers_that_never_release_do_not_stop_new_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
