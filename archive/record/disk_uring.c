// SPDX-License-Identifier: Apache-2.0
#include "disk_uring.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fail.h"

enum { ENTRIES = 256, NEW_FILE = 0640 };

struct disk_uring {
    struct io_uring ring;
    bool registered;
};

/** Syncs the folder of a path, so that the file's name is there without power, too. */
static int disk_sync_folder(char const *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *const slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    int const file = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int const result = fsync(file) == 0 ? 0 : -errno;
    close(file);
    return result;
}

static int disk_uring_create(void *disk, char const *path, uint64_t bytes) {
    (void)disk;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_DIRECT | O_CLOEXEC, NEW_FILE);
    if (file < 0 && errno == EINVAL) /* a file system in memory has no O_DIRECT */
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, NEW_FILE);
    if (file < 0)
        return -errno;
    int result = fallocate(file, 0, 0, (off_t)bytes) == 0 || errno == EOPNOTSUPP ? 0 : -errno;
    if (result == 0)
        result = disk_sync_folder(path);
    if (result == 0)
        return file;
    close(file);
    unlink(path);
    return result;
}

static struct io_uring_sqe *disk_uring_entry(struct disk_uring *self) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&self->ring);
    if (entry != NULL)
        return entry;
    io_uring_submit(&self->ring);
    return io_uring_get_sqe(&self->ring);
}

static int disk_uring_submit(struct disk_uring *self) {
    int const result = io_uring_submit(&self->ring);
    return result < 0 ? result : 0;
}

static int disk_uring_write(void *disk, int file, uint64_t offset, void const *data, size_t bytes, unsigned buffer,
                            uint64_t tag) {
    struct disk_uring *self = disk;
    struct io_uring_sqe *entry = disk_uring_entry(self);
    if (entry == NULL)
        return -EAGAIN;
    if (self->registered)
        io_uring_prep_write_fixed(entry, file, data, (unsigned)bytes, offset, (int)buffer);
    else
        io_uring_prep_write(entry, file, data, (unsigned)bytes, offset);
    io_uring_sqe_set_data64(entry, tag);
    return disk_uring_submit(self);
}

static int disk_uring_sync(void *disk, int file, uint64_t tag) {
    struct disk_uring *self = disk;
    struct io_uring_sqe *entry = disk_uring_entry(self);
    if (entry == NULL)
        return -EAGAIN;
    io_uring_prep_fsync(entry, file, IORING_FSYNC_DATASYNC);
    io_uring_sqe_set_data64(entry, tag);
    return disk_uring_submit(self);
}

static int disk_uring_reap(void *disk, struct rm_disk_done *done, size_t most, uint64_t wait_ns) {
    struct disk_uring *self = disk;
    struct io_uring_cqe *entry = NULL;
    if (wait_ns > 0) {
        struct __kernel_timespec timeout = {.tv_sec = (long long)(wait_ns / 1000000000u),
                                            .tv_nsec = (long long)(wait_ns % 1000000000u)};
        io_uring_wait_cqe_timeout(&self->ring, &entry, &timeout);
    }
    size_t count = 0;
    while (count < most && io_uring_peek_cqe(&self->ring, &entry) == 0) {
        done[count++] = (struct rm_disk_done){.tag = io_uring_cqe_get_data64(entry), .result = entry->res};
        io_uring_cqe_seen(&self->ring, entry);
    }
    return (int)count;
}

static int disk_uring_close_file(void *disk, int file) {
    (void)disk;
    return close(file) == 0 ? 0 : -errno;
}

static int disk_write_all(int file, uint64_t offset, uint8_t const *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t const written = pwrite(file, data, bytes, (off_t)offset);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written == 0)
            return -EIO;
        if (written > 0) {
            data += written;
            offset += (uint64_t)written;
            bytes -= (size_t)written;
        }
    }
    return 0;
}

static int disk_uring_finish(void *disk, char const *path, uint64_t offset, void const *data, size_t bytes) {
    (void)disk;
    int const file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int result = disk_write_all(file, offset, data, bytes);
    if (result == 0 && ftruncate(file, (off_t)(offset + bytes)) != 0)
        result = -errno;
    if (result == 0 && fsync(file) != 0)
        result = -errno;
    close(file);
    return result;
}

static int disk_uring_rename(void *disk, char const *from, char const *to) {
    (void)disk;
    return rename(from, to) == 0 ? disk_sync_folder(to) : -errno;
}

static int disk_uring_remove(void *disk, char const *path) {
    (void)disk;
    return unlink(path) == 0 ? 0 : -errno;
}

static int disk_uring_free_bytes(void *disk, char const *folder, uint64_t *bytes) {
    (void)disk;
    struct statvfs status;
    if (statvfs(folder, &status) != 0)
        return -errno;
    *bytes = (uint64_t)status.f_bavail * status.f_frsize;
    return 0;
}

static struct rm_disk_ops const disk_uring_ops = {
    .create = disk_uring_create,
    .write = disk_uring_write,
    .sync = disk_uring_sync,
    .reap = disk_uring_reap,
    .close = disk_uring_close_file,
    .finish = disk_uring_finish,
    .rename = disk_uring_rename,
    .remove = disk_uring_remove,
    .free_bytes = disk_uring_free_bytes,
};

enum rm_code rm_disk_uring_open(struct rm_disk *disk, struct rm_error *error) {
    struct disk_uring *self = calloc(1, sizeof *self);
    if (self == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the disk");
    int const result = io_uring_queue_init(ENTRIES, &self->ring, 0);
    if (result < 0) {
        free(self);
        return rm_fail(error, RM_E_SYSTEM,
                       "io_uring: %s; the recorder needs it: see /proc/sys/kernel/io_uring_disabled, and what the "
                       "container forbids",
                       strerror(-result));
    }
    *disk = (struct rm_disk){.ops = &disk_uring_ops, .state = self};
    return RM_OK;
}

void rm_disk_uring_buffers(struct rm_disk *disk, struct iovec const *buffers, unsigned count) {
    struct disk_uring *self = disk->state;
    if (self->registered)
        io_uring_unregister_buffers(&self->ring);
    self->registered = count > 0 && io_uring_register_buffers(&self->ring, buffers, count) == 0;
}

void rm_disk_uring_close(struct rm_disk *disk) {
    struct disk_uring *self = disk->state;
    if (self == NULL)
        return;
    io_uring_queue_exit(&self->ring);
    free(self);
    disk->state = NULL;
}
