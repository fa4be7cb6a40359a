// SPDX-License-Identifier: Apache-2.0
/** The streams of beam spots, from datagrams to records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cameras/camera_profiles.h"
#include "cameras/test_camera_rig.h"

enum { FRAMES = 60, TURNS_PER_FRAME = 1000 };

#define CAMERA(MORE)                                                                                                   \
    "  - {name: cam01, port: wire, format: fragments, id: 7, frame_bytes: 4096, record_turns: 10, deadline_ms: "       \
    "60000" MORE "}\n"

/** A frame of 8 bits with a spot of 3 × 2 pixels; peak 0: without. */
static void send_spot(struct camera_rig const *rig, uint8_t flags, uint64_t frame, double x, double y, double peak) {
    uint8_t payload[RM_IMAGE_CONFIGURATION_BYTES + RIG_EACH];
    struct rm_image_datagram datagram = {
        .kind = RM_IMAGE_CONFIGURATION,
        .flags = flags,
        .camera = 7,
        .fragment = {.frame = frame,
                     .fragment_bytes = RIG_EACH,
                     .total_bytes = RIG_BYTES,
                     .time = TURNS_PER_FRAME * frame,
                     .geometry = {.pixel_format = RIG_MONO8, .width = RIG_WIDTH, .height = RIG_HEIGHT}},
    };
    rig_send(rig, rig->socket, payload, rm_image_write(payload, &datagram));
    datagram.kind = RM_IMAGE_FRAGMENT;
    for (uint32_t at = 0; at < RIG_BYTES; at += datagram.fragment.length) {
        datagram.fragment.offset = at;
        datagram.fragment.length = RIG_BYTES - at < RIG_EACH ? RIG_BYTES - at : RIG_EACH;
        uint32_t const header = rm_image_write(payload, &datagram);
        for (uint32_t i = 0; i < datagram.fragment.length; ++i) {
            uint32_t const column = (at + i) % RIG_WIDTH, line = (at + i) / RIG_WIDTH;
            double const dx = (column - x) / 3, dy = (line - y) / 2;
            payload[header + i] = (uint8_t)(10.5 + peak * exp(-(dx * dx + dy * dy) / 2));
        }
        rig_send(rig, rig->socket, payload, header + datagram.fragment.length);
    }
}

static struct rm_stream_view profile_stream(struct camera_rig const *rig) {
    struct rm_stream_view view;
    struct rm_error error;
    if (rm_workspace_stream(rig->workspace, "cam01/profile", &view, &error) != RM_OK)
        fail_msg("%s", error.text);
    return view;
}

/** Waits until the frame has its record. */
static struct rm_record record_of(struct rm_stream_view const *view, uint64_t frame) {
    struct rm_record record;
    while (rm_stream_head(view) != TURNS_PER_FRAME * frame)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(rm_stream_read(view, TURNS_PER_FRAME * frame, &record), RM_READ_OK);
    return record;
}

static bool is_near(float value, double wanted) { return fabs((double)value - wanted) < 0.1; }

static void a_spot_has_a_record_at_its_turn(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, CAMERA(", profile: true"));
    struct rm_stream_view const view = profile_stream(&rig);
    assert_string_equal(view.header->lane[RM_PROFILE_LANE_SIGMA_MAJOR].name, "sigma_major");
    for (uint64_t frame = 1; frame <= 3; ++frame) {
        double const x = 28.25 + (double)frame, y = 20.5;
        send_spot(&rig, RM_IMAGE_TIME_IS_TURN, frame, x, y, 200);
        struct rm_record const record = record_of(&view, frame);
        assert_true(is_near(record.lane[RM_PROFILE_LANE_X].f, x));
        assert_true(is_near(record.lane[RM_PROFILE_LANE_Y].f, y));
        assert_true(is_near(record.lane[RM_PROFILE_LANE_SIGMA_MAJOR].f, 3));
        assert_true(is_near(record.lane[RM_PROFILE_LANE_SIGMA_MINOR].f, 2));
        assert_true(is_near(record.lane[RM_PROFILE_LANE_TILT].f, 0));
        assert_true(is_near(record.lane[RM_PROFILE_LANE_BACKGROUND].f, 10));
        assert_true(record.lane[RM_PROFILE_LANE_PEAK].i > 190);
        assert_int_equal(record.lane[RM_PROFILE_LANE_MARKS].i, 0);
        assert_int_equal(record.lane[RM_PROFILE_LANE_NUMBER].i, frame);
    }
    send_spot(&rig, RM_IMAGE_TIME_IS_TURN, 4, 0, 0, 0);
    assert_int_equal(record_of(&view, 4).lane[RM_PROFILE_LANE_MARKS].i, RM_PROFILE_NO_SPOT);
    rig_close(&rig);
}

static void frames_that_are_passed_over_are_counted(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, CAMERA(", profile: true"));
    struct rm_stream_view const view = profile_stream(&rig);
    for (uint64_t frame = 1; frame <= FRAMES; ++frame) {
        send_spot(&rig, RM_IMAGE_TIME_IS_TURN, frame, 30, 20, 200);
        rig_await_received(&rig, frame * (RIG_FRAGMENTS + 1));
    }
    (void)record_of(&view, FRAMES);
    uint64_t counted = 0;
    for (uint64_t frame = 1; frame <= FRAMES; ++frame) {
        struct rm_record record;
        if (rm_stream_read(&view, TURNS_PER_FRAME * frame, &record) == RM_READ_OK)
            counted += 1 + (uint64_t)record.lane[RM_PROFILE_LANE_SKIPPED].i;
    }
    assert_int_equal(counted, FRAMES);
    rig_close(&rig);
}

static void a_frame_without_a_turn_has_no_record(void **state) {
    (void)state;
    struct camera_rig rig;
    rig_open(&rig, CAMERA(", profile: true"));
    struct rm_stream_view const view = profile_stream(&rig);
    send_spot(&rig, 0, 1, 30, 20, 200);
    rig_await_received(&rig, RIG_FRAGMENTS + 1);
    send_spot(&rig, RM_IMAGE_TIME_IS_TURN, 2, 30, 20, 200);
    struct rm_record const record = record_of(&view, 2);
    assert_int_equal(record.lane[RM_PROFILE_LANE_SKIPPED].i, 1);
    rig_close(&rig);
}

static void a_camera_that_does_not_ask_has_no_such_stream(void **state) {
    (void)state;
    struct camera_rig rig;
    struct rm_stream_view view;
    struct rm_error error;
    rig_open(&rig, CAMERA(""));
    assert_int_not_equal(rm_workspace_stream(rig.workspace, "cam01/profile", &view, &error), RM_OK);
    rig_close(&rig);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_spot_has_a_record_at_its_turn),
        cmocka_unit_test(frames_that_are_passed_over_are_counted),
        cmocka_unit_test(a_frame_without_a_turn_has_no_record),
        cmocka_unit_test(a_camera_that_does_not_ask_has_no_such_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
