// SPDX-License-Identifier: Apache-2.0
/** One log file while it is written: its identity, its blocks so far, and how much of it is on the disk. */
#ifndef RM_RECORD_LOG_FILE_H
#define RM_RECORD_LOG_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/archive.h>
#include <ringmaster/error.h>

#include "disk.h"

/** What all files of an archive have in common. */
struct rm_archive_identity {
    uint8_t uuid[16];
    double turn_rate_hz;
    int32_t tai_minus_utc_s;
};

enum {
    /** A file is ended at so many blocks, so that its index fits into a block. */
    RM_LOG_BLOCKS_MAX = (16 << 20) / sizeof(struct rm_block_place) - 4096,
    /** One part in so many of a file is left for its index. */
    RM_LOG_INDEX_SHARE = 64,
};

struct rm_log_file {
    /** The disk's number of it; less than 0: there is none. */
    int handle;
    char path[PATH_MAX];
    uint64_t number, file_id;
    /** TAI when it was made, by the caller's clock. */
    uint64_t begun_tai_ns;
    /** Where the next write begins, and where the last one must end. */
    uint64_t at, limit;
    /** Number of the next block. */
    uint32_t sequence;
    /** The blocks so far, for the index. */
    struct rm_block_place *place;
    uint32_t place_count, place_capacity;
    /** Writes that were handed over and not reaped. */
    unsigned in_flight;
    /** Number of the newest write that a sync is wanted for, and TAI of the newest record in it; 0: none is. */
    uint64_t sync_wanted, wanted_tai_ns;
    /** A sync is under way, and what it covers. */
    bool syncing;
    uint64_t syncing_serial, syncing_tai_ns;
    /** A write or a sync failed: what it holds is found by walking through it. */
    bool failed;
    /** Errno of the write of its head: nothing in it is found then. 0: it did not fail. */
    int head_error;
};

/** Makes the file of that number in a folder, unless it is there as `prepared`. Fills `header` for it, unwritten. Returns
 * 0, or a negative errno. */
int rm_log_file_create(struct rm_log_file *file, struct rm_disk *disk, char const *folder, char const *log,
                       int prepared, uint64_t number, uint64_t bytes, struct rm_archive_identity const *identity,
                       uint64_t tai_ns, struct rm_log_header *header);

/** Gives a block its place in the file: its number, the file's identity, its checksums, and its entry of the index.
 * Without memory for that the file counts as failed. */
void rm_log_file_place(struct rm_log_file *file, struct rm_block *block, void const *payload, uint64_t offset);

/** "FOLDER/0000000000000001.rmlog" */
void rm_log_file_path(char path[PATH_MAX], char const *folder, uint64_t number);

#endif
