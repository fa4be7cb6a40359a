// SPDX-License-Identifier: Apache-2.0
/** The C API on the files of make_seeds.py, which another implementation wrote: turns 0–15 and 32–39, whose lane i has
 * turn + i; and frames 7, 8 and 10 of a camera, whose byte i is number + i. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ringmaster/archive_read.h>

enum { RECORDS = 48 };

static char const *folder;

static struct rm_archive *archive_opened(char const *file) {
    char path[RM_ARCHIVE_PATH_BYTES];
    struct rm_archive *archive = NULL;
    struct rm_error error;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (rm_archive_open(path, &archive, &error) != RM_OK)
        fail_msg("%s", error.text);
    return archive;
}

static uint32_t stream_of(struct rm_archive const *archive) {
    uint32_t object = 0;
    assert_int_equal(rm_archive_find(archive, "bpm01/turn", RM_BLOCK_RECORDS, 1, &object, NULL), RM_OK);
    return object;
}

static void assert_records(char const *file) {
    struct rm_archive *const archive = archive_opened(file);
    struct rm_record records[RECORDS];
    uint8_t results[RECORDS];
    struct rm_archive_request const request = {.object = stream_of(archive), .count = RECORDS};
    struct rm_archive_answer const answer = {.records = records, .results = results};
    assert_int_equal(rm_archive_read(archive, &request, &answer, NULL), RM_OK);
    for (int turn = 0; turn < RECORDS; ++turn) {
        bool const there = turn < 16 || (turn >= 32 && turn < 40);
        assert_int_equal(results[turn], there ? RM_ARCHIVE_OK : RM_ARCHIVE_NOT_RECORDED);
        for (int lane = 0; lane < RM_LANES; ++lane)
            assert_int_equal(records[turn].lane[lane].i, there ? turn + lane : 0);
    }
    uint32_t count = 0;
    (void)rm_archive_damages(archive, &count);
    assert_int_equal(count, 0);
    rm_archive_close(archive);
}

static void test_records_of_a_sealed_file(void **state) {
    (void)state;
    assert_records("1.rmlog");
}

static void test_records_of_a_file_that_grows(void **state) {
    (void)state;
    assert_records("2.rmlog");
}

static void test_what_cannot_be_asked(void **state) {
    (void)state;
    struct rm_archive *const archive = archive_opened("1.rmlog");
    struct rm_archive_answer const answer = {.records = NULL};
    struct rm_archive_request const bad[] = {
        {.object = 99, .count = 1},
        {.object = stream_of(archive), .run = 1, .count = 1},
        {.object = stream_of(archive), .first_turn = RM_TURN_END, .count = 1},
        {.object = stream_of(archive), .count = UINT64_MAX},
    };
    struct rm_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
        assert_int_equal(rm_archive_read(archive, &bad[i], &answer, &error), RM_E_ARGUMENT);
    uint32_t object;
    assert_int_equal(rm_archive_find(archive, "bpm02/turn", RM_BLOCK_RECORDS, 0, &object, &error), RM_E_NOT_FOUND);
    rm_archive_close(archive);
    assert_int_equal(rm_archive_open("/nowhere", &(struct rm_archive *){NULL}, &error), RM_E_ABSENT);
}

static void test_times_and_turns(void **state) {
    (void)state;
    struct rm_archive *const archive = archive_opened("1.rmlog");
    struct rm_archive_range range;
    assert_int_equal(rm_archive_between(archive, stream_of(archive), RM_TIME_TAI, 3, 10, &range, 1), 1);
    assert_int_equal(range.first_turn, 3); // the files' times are their turns, in ns
    assert_int_equal(range.count, 7);
    assert_int_equal(rm_archive_between(archive, stream_of(archive), RM_TIME_TAI, 100, 200, &range, 1), 0);
    rm_archive_close(archive);
}

static void test_marks_and_events(void **state) {
    (void)state;
    struct rm_archive *const archive = archive_opened("1.rmlog");
    uint32_t count = 0, events = 0;
    struct rm_archive_mark const *const marks = rm_archive_marks(archive, &count);
    assert_int_equal(count, 1);
    assert_int_equal(marks->mark.reason, RM_MARK_DISK_SLOW);
    assert_int_equal(marks->object, stream_of(archive));
    assert_int_equal(rm_archive_find(archive, "events", RM_BLOCK_EVENTS, 0, &events, NULL), RM_OK);
    char line[256] = "";
    assert_true(rm_archive_object_at(archive, events)->block[0].block.plain_bytes < sizeof line);
    assert_int_equal(rm_archive_payload(archive, events, 0, line, NULL), RM_OK);
    assert_non_null(strstr(line, "\"put\""));
    rm_archive_close(archive);
}

static void assert_images(char const *file) {
    static uint32_t const NUMBERS[] = {7, 8, 10};
    struct rm_archive *const archive = archive_opened(file);
    _Alignas(8) uint8_t payload[256];
    uint32_t object = 0, blocks[3] = {9, 9, 9};
    assert_int_equal(rm_archive_find(archive, "cam01", RM_BLOCK_IMAGE, 0, &object, NULL), RM_OK);
    assert_int_equal(rm_archive_images_between(archive, object, RM_IMAGE_BY_NUMBER, 0, 100, blocks, 3), 3);
    for (uint32_t i = 0; i < 3; ++i) {
        struct rm_archive_image image;
        assert_int_equal(blocks[i], i);
        assert_true(rm_archive_object_at(archive, object)->block[i].block.plain_bytes <= sizeof payload);
        assert_int_equal(rm_archive_image(archive, object, i, payload, &image, NULL), RM_OK);
        assert_int_equal(image.is.number, NUMBERS[i]);
        assert_int_equal(image.is.turn, 100 + NUMBERS[i]);
        assert_int_equal(image.is.length, 32);
        assert_int_equal(image.is.fragments, 2);
        assert_int_equal(image.map[0], NUMBERS[i] == 10 ? 1 : 3);
        for (uint32_t b = 0; b < image.is.length; ++b)
            assert_int_equal(image.bytes[b], NUMBERS[i] + b);
    }
    rm_archive_close(archive);
}

static void test_images(void **state) {
    (void)state;
    assert_images("1.rmlog");
    assert_images("2.rmlog");
}

static void test_images_by_time_turn_and_number(void **state) {
    (void)state;
    struct rm_archive *const archive = archive_opened("1.rmlog");
    uint32_t object = 0, block = 9;
    assert_int_equal(rm_archive_find(archive, "cam01", RM_BLOCK_IMAGE, 0, &object, NULL), RM_OK);
    assert_int_equal(rm_archive_images_between(archive, object, RM_IMAGE_BY_NUMBER, 8, 10, &block, 1), 1);
    assert_int_equal(block, 1);
    assert_int_equal(rm_archive_images_between(archive, object, RM_IMAGE_BY_TURN, 108, 200, &block, 1), 2);
    assert_int_equal(rm_archive_images_between(archive, object, RM_IMAGE_BY_TAI, 1010, 1011, &block, 1), 1);
    assert_int_equal(block, 2);
    assert_int_equal(rm_archive_images_between(archive, object, RM_IMAGE_BY_UTC, 0, 100, &block, 1), 0);
    assert_int_equal(rm_archive_images_between(archive, stream_of(archive), RM_IMAGE_BY_TAI, 0, 9999, &block, 1), 0);
    struct rm_archive_image image;
    struct rm_error error;
    assert_int_equal(rm_archive_image(archive, stream_of(archive), 0, NULL, &image, &error), RM_E_ARGUMENT);
    assert_int_equal(rm_archive_image(archive, object, 3, NULL, &image, &error), RM_E_ARGUMENT);
    rm_archive_close(archive);
}

int main(int argc, char **argv) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_records_of_a_sealed_file),
        cmocka_unit_test(test_records_of_a_file_that_grows),
        cmocka_unit_test(test_what_cannot_be_asked),
        cmocka_unit_test(test_times_and_turns),
        cmocka_unit_test(test_marks_and_events),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_images_by_time_turn_and_number),
    };
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
