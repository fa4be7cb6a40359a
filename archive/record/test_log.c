// SPDX-License-Identifier: Apache-2.0
/** A log on a disk that is full, slow or broken: what was appended comes to the disk all the same, once, as soon as the
 * disk takes it, and while it does not the log says so. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive/format/scan.h"
#include "test_log_rig.h"

enum { RECORDS_MAX = 1 << 16, SECOND_NS = 1000000000 };

static uint8_t image[TEST_IMAGE];
static bool seen[RECORDS_MAX];

static void put_some(struct test_log *test, unsigned blocks) {
    for (unsigned i = 0; i < blocks; ++i) {
        test_log_put(test, 50);
        if (i % 4 == 0)
            rm_log_flush(&test->log);
        test_log_turn(test);
    }
}

/** All that was appended is there, in files that are sealed but for those that failed. */
static void assert_all_there(struct test_log *test) {
    memset(seen, 0, sizeof seen);
    for (unsigned f = 0; f < test->disk.file_count; ++f) {
        uint64_t const bytes = test_disk_content(&test->disk, f, image, sizeof image);
        test_log_look(test, image, bytes, true, seen);
    }
    for (uint64_t n = 0; n < test->records; ++n)
        if (!seen[n])
            fail_msg("record %llu of %llu is gone", (unsigned long long)n, (unsigned long long)test->records);
}

static void test_files_follow_each_other(void **state) {
    struct test_log test;
    (void)state;
    test_log_make(&test, 1);
    put_some(&test, 400);
    test_log_end(&test);
    assert_true(test.disk.file_count > 3);
    assert_int_equal(test.sealed, test.disk.file_count);
    assert_all_there(&test);
    assert_int_equal(test.log.figures.durable_tai_ns, test.records);
    for (unsigned f = 0; f < test.disk.file_count; ++f) {
        struct rm_scan scan;
        uint32_t count = 0;
        uint64_t const bytes = test_disk_content(&test.disk, f, image, sizeof image);
        assert_int_equal(rm_scan_begin(&scan, image, bytes, "image", NULL), RM_OK);
        assert_non_null(rm_scan_index(&scan, &count));
    }
    test_log_free(&test);
}

/** Lets a trouble stand, looks what the log says, and lets it pass. */
static void assert_trouble_passes(struct test_log *test, unsigned reason, int error) {
    assert_int_equal(test->log.trouble, reason);
    assert_int_equal(test->log.trouble_error, error);
    assert_true(test->log.figures.errors > 0);
    test->disk.create_error = 0;
    test->disk.write_error = 0;
    test->has_room = true;
    test->now_ns += 2ull * SECOND_NS;
    for (unsigned i = 0; i < 100; ++i)
        test_log_turn(test);
    assert_int_equal(test->log.trouble, 0);
    assert_int_equal(test->log.ended_trouble, reason);
    put_some(test, 20);
    test_log_end(test);
    assert_all_there(test);
    assert_int_equal(test->log.figures.durable_tai_ns, test->records);
    assert_int_equal(rm_log_unwritten(&test->log), 0);
}

static void put_mark(struct test_log *test, uint64_t tai_ns) {
    struct rm_mark const mark = {.reason = RM_MARK_BEGAN, .first_turn = RM_TURN_NONE, .last_turn = RM_TURN_NONE};
    size_t bytes;
    void *payload = rm_log_room(&test->log, sizeof mark, &bytes, test->now_ns, tai_ns);
    assert_non_null(payload);
    memcpy(payload, &mark, sizeof mark);
    struct rm_block block = {.kind = RM_BLOCK_MARK,
                             .object = UINT32_MAX,
                             .count = 1,
                             .stored_bytes = sizeof mark,
                             .plain_bytes = sizeof mark,
                             .first_turn = RM_TURN_NONE,
                             .first_tai_ns = tai_ns,
                             .last_tai_ns = tai_ns};
    rm_log_append(&test->log, &block);
}

static void turn_until_synced(struct test_log *test) {
    rm_log_flush(&test->log);
    for (unsigned turn = 0; turn < 1000; ++turn)
        test_log_turn(test);
    assert_true(rm_log_is_idle(&test->log));
}

