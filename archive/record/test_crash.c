// SPDX-License-Identifier: Apache-2.0
/** The power goes at any instant, and of all that was not synced anything may be on the disk: what counted as durable
 * is found, in its order and as it was, nothing is found that was not written, and what was sealed then is whole. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/format/scan.h"
#include "disk_uring.h"
#include "seal.h"
#include "test_log_rig.h"

enum {
    RETRY_NS = 2000000000,
    TURNS = 160,
    CRASHES = 4000,
    CRASHES_OF_ONE = 8,
    RECORDS_MAX = 1 << 16,
    DURABLES_MAX = TEST_DISK_OPS_MAX
};

/** What an earlier file left on the disk: its blocks are good, and of another file. */
static uint8_t rubbish[TEST_IMAGE];
static uint8_t image[TEST_IMAGE];
static bool seen[RECORDS_MAX];
/** TAI of the newest record that counted as durable, at the time of each op. */
static uint64_t durable[DURABLES_MAX];

static void rubbish_make(void) {
    struct test_log test;
    test_log_make(&test, 4711);
    for (unsigned i = 0; i < 40; ++i) {
        test_log_put(&test, 37);
        test_log_turn(&test);
    }
    test_log_end(&test);
    test_disk_content(&test.disk, 0, rubbish, sizeof rubbish);
    test_log_free(&test);
}

/** Records at random until the log has had its turns; tells what was durable at the time of each op. A disk that refuses
 * does so now and then. */
static void workload(struct test_log *test, bool refuses) {
    uint32_t told = 0;
    for (unsigned turn = 0; turn < TURNS; ++turn) {
        if (test_disk_random(&test->disk, 2) == 0)
            test_log_put(test, 1 + (uint32_t)test_disk_random(&test->disk, 64));
        if (test_disk_random(&test->disk, 3) == 0)
            test_log_put_image(test);
        if (test_disk_random(&test->disk, 8) == 0)
            rm_log_flush(&test->log);
        if (test_disk_random(&test->disk, 20) == 0)
            rm_log_end_file(&test->log);
        test->disk.write_error = refuses && test_disk_random(&test->disk, 10) == 0 ? EIO : 0;
        if (test_disk_random(&test->disk, 4) == 0)
            test->now_ns += RETRY_NS;
        uint64_t const before = test->log.figures.durable_tai_ns;
        test_log_turn(test);
        while (told < test->disk.op_count)
            durable[told++] = before;
    }
}

/** Every file as the crash left it: what can be read at once. */
static void look_at_images(struct test_log *test, uint32_t at) {
    memset(seen, 0, sizeof seen);
    for (unsigned f = 0; f < test->disk.file_count; ++f) {
        uint64_t const bytes = test_disk_image(&test->disk, f, at, rubbish, image, sizeof image);
        if (bytes > 0)
            test_log_look(test, image, bytes, true, seen);
    }
    for (uint64_t n = 0; n < durable[at]; ++n)
        if (!seen[n])
            fail_msg("record %llu was durable (%llu were) and is gone after a crash at op %u", (unsigned long long)n,
                     (unsigned long long)durable[at], at);
}

static void assert_nothing_durable_is_lost(bool refuses) {
    uint64_t most = 0;
    for (uint64_t seed = 1; seed <= CRASHES / CRASHES_OF_ONE; ++seed) {
        struct test_log test;
        test_log_make(&test, seed);
        workload(&test, refuses);
        for (unsigned i = 0; i < CRASHES_OF_ONE; ++i) {
            uint32_t const at = (uint32_t)test_disk_random(&test.disk, test.disk.op_count);
            look_at_images(&test, at);
            most = durable[at] > most ? durable[at] : most;
        }
        test_log_free(&test);
    }
    assert_true(most > 1000); /* it was about something */
}

/** Also where a file is synced while the one before still waits for its sync. */
static void test_nothing_durable_is_lost(void **state) {
    (void)state;
    assert_nothing_durable_is_lost(false);
}

/** What failed to be written, and goes to another file, is not durable before it is there. */
static void test_nothing_durable_is_lost_where_writes_fail(void **state) {
    (void)state;
    assert_nothing_durable_is_lost(true);
}

static void write_image(char const *path, uint64_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, bytes, file), bytes);
    fclose(file);
}

/** The recorder comes back: it seals the file at its exact end, and the index has what a walk finds. */
static void test_a_crashed_file_is_sealed(void **state) {
    struct rm_disk disk;
    char path[] = "/dev/shm/ringmaster-test-crash-XXXXXX";
    (void)state;
    if (rm_disk_uring_open(&disk, NULL) != RM_OK)
        skip(); /* a container without io_uring */
    int const made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    for (uint64_t seed = 1; seed <= CRASHES / 40; ++seed) {
        struct test_log test;
        struct rm_sealed sealed;
        test_log_make(&test, seed);
        workload(&test, seed % 2 == 0);
        uint32_t const at = (uint32_t)test_disk_random(&test.disk, test.disk.op_count);
        unsigned const last = test.disk.op[at].file;
        uint64_t const bytes = test_disk_image(&test.disk, last, at, rubbish, image, sizeof image);
        memset(seen, 0, sizeof seen);
        test_log_look(&test, image, bytes, true, seen);
        write_image(path, bytes);
        struct rm_error why;
        if (rm_seal_found(&disk, path, &sealed, &why) == RM_OK) {
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            uint64_t const now = fread(image, 1, sizeof image, file);
            fclose(file);
            struct rm_scan scan;
            uint32_t count = 0;
            assert_int_equal(now, sealed.bytes);
            assert_int_equal(rm_scan_begin(&scan, image, now, path, NULL), RM_OK);
            assert_non_null(rm_scan_index(&scan, &count));
            assert_int_equal(count, sealed.blocks);
            static bool again[RECORDS_MAX];
            memset(again, 0, sizeof again);
            test_log_look(&test, image, now, true, again);
            assert_memory_equal(again, seen, sizeof seen);
        } else {
            assert_int_equal(durable[at] == 0 || test.disk.file_count > 1, 1); /* its header was not there yet */
        }
        test_log_free(&test);
    }
    rm_disk_uring_close(&disk);
    unlink(path);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_nothing_durable_is_lost),
        cmocka_unit_test(test_nothing_durable_is_lost_where_writes_fail),
        cmocka_unit_test(test_a_crashed_file_is_sealed),
    };
    rubbish_make();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
