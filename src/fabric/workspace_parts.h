// SPDX-License-Identifier: Apache-2.0
/** Which segment an object of an attached workspace belongs to. */
#ifndef RM_FABRIC_WORKSPACE_PARTS_H
#define RM_FABRIC_WORKSPACE_PARTS_H

#include <ringmaster/workspace.h>

#include "fabric/segment_map.h"

/** The segment that this memory lies in, or NULL. The file's name says which owner it has, whatever the memory says. */
struct rm_mapped_segment const *rm_workspace_holder(struct rm_workspace const *workspace, void const *memory);

/** The segment of an owner, or NULL. */
struct rm_mapped_segment const *rm_workspace_segment(struct rm_workspace const *workspace, char const *owner);

/** The workspace's directory. */
char const *rm_workspace_directory(struct rm_workspace const *workspace);

#endif
