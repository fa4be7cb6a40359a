// SPDX-License-Identifier: Apache-2.0
/** Whether a description can be, and whether a block fits it. Both come from a file that anybody may have written. */
#ifndef RM_ARCHIVE_OBJECT_CHECK_H
#define RM_ARCHIVE_OBJECT_CHECK_H

#include <stdbool.h>

#include <ringmaster/archive.h>

/** Whether an object has records or steps, of which each has its turn. */
static inline bool rm_object_is_dense(struct rm_archived_object const *object) {
    return object->kind == RM_BLOCK_RECORDS || object->kind == RM_BLOCK_REDUCED;
}

/** NULL where an object can be read; else what is wrong with its description. */
char const *rm_object_fault(struct rm_archived_object const *object);

/** NULL where a block fits the object that it belongs to; else what is wrong with it. */
char const *rm_block_fault(struct rm_block const *block, struct rm_archived_object const *object);

/** NULL where an image fits its payload of so many bytes, decoded; else what is wrong with it. */
char const *rm_image_fault(struct rm_archived_image const *image, uint64_t plain_bytes);

#endif