/** A mark is of the moment when it is made, and newer than any record that came. */
static void test_a_mark_is_no_durable_record(void **state) {
    struct test_log test;
    (void)state;
    test_log_make(&test, 7);
    put_mark(&test, 1000);
    turn_until_synced(&test);
    assert_int_equal(test.log.figures.durable_tai_ns, 0);
    test_log_put(&test, 50);
    put_mark(&test, 1000);
    turn_until_synced(&test);
    assert_int_equal(test.log.figures.durable_tai_ns, 50);
    assert_int_equal(test.log.first_tai_ns, 1);
    test_log_free(&test);
}

/** Takes the sync of a file out of what waits, and its number of the op; UINT32_MAX: it does not wait. */
static uint32_t hold_sync(struct test_disk *disk, unsigned file) {
    for (unsigned w = 0; w < disk->waiting_count; ++w) {
        uint32_t const op = disk->waiting[w];
        if (disk->op[op].kind == TEST_SYNC && disk->op[op].file == file) {
            disk->waiting[w] = disk->waiting[--disk->waiting_count];
            return op;
        }
    }
    return UINT32_MAX;
}

/** The disk has not done the sync of a file, and does all that is asked of the next one. */
static void test_no_file_is_durable_before_the_one_before(void **state) {
    struct test_log test;
    uint32_t held = UINT32_MAX;
    (void)state;
    test_log_make(&test, 8);
    test_log_put(&test, 10);
    rm_log_end_file(&test.log);
    for (unsigned turn = 0; turn < 1000 && held == UINT32_MAX; ++turn) {
        test_log_turn(&test);
        held = hold_sync(&test.disk, 0);
    }
    assert_int_not_equal(held, UINT32_MAX);
    test_log_put(&test, 10);
    rm_log_flush(&test.log);
    for (unsigned turn = 0; turn < 1000; ++turn)
        test_log_turn(&test);
    assert_int_equal(test.disk.file_count, 2);
    assert_int_equal(test.log.figures.durable_tai_ns, 0);
    test.disk.waiting[test.disk.waiting_count++] = held;
    turn_until_synced(&test);
    assert_int_equal(test.log.figures.durable_tai_ns, 20);
    test_log_free(&test);
}

static void test_a_full_disk(void **state) {
    struct test_log test;
    (void)state;
    test_log_make(&test, 2);
    put_some(&test, 10);
    rm_log_end_file(&test.log);
    test.disk.create_error = ENOSPC;
    put_some(&test, 100);
    assert_false(test_log_put(&test, 1)); /* its buffers are full by now */
    assert_in_range(rm_log_unwritten(&test.log), 1, test.records);
    assert_trouble_passes(&test, RM_MARK_DISK_FULL, ENOSPC);
    test_log_free(&test);
}

static void test_no_room_is_a_full_disk(void **state) {
    struct test_log test;
    (void)state;
    test_log_make(&test, 3);
    test.has_room = false;
    put_some(&test, 5);
    assert_true(test.records > 0);
    assert_int_equal(test.disk.file_count, 0);
    assert_trouble_passes(&test, RM_MARK_DISK_FULL, ENOSPC);
    test_log_free(&test);
}

static void test_a_broken_disk(void **state) {
    (void)state;
    for (uint64_t seed = 10; seed < 60; ++seed) { /* it breaks while buffers are on their way, at other places each */
        struct test_log test;
        test_log_make(&test, seed);
        put_some(&test, (unsigned)(seed % 13) + 1);
        test.disk.write_error = EIO;
        put_some(&test, 60);
        assert_trouble_passes(&test, RM_MARK_DISK_FAILED, EIO);
        test_log_free(&test);
    }
}

static void test_a_slow_disk(void **state) {
    struct test_log test;
    (void)state;
    test_log_make(&test, 4);
    put_some(&test, 10);
    test.disk.stuck = true;
    put_some(&test, 100);
    assert_false(test_log_put(&test, 1));
    assert_int_equal(test.log.trouble, 0);
    assert_true(test.log.figures.stalls > 0);
    test.disk.stuck = false;
    put_some(&test, 20);
    test_log_end(&test);
    assert_all_there(&test);
    test_log_free(&test);
}

