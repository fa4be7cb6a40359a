// SPDX-License-Identifier: Apache-2.0
/** From a camera's slots into a log: every frame bit for bit, what was passed over is counted and marked with its reason,
 * and no lease is kept. */
#include <errno.h>
#include <limits.h>

#include "fabric/test_images_steps.h"

#include "archive/format/scan.h"
#include "follow_images.h"
#include "test_log_rig.h"

enum { MARKS_MAX = 16, FRAMES_MAX = 512 };

static uint8_t disk_image[TEST_IMAGE];

struct rig {
    struct images_test images;
    struct test_log test;
    struct rm_follow_images follow;
    struct rm_record_moment moment;
    /** What is found on the disk: the numbers of the frames in their order, and the marks. */
    uint64_t number[FRAMES_MAX];
    unsigned frames, marks;
    struct rm_mark mark[MARKS_MAX];
};

static void rig_begin_reader(struct rig *rig) {
    uint64_t const last = rig->follow.last;
    rig->follow = (struct rm_follow_images){.view = rig->images.view,
                                            .reader = images_reader(&rig->images),
                                            .log = &rig->test.log,
                                            .object = 1,
                                            .tick_ns = 1};
    if (last > 0)
        rm_images_begin_after(rig->follow.reader, last);
}

static int set_up(void **state) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    assert_true(test_workspaces_make(rig->images.workspaces, sizeof rig->images.workspaces));
    images_owner_open(&rig->images, LEASES);
    images_attach(&rig->images);
    test_log_make(&rig->test, 1);
    rig_begin_reader(rig);
    rig->moment = (struct rm_record_moment){.now_ns = 1000, .tai_ns = 1000};
    *state = rig;
    return 0;
}

static int tear_down(void **state) {
    struct rig *rig = *state;
    rm_follow_images_end(&rig->follow);
    test_log_free(&rig->test);
    images_detach(&rig->images);
    images_owner_close(&rig->images);
    test_workspaces_remove(rig->images.workspaces);
    free(rig);
    return 0;
}

static void rig_step(struct rig *rig) {
    rig->moment.now_ns += 1000 * 1000;
    rig->moment.tai_ns += 1000 * 1000;
    rm_follow_images_step(&rig->follow, &rig->moment);
    rm_log_flush(&rig->test.log);
    test_log_turn(&rig->test);
}

static void rig_take_image(struct rig *rig, struct rm_block_place const *place, uint8_t const *payload) {
    struct rm_archived_image is;
    memcpy(&is, payload, sizeof is);
    assert_int_equal(is.length, FRAME_BYTES);
    assert_int_equal(is.fragments, FRAGMENTS);
    assert_int_equal(is.map_bytes, 16);
    assert_int_equal(is.turn, RM_TURN_NONE);
    assert_int_equal(place->number, is.number);
    uint64_t map;
    memcpy(&map, payload + sizeof is, sizeof map);
    assert_int_equal(map, is.number);
    for (uint64_t i = 0; i < FRAME_BYTES; ++i)
        assert_int_equal(payload[sizeof is + is.map_bytes + i], images_byte(is.number, i));
    assert_true(rig->frames < FRAMES_MAX);
    rig->number[rig->frames++] = is.number;
}

/** Ends the log, and looks through all its files. */
static void rig_look(struct rig *rig) {
    test_log_end(&rig->test);
    for (unsigned f = 0; f < rig->test.disk.file_count; ++f) {
        struct rm_scan scan;
        uint64_t const bytes = test_disk_content(&rig->test.disk, f, disk_image, sizeof disk_image);
        if (rm_scan_begin(&scan, disk_image, bytes, "image", NULL) != RM_OK)
            continue;
        scan.verifies = true;
        for (struct rm_block_place place; rm_scan_next(&scan, &place);) {
            uint8_t const *payload = disk_image + place.offset + sizeof place.block;
            if (place.block.kind == RM_BLOCK_IMAGE)
                rig_take_image(rig, &place, payload);
            else if (place.block.kind == RM_BLOCK_MARK && rig->marks < MARKS_MAX)
                memcpy(&rig->mark[rig->marks++], payload, sizeof(struct rm_mark));
        }
    }
}

