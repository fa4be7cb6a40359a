// SPDX-License-Identifier: Apache-2.0
/** Which owners have, or had, a segment: found by the names of files and folders. */
#ifndef RM_FABRIC_OWNER_NAMES_H
#define RM_FABRIC_OWNER_NAMES_H

#include <stddef.h>

#include <ringmaster/abi.h>

enum {
    /** Most owners of one workspace, as many as a reader maps; one more is refused when it opens. */
    RM_OWNERS_MAX = 256
};

struct rm_owner_names {
    /** Names in alphabetical order, each once. */
    char (*name)[RM_OWNER_BYTES];

    size_t count;
};

/** Lists the owners of a workspace: NAME.segment in it, or a folder NAME in it (in which there need not be a segment).
 * Requesters in their folder are not listed. The list is empty when the directory cannot be read. */
void rm_owner_names_list(struct rm_owner_names *names, char const *workspace_path);

/** Lists NAME.segment and NAME.lock in one directory, but no folders: requesters, and what is left of them. */
void rm_owner_names_list_in(struct rm_owner_names *names, char const *directory);

void rm_owner_names_free(struct rm_owner_names *names);

#endif
