// SPDX-License-Identifier: Apache-2.0
/** All that the recorder asks of a disk, behind one table of operations: io_uring in real life (disk_uring.h), and in
 * tests a disk that is full, slow, gone, or loses its power (test_disk.h).
 *
 * The writing of blocks never waits: `write` and `sync` are handed over, and `reap` tells what became of them. What is
 * rare waits: making a file, and the sealing of one, which a thread of its own does.
 *
 * What `sync` promises: every write to this file that was reaped before it was handed over is on the disk, and stays
 * there without power, when it is reaped itself. Of writes that are not synced any part may be there, in any order.
 *
 * Functions return 0 or more, or a negative errno.
 */
#ifndef RM_RECORD_DISK_H
#define RM_RECORD_DISK_H

#include <stddef.h>
#include <stdint.h>

enum {
    /** Buffers, offsets and lengths of `write` are multiples of this: the largest sector that disks have. */
    RM_DISK_ALIGNMENT = 4096,
};

/** What became of a write or a sync. */
struct rm_disk_done {
    /** As it was handed over. */
    uint64_t tag;
    /** Bytes that were written, 0 of a sync, or a negative errno. */
    int64_t result;
};

struct rm_disk_ops {
    /** Makes a file that is not there, for writing in whole sectors, with room for so many bytes. Returns its number. */
    int (*create)(void *disk, char const *path, uint64_t bytes);
    /** Hands a write over. The data must stay until it is reaped. `buffer` is its number among those that were told to
     * the disk when it was made. */
    int (*write)(void *disk, int file, uint64_t offset, void const *data, size_t bytes, unsigned buffer, uint64_t tag);
    int (*sync)(void *disk, int file, uint64_t tag);
    /** Takes at most `most` of what is done; returns how many. Waits for one where `wait_ns` is not 0, so long. */
    int (*reap)(void *disk, struct rm_disk_done *done, size_t most, uint64_t wait_ns);
    int (*close)(void *disk, int file);

    /* These wait. Any thread. */

    /** Writes at an offset of a file that is there, cuts it behind the bytes, and syncs it. */
    int (*finish)(void *disk, char const *path, uint64_t offset, void const *data, size_t bytes);
    /** Gives a file another name, and syncs the folder. */
    int (*rename)(void *disk, char const *from, char const *to);
    int (*remove)(void *disk, char const *path);
    /** Bytes that are free for us in the file system of a folder. */
    int (*free_bytes)(void *disk, char const *folder, uint64_t *bytes);
};

struct rm_disk {
    struct rm_disk_ops const *ops;
    void *state;
};

#endif
