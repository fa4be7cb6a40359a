// SPDX-License-Identifier: Apache-2.0
/** Where segments lie, and mapping one as a reader. */
#ifndef RM_FABRIC_SEGMENT_MAP_H
#define RM_FABRIC_SEGMENT_MAP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ringmaster/error.h>
#include <ringmaster/segment.h>

/** Directory of the workspace NAME: below $RINGMASTER_WORKSPACES where that is set; else below /dev/shm/ringmaster, or
 * below the user's own /dev/shm/ringmaster-UID, wherever it exists. Where it exists in neither, root and users that
 * may write there make it in the common folder, and all others in their own. RM_E_ARGUMENT for a name that is in both.
 * A name with a slash is a path. */
enum rm_code rm_workspace_path(char const *name, char path[PATH_MAX], struct rm_error *error);

/** File of OWNER's segment in a workspace's directory. */
void rm_segment_path(char path[PATH_MAX], char const *directory, char const *owner);

/** True when the segment's owner has finished it: an acquire that pairs with the release in rm_segment_finish. */
bool rm_segment_whole(struct rm_segment_header const *header);

/** A segment as a reader maps it. */
struct rm_mapped_segment {
    struct rm_segment_header const *header;
    uint64_t bytes;
    /** Owner's name, by the file's name and by the header. */
    char owner[RM_OWNER_BYTES];
    /** User that owns the file, as the system says. */
    uid_t uid;
    /** With `inode`, it identifies the file. */
    dev_t device;

    ino_t inode;
};

/** Maps OWNER's segment (in the workspace, or in its folder there) read-only and checks that it is whole, of this
 * version, and sound (segment_check.h): RM_E_ABSENT, RM_E_HALF_MADE (damaged too), RM_E_VERSION, RM_E_SYSTEM. */
enum rm_code rm_segment_map_readonly(char const *workspace_path, char const *owner, struct rm_mapped_segment *mapped,
                                     struct rm_error *error);

/** The same in this directory. */
enum rm_code rm_segment_map_in(char const *directory, char const *owner, struct rm_mapped_segment *mapped,
                               struct rm_error *error);

/** True while the owner in this directory lives, and what is mapped is its segment: not that of a dead one whose segment
 * it adopts just now, nor one that it replaced. Takes some system calls. */
bool rm_segment_lives(char const *directory, struct rm_mapped_segment const *mapped);

void rm_segment_unmap(struct rm_mapped_segment *mapped);

#endif
