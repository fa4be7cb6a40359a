// SPDX-License-Identifier: Apache-2.0
#include "test_disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t test_disk_random(struct test_disk *disk, uint64_t most) {
    disk->random ^= disk->random << 13;
    disk->random ^= disk->random >> 7;
    disk->random ^= disk->random << 17;
    return disk->random % most;
}

void test_disk_make(struct test_disk *disk, uint64_t seed) {
    *disk = (struct test_disk){.random = seed * 0x9E3779B97F4A7C15ull + 1, .free_bytes = UINT64_MAX / 4};
    disk->op = calloc(TEST_DISK_OPS_MAX, sizeof *disk->op);
    disk->file = calloc(TEST_DISK_FILES_MAX, sizeof *disk->file);
    if (disk->op == NULL || disk->file == NULL)
        abort();
}

void test_disk_free(struct test_disk *disk) {
    for (uint32_t i = 0; i < disk->op_count; ++i)
        free(disk->op[i].data);
    free(disk->op);
    free(disk->file);
}

static struct test_disk_op *test_disk_add(struct test_disk *disk, enum test_disk_kind kind, unsigned file) {
    if (disk->op_count == TEST_DISK_OPS_MAX)
        abort();
    struct test_disk_op *op = &disk->op[disk->op_count++];
    *op = (struct test_disk_op){.kind = kind, .file = file, .reaped = UINT32_MAX};
    return op;
}

static void test_disk_copy(struct test_disk_op *op, uint64_t offset, void const *data, uint64_t bytes) {
    op->offset = offset;
    op->bytes = bytes;
    op->data = malloc(bytes + 1);
    if (op->data == NULL)
        abort();
    memcpy(op->data, data, bytes);
}

static void test_disk_wait(struct test_disk *disk, struct test_disk_op *op, uint64_t tag) {
    op->tag = tag;
    if (disk->waiting_count == TEST_DISK_WAITING_MAX)
        abort();
    disk->waiting[disk->waiting_count++] = (uint32_t)(op - disk->op);
}

static int test_disk_create(void *state, char const *path, uint64_t bytes) {
    struct test_disk *disk = state;
    if (disk->create_error != 0)
        return -disk->create_error;
    if (disk->file_count == TEST_DISK_FILES_MAX)
        abort();
    struct test_disk_file *file = &disk->file[disk->file_count];
    snprintf(file->path, sizeof file->path, "%s", path);
    file->bytes = bytes;
    struct test_disk_op *op = test_disk_add(disk, TEST_CREATE, disk->file_count);
    op->bytes = bytes;
    op->reaped = (uint32_t)(op - disk->op);
    return (int)disk->file_count++;
}

static int test_disk_write(void *state, int file, uint64_t offset, void const *data, size_t bytes, unsigned buffer,
                           uint64_t tag) {
    struct test_disk *disk = state;
    (void)buffer;
    if (offset % RM_DISK_ALIGNMENT != 0 || bytes % RM_DISK_ALIGNMENT != 0 || bytes == 0)
        abort();
    struct test_disk_op *op = test_disk_add(disk, TEST_WRITE, (unsigned)file);
    test_disk_copy(op, offset, data, bytes);
    test_disk_wait(disk, op, tag);
    return 0;
}

static int test_disk_sync(void *state, int file, uint64_t tag) {
    struct test_disk *disk = state;
    test_disk_wait(disk, test_disk_add(disk, TEST_SYNC, (unsigned)file), tag);
    return 0;
}

/** Some of what waits is done, in any order. */
static int test_disk_reap(void *state, struct rm_disk_done *done, size_t most, uint64_t wait_ns) {
    struct test_disk *disk = state;
    int count = 0;
    while (!disk->stuck && disk->waiting_count > 0 && (size_t)count < most) {
        if (wait_ns == 0 && test_disk_random(disk, 3) == 0)
            break;
        unsigned const which = (unsigned)test_disk_random(disk, disk->waiting_count);
        struct test_disk_op *op = &disk->op[disk->waiting[which]];
        disk->waiting[which] = disk->waiting[--disk->waiting_count];
        bool const fails = op->kind == TEST_WRITE && disk->write_error != 0;
        op->reaped = disk->op_count;
        if (fails)
            op->reaped = UINT32_MAX - 1; /* what is there of it is not known */
        int64_t const good = op->kind == TEST_WRITE ? (int64_t)op->bytes : 0;
        done[count++] = (struct rm_disk_done){.tag = op->tag, .result = fails ? -disk->write_error : good};
    }
    return count;
}

static int test_disk_close(void *state, int file) {
    (void)state;
    (void)file;
    return 0;
}

static int test_disk_find(struct test_disk const *disk, char const *path) {
    for (unsigned f = disk->file_count; f-- > 0;)
        if (strcmp(disk->file[f].path, path) == 0)
            return (int)f;
    return -ENOENT;
}

