// SPDX-License-Identifier: Apache-2.0
/** A sealed file that is stored anew: the same records in fewer blocks, compressed or not, and the old file stays where
 * something is wrong. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/format/codec.h"
#include "archive/format/scan.h"
#include "disk_uring.h"
#include "regroup.h"
#include "sealer.h"
#include "test_log_rig.h"

enum { BLOCKS = 50, RECORDS = 60 };

static uint8_t image[TEST_IMAGE], plain[TEST_IMAGE], scratch[TEST_IMAGE];

static void write_image(char const *path, uint64_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, bytes, file), bytes);
    fclose(file);
}

static uint64_t read_image(char const *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint64_t const bytes = fread(image, 1, sizeof image, file);
    fclose(file);
    return bytes;
}

/** A sealed file of many blocks at a path. Returns its records. */
static uint64_t make_sealed(char const *path) {
    struct test_log test;
    test_log_make(&test, 7);
    for (unsigned i = 0; i < BLOCKS; ++i) {
        test_log_put(&test, RECORDS);
        rm_log_flush(&test.log);
        test_log_turn(&test);
        test_log_turn(&test);
    }
    test_log_end(&test);
    assert_int_equal(test.disk.file_count, 1);
    write_image(path, test_disk_content(&test.disk, 0, image, sizeof image));
    uint64_t const records = test.records;
    test_log_free(&test);
    return records;
}

/** All turns of the file, in their order; returns the number of blocks of records. */
static unsigned assert_turns(uint64_t bytes, uint64_t records) {
    struct rm_scan scan;
    uint64_t next = 0;
    unsigned blocks = 0;
    assert_int_equal(rm_scan_begin(&scan, image, bytes, "image", NULL), RM_OK);
    scan.verifies = true;
    for (struct rm_block_place place; rm_scan_next(&scan, &place);) {
        if (place.block.kind != RM_BLOCK_RECORDS)
            continue;
        ++blocks;
        assert_int_equal(place.block.first_turn, next);
        assert_int_equal(place.block.first_tai_ns, next + 1);
        assert_int_equal(place.block.last_tai_ns, next + place.block.count);
        void const *stored = image + place.offset + sizeof place.block;
        if (place.block.codec == RM_CODEC_DELTA_BLOSC)
            assert_true(rm_codec_decode(stored, place.block.stored_bytes, sizeof(struct rm_record), scratch, plain,
                                        place.block.plain_bytes));
        else
            memcpy(plain, stored, place.block.plain_bytes);
        for (uint32_t i = 0; i < place.block.count; ++i, ++next) {
            struct rm_record record;
            memcpy(&record, plain + i * sizeof record, sizeof record);
            assert_int_equal(record.turn, next);
            assert_int_equal(record.lane[3].i, (int32_t)(next * 31 + 3));
        }
    }
    assert_int_equal(next, records);
    assert_int_equal(scan.damaged_bytes, 0);
    assert_true(scan.sealed);
    return blocks;
}

static void test_the_same_in_fewer_blocks(void **state) {
    struct rm_disk disk;
    char path[] = "/dev/shm/ringmaster-test-regroup-XXXXXX";
    (void)state;
    if (rm_disk_uring_open(&disk, NULL) != RM_OK)
        skip(); /* a container without io_uring */
    close(mkstemp(path));
    uint64_t before = 0;
    for (unsigned compress = RM_COMPRESS_NONE; compress <= RM_COMPRESS_ZSTD; ++compress) {
        struct rm_sealed sealed;
        uint32_t count = 0;
        struct rm_scan scan;
        uint64_t const records = make_sealed(path);
        assert_int_equal(rm_regroup(&disk, path, compress, &sealed, NULL), RM_OK);
        uint64_t const bytes = read_image(path);
        assert_int_equal(bytes, sealed.bytes);
        assert_in_range(assert_turns(bytes, records), 1, 2);
        assert_int_equal(rm_scan_begin(&scan, image, bytes, path, NULL), RM_OK);
        assert_non_null(rm_scan_index(&scan, &count));
        assert_int_equal(count, sealed.blocks);
        if (compress != RM_COMPRESS_NONE)
            assert_true(bytes < before * 2 / 3);
        before = compress == RM_COMPRESS_NONE ? bytes : before;
    }
    rm_disk_uring_close(&disk);
    unlink(path);
}

