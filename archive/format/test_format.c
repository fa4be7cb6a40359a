// SPDX-License-Identifier: Apache-2.0
/** Checksums by their published values; blocks that lie; files that are cut, torn and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "block.h"
#include "crc32c.h"
#include "scan.h"

enum { BLOCKS = 20, FILE_BYTES = RM_LOG_HEADER_BYTES + BLOCKS * 320, ID = 0xCAFE };

static uint8_t file[FILE_BYTES];
/** Where each block begins. */
static uint64_t begins[BLOCKS];

/** The values of RFC 3720, B.4. */
static void test_checksums_are_the_published_ones(void **state) {
    uint8_t bytes[32];
    (void)state;
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(rm_crc32c(bytes, sizeof bytes), 0x8A9136AAu);
    memset(bytes, 0xFF, sizeof bytes);
    assert_int_equal(rm_crc32c(bytes, sizeof bytes), 0x62A8AB43u);
    for (unsigned i = 0; i < sizeof bytes; ++i)
        bytes[i] = (uint8_t)i;
    assert_int_equal(rm_crc32c(bytes, sizeof bytes), 0x46DD794Eu);
    assert_int_equal(rm_crc32c("123456789", 9), 0xE3069283u);
    assert_int_equal(rm_crc32c(NULL, 0), 0);
}

static void test_the_fast_checksum_is_the_plain_one(void **state) {
    enum { BYTES = 20000 };
    uint8_t *bytes = malloc(BYTES);
    (void)state;
    assert_non_null(bytes);
    for (unsigned i = 0; i < BYTES; ++i)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    for (unsigned length = 0; length < BYTES - 8; length += length < 64 ? 1 : 611)
        for (unsigned from = 0; from < 3; ++from)
            assert_int_equal(rm_crc32c(bytes + from, length), rm_crc32c_scalar(bytes + from, length));
    free(bytes);
}

/** A file of blocks of several lengths, each filled with its number. */
static uint64_t make_file(void) {
    struct rm_log_header header = {.file_id = 0x12340000ull << 16 | ID, .number = 1, .log = "turn"};
    uint64_t at = RM_LOG_HEADER_BYTES;
    memset(file, 0, sizeof file);
    rm_log_header_finish(&header);
    memcpy(file, &header, sizeof header);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        struct rm_block block = {
            .kind = RM_BLOCK_EVENTS, .sequence = i, .file_id = ID, .stored_bytes = i * 13, .plain_bytes = i * 13};
        memset(file + at + sizeof block, (int)i, block.stored_bytes);
        rm_block_finish(&block, file + at + sizeof block);
        memcpy(file + at, &block, sizeof block);
        begins[i] = at;
        at += rm_block_stride(&block);
    }
    return at;
}

/** The numbers of the blocks that are found, as bits. */
static uint32_t found(uint64_t bytes, bool verifies, struct rm_scan *scan) {
    uint32_t bits = 0;
    assert_int_equal(rm_scan_begin(scan, file, bytes, "file", NULL), RM_OK);
    scan->verifies = verifies;
    for (struct rm_block_place place; rm_scan_next(scan, &place);) {
        assert_int_equal(place.offset, begins[place.block.sequence]);
        bits |= 1u << place.block.sequence;
    }
    return bits;
}

static void test_a_whole_file(void **state) {
    struct rm_scan scan;
    (void)state;
    uint64_t const end = make_file();
    assert_int_equal(found(sizeof file, true, &scan), (1u << BLOCKS) - 1);
    assert_int_equal(scan.end, end);
    assert_int_equal(scan.damaged_bytes, 0);
    assert_false(scan.sealed);
}

static void test_a_file_that_was_cut(void **state) {
    struct rm_scan scan;
    (void)state;
    uint64_t const end = make_file();
    for (uint64_t bytes = RM_LOG_HEADER_BYTES; bytes <= end; ++bytes) {
        uint32_t wanted = 0;
        for (unsigned i = 0; i < BLOCKS; ++i)
            wanted |= begins[i] + sizeof(struct rm_block) + i * 13ul <= bytes ? 1u << i : 0;
        assert_int_equal(found(bytes, true, &scan), wanted);
        assert_true(scan.end <= bytes);
    }
    assert_int_equal(rm_scan_begin(&scan, file, RM_LOG_HEADER_BYTES - 1, "file", NULL), RM_E_CONFIG);
}

