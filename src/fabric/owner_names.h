// SPDX-License-Identifier: Apache-2.0
/** Who has, or had, a segment: by the names of files and folders. */
#ifndef RM_FABRIC_OWNER_NAMES_H
#define RM_FABRIC_OWNER_NAMES_H

#include <stddef.h>

#include <ringmaster/abi.h>

enum {
    /** That stay in one workspace, as many as a reader maps; one more is refused when it opens. */
    RM_OWNERS_MAX = 256
};

struct rm_owner_names {
    /** In the order of the alphabet, each once. */
    char (*name)[RM_OWNER_BYTES];

    size_t count;
};

/** Owners of a workspace: NAME.segment in it, or a folder NAME in it (in which there need not be a segment). Those in
 * the folder of requesters are not among them. Empty when the directory cannot be read. */
void rm_owner_names_list(struct rm_owner_names *names, char const *workspace_path);

/** NAME.segment and NAME.lock in one directory, no folders: requesters, and what is left of them. */
void rm_owner_names_list_in(struct rm_owner_names *names, char const *directory);

void rm_owner_names_free(struct rm_owner_names *names);

#endif
