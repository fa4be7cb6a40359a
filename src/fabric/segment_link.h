// SPDX-License-Identifier: Apache-2.0
/** A segment on huge pages: its file lies below their mount, and the workspace has a link to it. */
#ifndef RM_FABRIC_SEGMENT_LINK_H
#define RM_FABRIC_SEGMENT_LINK_H

#include <limits.h>
#include <stdbool.h>

/** Path of the segment `path` of a workspace on huge pages: below the mount, the workspace's whole path again, so that
 * no two workspaces collide. */
bool rm_segment_huge_path(char target[PATH_MAX], char const *mount, char const *path);

/** Target of the link at `path`, if it is one that an owner of this segment makes; false for every other file. Other
 * links are an attempt to make us open, or remove, what is not ours. */
bool rm_segment_link(char target[PATH_MAX], char const *path);

/** Removes the segment `path`, and the file that it is the link to. Does nothing where there is none. */
void rm_segment_unlink(char const *path);

#endif
