// SPDX-License-Identifier: Apache-2.0
/** A log on a disk in memory, and blocks of which every byte is known: record n has turn n and TAI n + 1. So has a frame of
 * a camera, which takes the place of one record. */
#ifndef RM_RECORD_TEST_LOG_RIG_H
#define RM_RECORD_TEST_LOG_RIG_H

#include "log.h"
#include "test_disk.h"

enum {
    TEST_BUFFER = 16 << 10,
    TEST_FILE = 256 << 10,
    /** A file and its index. */
    TEST_IMAGE = 2 * TEST_FILE,
    TEST_MEMORY = (RM_LOG_BUFFERS + 1) * TEST_BUFFER,
};

struct test_log {
    struct test_disk disk;
    struct rm_disk handle;
    struct rm_log log;
    struct rm_archive_identity identity;
    /** A stream and a camera. */
    struct rm_archived_object object[2];
    uint8_t *memory;
    uint64_t now_ns;
    /** Records that were appended. */
    uint64_t records;
    bool has_room;
    unsigned sealed;
};

void test_log_make(struct test_log *test, uint64_t seed);
void test_log_free(struct test_log *test);

/** Appends a block of some records; false: no room. */
bool test_log_put(struct test_log *test, uint32_t count);

/** Appends a frame; false: no room. */
bool test_log_put_image(struct test_log *test);

/** One turn of a recorder's loop. */
void test_log_turn(struct test_log *test);

/** Goes on until all is written or given up. */
void test_log_end(struct test_log *test);

/** Sets `seen[n]` for a frame whose payload, decoded, is as it was put. Fails the test where it is not. */
void test_log_look_image(struct rm_block_place const *place, uint8_t const *payload, bool *seen);

/** Counts records of the image that are whole and as they were put: sets `seen[n]`. Fails the test where one is not. */
void test_log_look(struct test_log const *test, uint8_t const *image, uint64_t bytes, bool verifies, bool *seen);

#endif
