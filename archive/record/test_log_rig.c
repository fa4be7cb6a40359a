// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive/format/scan.h"
#include "seal.h"
#include "test_log_rig.h"

static void test_log_done_with(void *context, struct rm_log *log, struct rm_log_file const *file) {
    struct test_log *test = context;
    struct rm_sealed sealed;
    (void)log;
    if (!file->failed) {
        assert_int_equal(rm_seal_known(&test->handle, file, &sealed, NULL), RM_OK);
        ++test->sealed;
    }
    free(file->place);
}

static bool test_log_make_room(void *context, struct rm_log *log, uint64_t bytes) {
    struct test_log *test = context;
    (void)log;
    (void)bytes;
    return test->has_room;
}

void test_log_make(struct test_log *test, uint64_t seed) {
    *test = (struct test_log){.has_room = true, .now_ns = 1, .identity = {.turn_rate_hz = 1000, .tai_minus_utc_s = 37}};
    test_disk_make(&test->disk, seed);
    test->handle = test_disk_of(&test->disk);
    test->object[0] = (struct rm_archived_object){
        .name = "bpm01/turn", .kind = RM_BLOCK_RECORDS, .record_bytes = 64, .period_turns = 1, .lane_count = 1};
    test->object[1] = (struct rm_archived_object){.name = "cam01", .kind = RM_BLOCK_IMAGE};
    test->memory = aligned_alloc(RM_DISK_ALIGNMENT, TEST_MEMORY);
    assert_non_null(test->memory);
    struct rm_log *log = &test->log;
    *log = (struct rm_log){.name = "turn",
                           .folder = "/nowhere",
                           .file_bytes = TEST_FILE,
                           .file_ns = UINT64_MAX,
                           .next_number = 1,
                           .object = test->object,
                           .object_count = 2,
                           .disk = &test->handle,
                           .identity = &test->identity,
                           .owner = {test, test_log_done_with, NULL, test_log_make_room},
                           .head = test->memory,
                           .head_bytes = rm_log_head_bytes(2),
                           .buffer_bytes = TEST_BUFFER};
    for (unsigned b = 0; b < RM_LOG_BUFFERS; ++b)
        log->buffer[b].data = test->memory + (b + 1) * (size_t)TEST_BUFFER;
    rm_log_open(log);
}

void test_log_free(struct test_log *test) {
    for (unsigned f = 0; f < RM_LOG_FILES; ++f)
        free(test->log.file[f].place);
    test_disk_free(&test->disk);
    free(test->memory);
}

static struct rm_record test_log_record(uint64_t n) {
    struct rm_record record = {.turn = n, .tag = n * 0x9E3779B97F4A7C15ull};
    for (unsigned lane = 0; lane < RM_LANES; ++lane)
        record.lane[lane].i = (int32_t)(n * 31 + lane);
    return record;
}

bool test_log_put(struct test_log *test, uint32_t count) {
    size_t bytes;
    struct rm_record *records = rm_log_room(&test->log, sizeof *records, &bytes, test->now_ns, test->records + 1);
    if (records == NULL)
        return false;
    if (count > bytes / sizeof *records)
        count = (uint32_t)(bytes / sizeof *records);
    for (uint32_t i = 0; i < count; ++i)
        records[i] = test_log_record(test->records + i);
    struct rm_block block = {.kind = RM_BLOCK_RECORDS,
                             .count = count,
                             .stored_bytes = count * (uint32_t)sizeof *records,
                             .plain_bytes = count * (uint32_t)sizeof *records,
                             .first_turn = test->records,
                             .first_tai_ns = test->records + 1,
                             .last_tai_ns = test->records + count};
    rm_log_append(&test->log, &block);
    test->records += count;
    return true;
}

/** A frame of some hundred bytes, as its number gives them. Returns the bytes of the payload. */
static uint32_t test_log_image(uint64_t n, uint8_t *payload) {
    struct rm_archived_image const image = {
        .number = n, .turn = n, .tai_ns = n + 1, .length = 500 + n % 500, .map_bytes = 8, .fragments = 3, .placed = 2};
    uint64_t const map = 5;
    memcpy(payload, &image, sizeof image);
    memcpy(payload + sizeof image, &map, sizeof map);
    for (uint64_t i = 0; i < image.length; ++i)
        payload[sizeof image + sizeof map + i] = (uint8_t)(n * 7 + i);
    return (uint32_t)(sizeof image + sizeof map + image.length);
}

bool test_log_put_image(struct test_log *test) {
    uint8_t image[2048];
    size_t bytes;
    uint64_t const n = test->records;
    uint32_t const length = test_log_image(n, image);
    void *payload = rm_log_room(&test->log, length, &bytes, test->now_ns, n + 1);
    if (payload == NULL)
        return false;
    memcpy(payload, image, length);
    struct rm_block block = {.kind = RM_BLOCK_IMAGE,
                             .object = 1,
                             .count = 1,
                             .stored_bytes = length,
                             .plain_bytes = length,
                             .first_turn = n,
                             .first_tai_ns = n + 1,
                             .last_tai_ns = n + 1};
    rm_log_append(&test->log, &block);
    ++test->records;
    return true;
}

void test_log_look_image(struct rm_block_place const *place, uint8_t const *payload, bool *seen) {
    uint8_t wanted[2048];
    uint64_t const n = place->block.first_turn;
    assert_int_equal(place->number, n);
    assert_int_equal(test_log_image(n, wanted), place->block.plain_bytes);
    assert_memory_equal(payload, wanted, place->block.plain_bytes);
    seen[n] = true;
}

void test_log_turn(struct test_log *test) {
    struct rm_disk_done done[8];
    int const count = test->handle.ops->reap(test->handle.state, done, 8, 0);
    test->now_ns += 1000 * 1000;
    for (int i = 0; i < count; ++i)
        rm_log_done(&test->log, &done[i], test->now_ns);
    rm_log_work(&test->log, test->now_ns, test->records + 1);
}

void test_log_end(struct test_log *test) {
    rm_log_end_file(&test->log);
    for (unsigned turn = 0; turn < 10000 && !rm_log_is_idle(&test->log); ++turn)
        test_log_turn(test);
}

void test_log_look(struct test_log const *test, uint8_t const *image, uint64_t bytes, bool verifies, bool *seen) {
    struct rm_scan scan;
    if (rm_scan_begin(&scan, image, bytes, "image", NULL) != RM_OK)
        return;
    scan.verifies = verifies;
    for (struct rm_block_place place; rm_scan_next(&scan, &place);) {
        if (place.block.kind == RM_BLOCK_IMAGE)
            test_log_look_image(&place, image + place.offset + sizeof place.block, seen);
        if (place.block.kind != RM_BLOCK_RECORDS)
            continue;
        for (uint32_t i = 0; i < place.block.count; ++i) {
            uint64_t const n = place.block.first_turn + i;
            struct rm_record const wanted = test_log_record(n);
            assert_true(n < test->records);
            assert_memory_equal(image + place.offset + sizeof place.block + i * sizeof wanted, &wanted, sizeof wanted);
            seen[n] = true;
        }
    }
}
