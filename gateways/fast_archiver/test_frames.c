// SPDX-License-Identifier: Apache-2.0
/** Frames out of streams that this test writes: late, missing, restarted, lapped. */
#include "frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ringmaster/owner.h>

#include "fabric/test_workspace.h"
#include "live.h"

enum { STREAMS = 2, CAPACITY = 1024, PERIOD = 10, IDS = 32 };

/** Of 1000 turns per second: the wait is 200 turns, 20 records. */
static double const TURN_RATE_HZ = 1000;

struct rig {
    char root[64];
    struct rm_owner *owner;
    rm_owner_index stream[STREAMS];
    struct rm_workspace *workspace;
    struct fa_frames frames;
};

static char instrument[] = "bpm", lane_x[] = "x", lane_y[] = "y";

static struct fa_file_ids ids[] = {{.id = 3, .count = STREAMS, .instrument = instrument, .x = lane_x, .y = lane_y}};

static struct fa_file const file = {.id_count = IDS, .ids = ids, .ids_count = 1};

static int rig_make(void **state) {
    static struct rig rig;
    struct rm_error error = {.text = ""};
    struct rm_stream const stream = {
        .capacity = CAPACITY,
        .period = PERIOD,
        .instrument_kind = RM_KIND_BPM,
        .lane_count = 2,
        .filter = "none",
        .lane = {{.name = "x", .unit = "nm", .type = RM_LANE_I32}, {.name = "y", .unit = "µm", .type = RM_LANE_F32}},
    };
    memset(&rig, 0, sizeof rig);
    if (!test_workspaces_make(rig.root, sizeof rig.root) ||
        rm_owner_new("frames", "server", &rig.owner, &error) != RM_OK)
        return -1;
    rig.stream[0] = rm_owner_stream(rig.owner, "bpm01/turn", "one", &stream);
    rig.stream[1] = rm_owner_stream(rig.owner, "bpm02/turn", "two", &stream);
    enum rm_code code = rm_owner_open(rig.owner, &error);
    if (code == RM_OK)
        code = rm_workspace_attach("frames", 0, &rig.workspace, &error);
    if (code == RM_OK)
        code = fa_frames_open(&rig.frames, rig.workspace, &file, "turn", TURN_RATE_HZ, &error);
    if (code != RM_OK)
        fprintf(stderr, "%s\n", error.text);
    *state = &rig;
    return code == RM_OK ? 0 : -1;
}

static int rig_remove(void **state) {
    struct rig *const rig = *state;
    fa_frames_close(&rig->frames);
    rm_workspace_detach(rig->workspace);
    rm_owner_close(rig->owner);
    test_workspaces_remove(rig->root);
    return 0;
}

/** Record number n of a stream: X is 100 n + stream nm, Y is n µm. */
static void put(struct rig const *rig, unsigned stream, uint64_t number) {
    struct rm_record const record = {.turn = number * PERIOD,
                                     .lane = {{.i = (int32_t)(100 * number + stream)}, {.f = (float)number}}};
    assert_true(rm_owner_stream_put(rig->owner, rig->stream[stream], &record, 1));
}

static void put_both(struct rig const *rig, uint64_t first, uint64_t last) {
    for (uint64_t number = first; number <= last; ++number)
        for (unsigned stream = 0; stream < STREAMS; ++stream)
            put(rig, stream, number);
}

static void assert_frame(struct rig const *rig, uint64_t frame, uint64_t number, bool has_second) {
    int32_t const *const value = fa_frames_at(&rig->frames, frame);
    assert_int_equal(value[0], number);
    assert_int_equal(value[1], 0);
    assert_int_equal(value[2 * 3], 100 * number);
    assert_int_equal(value[2 * 3 + 1], 1000 * number);
    assert_int_equal(value[2 * 4], has_second ? 100 * number + 1 : 0);
    assert_int_equal(value[2 * 4 + 1], has_second ? 1000 * number : 0);
    assert_int_equal(value[2 * 5], 0);
}

static void test_frames_are_records_of_one_turn(void **state) {
    struct rig *const rig = *state;
    assert_false(fa_frames_begin(&rig->frames));
    assert_true(fa_frames_make(&rig->frames));
    put_both(rig, 1, 5);
    assert_true(fa_frames_begin(&rig->frames));
    assert_true(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.next, 0); /* it begins behind what is there */
    put_both(rig, 6, 205);
    assert_true(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.next, 200);
    for (uint64_t frame = 0; frame < 200; ++frame)
        assert_frame(rig, frame, 6 + frame, true);
    assert_int_equal(fa_frames_turn(&rig->frames, 7), 13 * PERIOD);
    assert_int_equal(rig->frames.missing, 0);
    assert_int_equal(rig->frames.gaps, 0);
}