static void test_a_flipped_bit_costs_its_block(void **state) {
    struct rm_scan scan;
    (void)state;
    make_file();
    for (unsigned i = 0; i < BLOCKS; ++i)
        for (unsigned byte = 0; byte < sizeof(struct rm_block) + i * 13; byte += 5) {
            file[begins[i] + byte] ^= 0x10;
            assert_int_equal(found(sizeof file, true, &scan), ((1u << BLOCKS) - 1) & ~(1u << i));
            assert_int_equal(scan.damages, i + 1 < BLOCKS ? 1 : 0);
            file[begins[i] + byte] ^= 0x10;
        }
}

/** What is behind may be cut off by then: it is looked at when it was copied. */
static void test_a_scan_that_stops_goes_on_later(void **state) {
    struct rm_scan scan;
    struct rm_block_place place;
    unsigned before = 0, behind = 0;
    (void)state;
    make_file();
    file[begins[3]] ^= 1;
    assert_int_equal(rm_scan_begin(&scan, file, sizeof file, "file", NULL), RM_OK);
    scan.stops = true;
    while (rm_scan_next(&scan, &place))
        ++before;
    assert_int_equal(before, 3);
    assert_int_equal(scan.at, begins[3]);
    assert_int_equal(scan.damages, 0);
    scan.stops = false;
    while (rm_scan_next(&scan, &place))
        ++behind;
    assert_int_equal(behind, BLOCKS - 4);
    assert_int_equal(scan.damages, 1);
}

static void test_blocks_of_another_file_are_none(void **state) {
    struct rm_scan scan;
    (void)state;
    make_file();
    struct rm_block block;
    memcpy(&block, file + begins[7], sizeof block);
    block.file_id = ID + 1;
    rm_block_finish(&block, file + begins[7] + sizeof block);
    memcpy(file + begins[7], &block, sizeof block);
    assert_int_equal(found(sizeof file, false, &scan), ((1u << BLOCKS) - 1) & ~(1u << 7));
}

static void test_a_block_that_lies_about_its_bytes(void **state) {
    struct rm_scan scan;
    (void)state;
    make_file();
    struct rm_block block;
    memcpy(&block, file + begins[5], sizeof block);
    block.stored_bytes = 1u << 20; /* beyond the file, with a good checksum of the header */
    uint8_t *payload = calloc(1, block.stored_bytes);
    assert_non_null(payload);
    rm_block_finish(&block, payload);
    free(payload);
    memcpy(file + begins[5], &block, sizeof block);
    assert_int_equal(found(sizeof file, false, &scan), ((1u << BLOCKS) - 1) & ~(1u << 5));
}

static void test_headers_are_judged(void **state) {
    struct rm_log_header header;
    (void)state;
    make_file();
    memcpy(&header, file, sizeof header);
    assert_int_equal(rm_log_header_check(&header, "file", NULL), RM_OK);
    header.number ^= 1;
    assert_int_equal(rm_log_header_check(&header, "file", NULL), RM_E_CONFIG);
    header.version = RM_ARCHIVE_VERSION + 1;
    assert_int_equal(rm_log_header_check(&header, "file", NULL), RM_E_VERSION);
    header.magic = 0;
    assert_int_equal(rm_log_header_check(&header, "file", NULL), RM_E_CONFIG);
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_checksums_are_the_published_ones),
        cmocka_unit_test(test_the_fast_checksum_is_the_plain_one),
        cmocka_unit_test(test_a_whole_file),
        cmocka_unit_test(test_a_file_that_was_cut),
        cmocka_unit_test(test_a_flipped_bit_costs_its_block),
        cmocka_unit_test(test_a_scan_that_stops_goes_on_later),
        cmocka_unit_test(test_blocks_of_another_file_are_none),
        cmocka_unit_test(test_a_block_that_lies_about_its_bytes),
        cmocka_unit_test(test_headers_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
