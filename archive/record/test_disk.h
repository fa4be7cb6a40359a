// SPDX-License-Identifier: Apache-2.0
/** A disk in memory that remembers all that was asked of it: for tests of what is there after the power went, and of a
 * disk that is full, slow or broken. */
#ifndef RM_RECORD_TEST_DISK_H
#define RM_RECORD_TEST_DISK_H

#include <limits.h>
#include <stdbool.h>

#include "disk.h"

enum { TEST_DISK_OPS_MAX = 1 << 16, TEST_DISK_FILES_MAX = 256, TEST_DISK_WAITING_MAX = 64, TEST_SECTOR = 512 };

enum test_disk_kind { TEST_CREATE, TEST_WRITE, TEST_SYNC, TEST_CUT, TEST_RENAME, TEST_REMOVE };

/** Something that was asked. */
struct test_disk_op {
    enum test_disk_kind kind;
    unsigned file;
    uint64_t offset, bytes;
    uint8_t *data;
    /** Number of the op at whose time it was reaped; UINT32_MAX: not yet. */
    uint32_t reaped;
    uint64_t tag;
};

struct test_disk_file {
    char path[PATH_MAX];
    uint64_t bytes;
};

struct test_disk {
    struct test_disk_op *op;
    uint32_t op_count;
    struct test_disk_file *file;
    unsigned file_count;
    /** Ops that were handed over and not reaped. */
    uint32_t waiting[TEST_DISK_WAITING_MAX];
    unsigned waiting_count;
    uint64_t random;
    /** Faults, set by the test: nothing more is reaped; files cannot be made, and writes fail, with this errno. */
    bool stuck;
    int create_error, write_error;
    uint64_t free_bytes;
};

void test_disk_make(struct test_disk *disk, uint64_t seed);
void test_disk_free(struct test_disk *disk);
struct rm_disk test_disk_of(struct test_disk *disk);

/** The next random number below `most`. */
uint64_t test_disk_random(struct test_disk *disk, uint64_t most);

/** What may be in a file when the power goes before op number `at`: what was synced, and of the rest any sectors.
 * `rubbish` fills what was never written. Returns the bytes of the file, or 0 where it was not made yet. */
uint64_t test_disk_image(struct test_disk *disk, unsigned file, uint32_t at, uint8_t const *rubbish, uint8_t *image,
                         uint64_t image_bytes);

/** What is in the file without a crash. */
uint64_t test_disk_content(struct test_disk *disk, unsigned file, uint8_t *image, uint64_t image_bytes);

#endif