/** The newest frames are there for a reader that comes: nothing of the recorder's is leased. */
static void assert_no_lease_is_kept(struct rig *rig) {
    for (uint64_t number = 1000; number < 1000 + 2 * SLOTS; ++number)
        images_publish_next(&rig->images, number);
}

static void test_every_frame_bit_for_bit(void **state) {
    struct rig *rig = *state;
    for (uint32_t slot = 0; slot < SLOTS - 1; ++slot) {
        images_publish(&rig->images, slot, 10 + slot);
        rig_step(rig);
    }
    for (uint64_t number = 10 + SLOTS - 1; number < 60; ++number) {
        images_publish_next(&rig->images, number);
        rig_step(rig);
    }
    rig_look(rig);
    assert_int_equal(rig->frames, 50);
    for (unsigned i = 0; i < rig->frames; ++i)
        assert_int_equal(rig->number[i], 10 + i);
    assert_int_equal(rig->marks, 1);
    assert_int_equal(rig->mark[0].reason, RM_MARK_BEGAN);
    assert_no_lease_is_kept(rig);
}

static void test_what_it_came_too_late_for_is_marked(void **state) {
    struct rig *rig = *state;
    images_publish(&rig->images, 0, 1);
    rig_step(rig);
    for (uint32_t slot = 1; slot < SLOTS; ++slot)
        images_publish(&rig->images, slot, 1 + slot);
    for (uint64_t number = 9; number < 30; ++number) /* the slots of 2 to 21 are taken back before it looks again */
        images_publish_next(&rig->images, number);
    for (unsigned i = 0; i < 5; ++i)
        rig_step(rig);
    rig_look(rig);
    assert_int_equal(rig->frames, 1 + SLOTS);
    assert_int_equal(rig->number[1], 22);
    assert_int_equal(rig->marks, 2);
    assert_int_equal(rig->mark[1].reason, RM_MARK_LAPPED);
    assert_int_equal(rig->mark[1].records, 20);
    assert_int_equal(rig->follow.lost[RM_MARK_LAPPED], 20);
}

/** While the disk is full the log has its buffers, and the slots some more. What neither has is lost, and each reason told once. */
static void test_a_disk_that_is_full_costs_what_is_counted(void **state) {
    struct rig *rig = *state;
    rig->test.has_room = false;
    uint64_t number = 1;
    for (uint32_t slot = 0; slot < SLOTS - 1; ++slot)
        images_publish(&rig->images, slot, number++);
    rig_step(rig);
    for (; number <= 100; ++number) {
        images_publish_next(&rig->images, number);
        rig_step(rig);
    }
    rig->test.has_room = true;
    for (unsigned i = 0; i < 5000; ++i) /* a second until it is tried again, then all that waits */
        rig_step(rig);
    rig_look(rig);
    uint64_t lost = 0, marked = 0;
    for (unsigned r = 0; r < RM_FOLLOW_REASONS; ++r)
        lost += rig->follow.lost[r];
    for (unsigned m = 0; m < rig->marks; ++m)
        marked += rig->mark[m].records;
    assert_true(lost > 0);
    assert_int_equal(rig->follow.lost[RM_MARK_LAPPED], 0);
    assert_int_equal(marked, lost);
    assert_int_equal(rig->frames + lost, 100);
    assert_int_equal(rig->number[rig->frames - 1], 100);
}

static void test_it_goes_on_where_the_reader_before_was(void **state) {
    struct rig *rig = *state;
    for (uint32_t slot = 0; slot < 3; ++slot)
        images_publish(&rig->images, slot, 1 + slot);
    rig_step(rig);
    rm_follow_images_end(&rig->follow);
    for (uint32_t slot = 3; slot < 6; ++slot)
        images_publish(&rig->images, slot, 1 + slot);
    rig_begin_reader(rig);
    rig_step(rig);
    rig_look(rig);
    assert_int_equal(rig->frames, 6);
    for (unsigned i = 0; i < rig->frames; ++i)
        assert_int_equal(rig->number[i], 1 + i);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(test_every_frame_bit_for_bit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_it_came_too_late_for_is_marked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_disk_that_is_full_costs_what_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_goes_on_where_the_reader_before_was, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
