// SPDX-License-Identifier: Apache-2.0
/** Whether a description can be, and whether a block fits it. Both come from a file that anybody may have written. */
#ifndef RM_ARCHIVE_OBJECT_CHECK_H
#define RM_ARCHIVE_OBJECT_CHECK_H

#include <ringmaster/archive.h>

/** NULL where an object can be read; else what is wrong with its description. */
char const *rm_object_fault(struct rm_archived_object const *object);

/** NULL where a block fits the object that it belongs to; else what is wrong with it. */
char const *rm_block_fault(struct rm_block const *block, struct rm_archived_object const *object);

#endif
