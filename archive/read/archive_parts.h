// SPDX-License-Identifier: Apache-2.0
/** What an opened archive is made of. */
#ifndef RM_ARCHIVE_PARTS_H
#define RM_ARCHIVE_PARTS_H

#include "stored_file.h"

/** An object, and the arrays that its public part points into. */
struct rm_object_parts {
    struct rm_archive_object public;
    /** struct rm_archive_block */
    struct rm_growing blocks;
    /** struct rm_archive_run */
    struct rm_growing runs;
};

struct rm_archive {
    char path[RM_ARCHIVE_PATH_BYTES];
    /** As it stands in the directory's file `archive`; zeros where the path is no directory of an archive. */
    uint8_t uuid[16];
    bool has_uuid;
    /** struct rm_stored_file *, by log and number. */
    struct rm_growing files;
    /** struct rm_object_parts * */
    struct rm_growing objects;
    /** What the public functions give, made anew by each look. */
    struct rm_growing file_list, marks, damages, foreigns;
    /** The file that was read last stays open. UINT32_MAX: none. */
    uint32_t open_file;
    int descriptor;
    /** A file was not what the last look found. */
    bool changed;
};

/** File `i`, object `i`. */
struct rm_stored_file *rm_archive_stored_file(struct rm_archive const *archive, size_t i);
struct rm_object_parts *rm_archive_parts(struct rm_archive const *archive, size_t i);

/** Finds the files below the archive's path, and looks for blocks in each. Those that are gone are dropped. */
enum rm_code rm_archive_find_files(struct rm_archive *archive, struct rm_error *error);

/** Makes objects, runs and marks of what the files have. */
enum rm_code rm_archive_catalogue(struct rm_archive *archive, struct rm_error *error);

/** Makes the list of damages of those of the files. */
enum rm_code rm_archive_list_damages(struct rm_archive *archive, struct rm_error *error);

/** RM_E_BUSY where a file was not what the last look found, since this was asked last. */
enum rm_code rm_archive_is_unchanged(struct rm_archive *archive, struct rm_error *error);

/** A descriptor of file `i`, which stays open until another is asked for. Negative where it cannot be opened or is
 * another file: the archive has changed then. */
int rm_archive_descriptor(struct rm_archive *archive, uint32_t i);

/** Time of record `i` of a block. */
uint64_t rm_block_tai_ns(struct rm_block const *block, uint32_t i);

/** A time in UTC as TAI; the ends of the scale stay what they are. */
uint64_t rm_time_as_tai(uint64_t ns, enum rm_time_scale scale, int32_t tai_minus_utc_s);

/** Reads a block's payload and decodes it into `bytes`, which holds its `plain_bytes`. `record_bytes` is that of its
 * object. NULL: it is good; else what is wrong, which is then in the list of damages, too. */
char const *rm_block_read(struct rm_archive *archive, struct rm_archive_block const *block, uint32_t record_bytes,
                          void *bytes);

#endif