static int test_disk_finish(void *state, char const *path, uint64_t offset, void const *data, size_t bytes) {
    struct test_disk *disk = state;
    int const file = test_disk_find(disk, path);
    if (file < 0)
        return file;
    struct test_disk_op *op = test_disk_add(disk, TEST_WRITE, (unsigned)file);
    test_disk_copy(op, offset, data, bytes);
    op->reaped = disk->op_count;
    op = test_disk_add(disk, TEST_CUT, (unsigned)file);
    op->bytes = offset + bytes;
    op->reaped = disk->op_count;
    op = test_disk_add(disk, TEST_SYNC, (unsigned)file);
    op->reaped = disk->op_count;
    return 0;
}

static int test_disk_rename(void *state, char const *from, char const *to) {
    (void)state;
    (void)from;
    (void)to;
    return -ENOSYS;
}

static int test_disk_remove(void *state, char const *path) {
    struct test_disk *disk = state;
    int const file = test_disk_find(disk, path);
    if (file >= 0)
        test_disk_add(disk, TEST_REMOVE, (unsigned)file);
    return file < 0 ? file : 0;
}

static int test_disk_free_bytes(void *state, char const *folder, uint64_t *bytes) {
    struct test_disk *disk = state;
    (void)folder;
    *bytes = disk->free_bytes;
    return 0;
}

static struct rm_disk_ops const test_disk_ops = {
    .create = test_disk_create,
    .write = test_disk_write,
    .sync = test_disk_sync,
    .reap = test_disk_reap,
    .close = test_disk_close,
    .finish = test_disk_finish,
    .rename = test_disk_rename,
    .remove = test_disk_remove,
    .free_bytes = test_disk_free_bytes,
};

struct rm_disk test_disk_of(struct test_disk *disk) {
    return (struct rm_disk){.ops = &test_disk_ops, .state = disk};
}

/** Whether op number `which` is safe when the power goes before op `at`: a sync that was handed over after it was
 * reaped, was itself reaped before. */
static bool test_disk_is_synced(struct test_disk const *disk, uint32_t which, uint32_t at) {
    struct test_disk_op const *op = &disk->op[which];
    for (uint32_t i = which + 1; i < at && i < disk->op_count; ++i)
        if (disk->op[i].kind == TEST_SYNC && disk->op[i].file == op->file && op->reaped <= i &&
            disk->op[i].reaped <= at)
            return true;
    return false;
}

/** Any of the sectors, or none, or the first ones. */
static void test_disk_tear(struct test_disk *disk, struct test_disk_op const *op, uint8_t *image, uint64_t bytes) {
    uint64_t const fate = test_disk_random(disk, 4);
    uint64_t const cut = test_disk_random(disk, op->bytes / TEST_SECTOR + 1) * TEST_SECTOR;
    for (uint64_t at = 0; at < op->bytes; at += TEST_SECTOR) {
        bool const there = fate == 0 || (fate == 1 && at < cut) || (fate == 2 && test_disk_random(disk, 2) == 0);
        uint64_t const left = op->bytes - at < TEST_SECTOR ? op->bytes - at : TEST_SECTOR;
        if (there && op->offset + at + left <= bytes)
            memcpy(image + op->offset + at, op->data + at, left);
    }
}

static uint64_t test_disk_play(struct test_disk *disk, unsigned file, uint32_t at, bool crash, uint8_t *image,
                               uint64_t image_bytes) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < at && i < disk->op_count; ++i) {
        struct test_disk_op const *op = &disk->op[i];
        if (op->file != file)
            continue;
        bool const sure = !crash || test_disk_is_synced(disk, i, at);
        if (op->kind == TEST_CREATE)
            bytes = op->bytes;
        if (op->kind == TEST_CUT && (sure || test_disk_random(disk, 2) == 0))
            bytes = op->bytes;
        if (op->kind == TEST_WRITE && op->offset + op->bytes > bytes)
            bytes = op->offset + op->bytes;
        if (bytes > image_bytes)
            abort();
        if (op->kind == TEST_WRITE && sure && op->reaped != UINT32_MAX - 1)
            memcpy(image + op->offset, op->data, op->bytes);
        else if (op->kind == TEST_WRITE)
            test_disk_tear(disk, op, image, bytes);
    }
    return bytes;
}

uint64_t test_disk_image(struct test_disk *disk, unsigned file, uint32_t at, uint8_t const *rubbish, uint8_t *image,
                         uint64_t image_bytes) {
    memcpy(image, rubbish, image_bytes);
    return test_disk_play(disk, file, at, true, image, image_bytes);
}

uint64_t test_disk_content(struct test_disk *disk, unsigned file, uint8_t *image, uint64_t image_bytes) {
    memset(image, 0, image_bytes);
    return test_disk_play(disk, file, disk->op_count, false, image, image_bytes);
}
