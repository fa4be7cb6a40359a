// SPDX-License-Identifier: Apache-2.0
/** One file of an archive: where its blocks are, and what they belong to. */
#ifndef RM_ARCHIVE_STORED_FILE_H
#define RM_ARCHIVE_STORED_FILE_H

#include <stdbool.h>

#include <ringmaster/archive_read.h>

#include "growing.h"

enum {
    /** More objects than any log has. */
    RM_FILE_OBJECTS_MAX = 1 << 16,
};

/** A mark, and the block that holds it. */
struct rm_file_mark {
    struct rm_mark mark;
    struct rm_block block;
};

/** What is known of a file. */
struct rm_stored_file {
    struct rm_archive_file info;
    /** struct rm_block_place: blocks of objects, in the order of the file. */
    struct rm_growing places;
    /** struct rm_archived_object, by its number in the file; `kind` 0 where there is none. */
    struct rm_growing objects;
    /** struct rm_file_mark */
    struct rm_growing marks;
    /** struct rm_archive_damage */
    struct rm_growing damages;
    /** Where to look on in a file that grows: behind all that was good, and before what was not. */
    struct rm_file_progress {
        uint64_t at;
        size_t places, marks, damages;
        uint32_t sequence;
    } good;
    /** Which file its path led to: one that is sealed may be stored anew under its name. */
    struct rm_file_identity {
        uint64_t device, inode;
    } identity;
    /** The last look found it. */
    bool seen;
};

/** Reads the header of a file that was opened. NULL: it is a file of an archive; else why it is not, which is "" for a
 * file that has never held anything: one that was begun when the power went. */
char const *rm_stored_file_begin(struct rm_stored_file *file, int descriptor, char const *path);

/** Looks for blocks, from where it looked last. */
enum rm_code rm_stored_file_look(struct rm_stored_file *file, int descriptor, struct rm_error *error);

void rm_stored_file_free(struct rm_stored_file *file);

/** Adds a damage to the list; one that stands there already is not added. It is left out where there is no memory. */
void rm_stored_file_damaged(struct rm_stored_file *file, uint64_t offset, uint64_t bytes, char const *what);

/** Whether an open file is the one that was looked at. */
bool rm_stored_file_is(struct rm_stored_file const *file, int descriptor);

/** Reads so many bytes from an offset; false where the file does not have them. */
bool rm_read_all(int descriptor, void *bytes, size_t count, uint64_t offset);

#endif
