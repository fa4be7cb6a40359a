// SPDX-License-Identifier: Apache-2.0
/** Which process owns a segment, as the kernel sees it: a write lock on OWNER.lock, which ends with its holder. */
#ifndef RM_FABRIC_SEGMENT_LOCK_H
#define RM_FABRIC_SEGMENT_LOCK_H

#include <stdbool.h>

#include <ringmaster/error.h>

/** Takes the lock for this process, writing its process id into the file. `*file` is the descriptor that holds it until
 * it is closed. RM_E_BUSY when another living process has it. */
enum rm_code rm_segment_lock_take(char const *directory, char const *owner, int *file, struct rm_error *error);

/** True while some process holds the lock. Takes nothing, so it never disturbs an owner that is about to start. */
bool rm_segment_lock_held_in(char const *directory, char const *owner);

/** The same for an owner whose files lie in the workspace, or in its folder there. */
bool rm_segment_lock_held(char const *workspace_path, char const *owner);

/** Removes lock and segment of an owner that has ended. Does nothing while it lives, or while it begins: removing
 * takes the lock, and taking the lock checks that the file is still the one in the directory. */
void rm_segment_lock_clear(char const *directory, char const *owner);

#endif
