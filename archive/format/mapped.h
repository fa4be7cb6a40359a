// SPDX-License-Identifier: Apache-2.0
/** A whole file, mapped for reading. */
#ifndef RM_ARCHIVE_MAPPED_H
#define RM_ARCHIVE_MAPPED_H

#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

struct rm_mapped_file {
    /** The caller's. */
    char const *path;
    uint8_t const *data;
    uint64_t bytes;
};

/** RM_E_NOT_FOUND, RM_E_SYSTEM. A file of no bytes is mapped as none. */
enum rm_code rm_mapped_file_open(char const *path, struct rm_mapped_file *file, struct rm_error *error);
void rm_mapped_file_close(struct rm_mapped_file *file);

#endif
