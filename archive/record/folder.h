// SPDX-License-Identifier: Apache-2.0
/** The archive's folder: that it is one, that one recorder writes it, and which files a log has. */
#ifndef RM_RECORD_FOLDER_H
#define RM_RECORD_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/archive.h>
#include <ringmaster/error.h>

#include "disk.h"

/** The folder of one recorder. */
struct rm_archive_folder {
    char path[PATH_MAX];
    uint8_t uuid[16];
    /** Holds the lock; less than 0: none. */
    int lock;
};

/** Makes the folder an archive, or takes the one that it is, for this process alone. RM_E_BUSY names the process that
 * records there; RM_E_CONFIG, RM_E_VERSION where its file `archive` is another one's. */
enum rm_code rm_archive_folder_open(struct rm_archive_folder *folder, char const *path, struct rm_error *error);
void rm_archive_folder_close(struct rm_archive_folder *folder);

/** Whether the folder is an archive, or could be made one, as far as that shows without a change. */
enum rm_code rm_archive_folder_check(char const *path, struct rm_error *error);

/** A file of a log that is done. */
struct rm_kept_file {
    uint64_t number, bytes;
    /** Its oldest turn and TAI of that, and of its newest record; RM_TURN_NONE and 0: it has none. */
    rm_turn first_turn;
    uint64_t first_tai_ns, newest_tai_ns;
};

/** The files of a log that are done, the oldest first. */
struct rm_kept_files {
    struct rm_kept_file *file;
    uint32_t count, capacity;
    /** Of all of them. */
    uint64_t bytes;
};

/** Adds one; false: there is no memory. */
bool rm_kept_files_add(struct rm_kept_files *files, struct rm_kept_file const *file);
/** Forgets the oldest. */
void rm_kept_files_drop(struct rm_kept_files *files);
void rm_kept_files_free(struct rm_kept_files *files);

/** What was found in the folder of a log. */
struct rm_log_found {
    /** One more than the highest number. */
    uint64_t next_number;
    /** Files that were left unsealed, and were sealed now; bytes of damage in them. */
    uint32_t reopened;
    uint64_t damaged_bytes;
};

/** Makes the folder of a log if need be, finds its files, seals those that were left, and removes what a sealing left
 * half. `say` is told, in a line each, what is foreign or cannot be read: that stays as it is. */
enum rm_code rm_log_folder_open(struct rm_archive_folder const *folder, struct rm_disk *disk, char const *log,
                                struct rm_kept_files *files, struct rm_log_found *found, void (*say)(char const *text),
                                struct rm_error *error);

/** "FOLDER/0000000000000001.rmlog.new", of a file that is made anew beside the old one. */
#define RM_LOG_NEW_SUFFIX ".new"

/** "FOLDER/0000000000000001.rmlog.h5": `ringmaster archive export --live` has made it, and it refers to bytes of the
 * file (python/ringmaster/archive/live.py). */
#define RM_LOG_LIVE_SUFFIX ".h5"

/** Removes what refers to bytes of a file that is to be removed, or stored anew: live HDF5 files then have fill values in
 * its place. */
void rm_log_forget_live(char const *path);

#endif