/** Frames come back as they were, each in a block of its own, with its number in the index; they may be packed. */
static void test_images_are_packed_one_by_one(void **state) {
    enum { IMAGES = 30 };
    struct rm_disk disk;
    struct rm_sealed sealed;
    struct test_log test;
    char path[] = "/dev/shm/ringmaster-test-regroup-XXXXXX";
    static bool before[IMAGES], after[IMAGES];
    (void)state;
    if (rm_disk_uring_open(&disk, NULL) != RM_OK)
        skip(); /* a container without io_uring */
    close(mkstemp(path));
    test_log_make(&test, 7);
    for (unsigned i = 0; i < IMAGES; ++i)
        assert_true(test_log_put_image(&test));
    test_log_end(&test);
    uint64_t const whole = test_disk_content(&test.disk, 0, image, sizeof image);
    write_image(path, whole);
    test_log_look(&test, image, whole, true, before);
    assert_int_equal(rm_regroup(&disk, path, RM_COMPRESS_ZSTD, &sealed, NULL), RM_OK);
    uint64_t const bytes = read_image(path);
    assert_true(bytes < whole);
    struct rm_scan scan;
    uint32_t count = 0, images = 0;
    assert_int_equal(rm_scan_begin(&scan, image, bytes, path, NULL), RM_OK);
    struct rm_block_place const *place = rm_scan_index(&scan, &count);
    assert_non_null(place);
    for (uint32_t i = 0; i < count; ++i) {
        if (place[i].block.kind != RM_BLOCK_IMAGE)
            continue;
        assert_int_equal(place[i].number, images++);
        assert_int_equal(place[i].block.codec, RM_CODEC_BLOSC);
        assert_true(rm_codec_decode_image(image + place[i].offset + sizeof place[i].block, place[i].block.stored_bytes,
                                          plain, place[i].block.plain_bytes));
        test_log_look_image(&place[i], plain, after);
    }
    assert_int_equal(images, IMAGES);
    assert_memory_equal(before, after, sizeof before);
    test_log_free(&test);
    rm_disk_uring_close(&disk);
    unlink(path);
}

static void test_a_damaged_file_stays_as_it_is(void **state) {
    struct rm_disk disk;
    struct rm_sealed sealed;
    char path[] = "/dev/shm/ringmaster-test-regroup-XXXXXX", fresh[sizeof path + 8];
    (void)state;
    if (rm_disk_uring_open(&disk, NULL) != RM_OK)
        skip(); /* a container without io_uring */
    close(mkstemp(path));
    make_sealed(path);
    uint64_t const bytes = read_image(path);
    image[40000] ^= 1;
    write_image(path, bytes);
    assert_int_equal(rm_regroup(&disk, path, RM_COMPRESS_ZSTD, &sealed, NULL), RM_E_CONFIG);
    assert_int_equal(read_image(path), bytes);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    assert_int_not_equal(access(fresh, F_OK), 0);
    rm_disk_uring_close(&disk);
    unlink(path);
}

static void make_live(char const *live) { close(open(live, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)); }

/** What a live HDF5 file refers to goes before the bytes that it means are others', or are gone. */
static void test_what_refers_to_its_bytes_goes_with_them(void **state) {
    struct rm_disk disk;
    struct rm_sealed sealed;
    struct rm_seal_job job = {.task = RM_SEAL_REMOVE, .disk = &disk};
    char path[] = "/dev/shm/ringmaster-test-regroup-XXXXXX", live[sizeof path + 8];
    (void)state;
    if (rm_disk_uring_open(&disk, NULL) != RM_OK)
        skip(); /* a container without io_uring */
    close(mkstemp(path));
    make_sealed(path);
    snprintf(live, sizeof live, "%s.h5", path);
    make_live(live);
    assert_int_equal(rm_regroup(&disk, path, RM_COMPRESS_NONE, &sealed, NULL), RM_OK);
    assert_int_not_equal(access(live, F_OK), 0);
    make_live(live);
    snprintf(job.file.path, sizeof job.file.path, "%s", path);
    rm_seal_job_do(&job);
    assert_int_not_equal(access(live, F_OK), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    rm_disk_uring_close(&disk);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_the_same_in_fewer_blocks),
        cmocka_unit_test(test_images_are_packed_one_by_one),
        cmocka_unit_test(test_what_refers_to_its_bytes_goes_with_them),
        cmocka_unit_test(test_a_damaged_file_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