static void test_a_late_stream_is_waited_for(void **state) {
    struct rig *const rig = *state;
    put_both(rig, 1, 1);
    assert_true(fa_frames_begin(&rig->frames));
    for (uint64_t number = 2; number <= 20; ++number)
        put(rig, 0, number);
    assert_true(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.next, 0);
    for (uint64_t number = 2; number <= 20; ++number)
        put(rig, 1, number);
    assert_true(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.next, 19);
    assert_frame(rig, 18, 20, true);
    assert_int_equal(rig->frames.missing, 0);
}

static void test_what_does_not_come_is_zeros(void **state) {
    struct rig *const rig = *state;
    put_both(rig, 1, 1);
    assert_true(fa_frames_begin(&rig->frames));
    for (uint64_t number = 2; number <= 30; ++number)
        put(rig, 0, number);
    assert_true(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.next, 30 - 20 - 1); /* all of more than 200 turns ago */
    for (uint64_t frame = 0; frame < rig->frames.next; ++frame)
        assert_frame(rig, frame, 2 + frame, false);
    assert_int_equal(rig->frames.missing, rig->frames.next);
    assert_int_equal(rig->frames.gaps, 0);
}

static void test_one_lost_record_is_zeros_and_no_gap(void **state) {
    struct rig *const rig = *state;
    put_both(rig, 1, 4);
    assert_true(fa_frames_begin(&rig->frames));
    put(rig, 0, 5);
    put_both(rig, 6, 40);
    assert_true(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.next, 36);
    assert_frame(rig, 0, 5, false);
    assert_frame(rig, 1, 6, true);
    assert_int_equal(rig->frames.missing, 1);
}

static void test_a_restart_is_a_gap(void **state) {
    struct rig *const rig = *state;
    put_both(rig, 1000, 1000);
    assert_true(fa_frames_begin(&rig->frames));
    put_both(rig, 1001, 1010);
    assert_true(fa_frames_make(&rig->frames));
    put_both(rig, 1, 3);
    assert_false(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.gaps, 1);
    put_both(rig, 4, 8);
    assert_true(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.gaps, 1);
    assert_frame(rig, rig->frames.next - 1, 8, true);
}

static void test_what_was_overwritten_is_a_gap(void **state) {
    struct rig *const rig = *state;
    put_both(rig, 1, 1);
    assert_true(fa_frames_begin(&rig->frames));
    put_both(rig, 2, 3 * CAPACITY);
    assert_false(fa_frames_make(&rig->frames));
    assert_int_equal(rig->frames.gaps, 1);
}

static void test_streams_that_do_not_fit_are_refused(void **state) {
    struct rig *const rig = *state;
    struct fa_frames frames;
    struct rm_error error;
    char other[] = "z";
    struct fa_file_ids wrong[] = {ids[0]};
    struct fa_file with_wrong = file;
    with_wrong.ids = wrong;
    wrong[0].y = other;
    assert_int_equal(fa_frames_open(&frames, rig->workspace, &with_wrong, "turn", TURN_RATE_HZ, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "bpm01/turn has no lane \"z\""));
    assert_int_equal(fa_frames_open(&frames, rig->workspace, &file, "fast", TURN_RATE_HZ, &error), RM_E_NOT_FOUND);
}

static void test_units_and_times(void **state) {
    (void)state;
    assert_true(fa_unit_nm("nm") == 1 && fa_unit_nm("µm") == 1e3 && fa_unit_nm("mm") == 1e6 && fa_unit_nm("A") == 1);
    assert_int_equal(fa_whole(1e12), INT32_MAX);
    assert_int_equal(fa_whole(-1e12), INT32_MIN);
    assert_int_equal(fa_whole(__builtin_nan("")), 0);
    assert_int_equal(fa_whole(-2.6), -3);
    uint64_t const tai_ns = 1790000037123456789;
    assert_int_equal(fa_utc_us(tai_ns, 37), 1790000000123456);
    assert_int_equal(fa_utc_us(tai_ns, 0), 1790000037123456);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_frames_are_records_of_one_turn, rig_make, rig_remove),
        cmocka_unit_test_setup_teardown(test_a_late_stream_is_waited_for, rig_make, rig_remove),
        cmocka_unit_test_setup_teardown(test_what_does_not_come_is_zeros, rig_make, rig_remove),
        cmocka_unit_test_setup_teardown(test_one_lost_record_is_zeros_and_no_gap, rig_make, rig_remove),
        cmocka_unit_test_setup_teardown(test_a_restart_is_a_gap, rig_make, rig_remove),
        cmocka_unit_test_setup_teardown(test_what_was_overwritten_is_a_gap, rig_make, rig_remove),
        cmocka_unit_test_setup_teardown(test_streams_that_do_not_fit_are_refused, rig_make, rig_remove),
        cmocka_unit_test(test_units_and_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