/** Where the kernel was told of leap seconds, and where it was not. */
static void test_each_file_tells_tai_less_utc(void **state) {
    static int32_t const OFFSETS[] = {0, 37};
    (void)state;
    for (unsigned i = 0; i < 2; ++i) {
        struct test_log test;
        struct rm_log_header header;
        test_log_make(&test, 5);
        test.identity.tai_minus_utc_s = OFFSETS[i];
        put_some(&test, 3);
        test_log_end(&test);
        test_disk_content(&test.disk, 0, image, sizeof image);
        memcpy(&header, image, sizeof header);
        assert_int_equal(rm_log_header_check(&header, "image", NULL), RM_OK);
        assert_int_equal(header.tai_minus_utc_s, OFFSETS[i]);
        assert_int_equal(header.begun_tai_ns, 1); /* the first block's time, as the rig has it */
        test_log_free(&test);
    }
}

static void forget_file(void *context, struct rm_log *log, struct rm_log_file const *file) {
    (void)context;
    (void)log;
    free(file->place);
}

static bool say_there_is_room(void *context, struct rm_log *log, uint64_t bytes) {
    (void)context;
    (void)log;
    (void)bytes;
    return true;
}

/** Notes the number of the file that is asked for: the test makes it later. */
static bool note_number(void *context, struct rm_log *log, uint64_t number) {
    uint64_t *asked = context;
    (void)log;
    *asked = number;
    return true;
}

/** The next file is asked for with the first block of the one before; made in time, it is taken up without a stall. */
static void test_the_next_file_is_made_ahead(void **state) {
    struct test_log test;
    uint64_t asked = 0;
    (void)state;
    test_log_make(&test, 6);
    test.log.owner = (struct rm_log_owner){&asked, forget_file, note_number, say_there_is_room};
    for (uint64_t file = 1; file < 4; ++file) {
        test_log_put(&test, 50);
        test_log_turn(&test);
        assert_int_equal(test.log.open->number, file);
        assert_int_equal(asked, file + 1);
        char path[PATH_MAX];
        rm_log_file_path(path, test.log.folder, asked);
        rm_log_prepared(&test.log, test.handle.ops->create(test.handle.state, path, TEST_FILE));
        rm_log_end_file(&test.log);
        for (unsigned turn = 0; turn < 100 && !rm_log_is_idle(&test.log); ++turn)
            test_log_turn(&test);
    }
    assert_int_equal(test.log.figures.stalls, 0);
    assert_int_equal(test.disk.file_count, 4);
    test_log_free(&test);
}

/** The host is told of leap seconds while it records: files that begin from then on have the new difference. */
static void test_a_difference_that_changes_is_told_by_the_next_file(void **state) {
    static int32_t const OFFSETS[] = {0, 37};
    struct test_log test;
    struct rm_log_header header;
    (void)state;
    test_log_make(&test, 6);
    for (unsigned i = 0; i < 2; ++i) {
        test.identity.tai_minus_utc_s = OFFSETS[i];
        rm_log_end_file(&test.log);
        put_some(&test, 3);
    }
    test_log_end(&test);
    for (unsigned i = 0; i < 2; ++i) {
        test_disk_content(&test.disk, i, image, sizeof image);
        memcpy(&header, image, sizeof header);
        assert_int_equal(rm_log_header_check(&header, "image", NULL), RM_OK);
        assert_int_equal(header.tai_minus_utc_s, OFFSETS[i]);
    }
    assert_all_there(&test);
    test_log_free(&test);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_files_follow_each_other),
        cmocka_unit_test(test_the_next_file_is_made_ahead),
        cmocka_unit_test(test_a_mark_is_no_durable_record),
        cmocka_unit_test(test_no_file_is_durable_before_the_one_before),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_no_room_is_a_full_disk),
        cmocka_unit_test(test_a_broken_disk),
        cmocka_unit_test(test_a_slow_disk),
        cmocka_unit_test(test_each_file_tells_tai_less_utc),
        cmocka_unit_test(test_a_difference_that_changes_is_told_by_the_next_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
