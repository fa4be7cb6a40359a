// SPDX-License-Identifier: Apache-2.0
/** Which process owns a segment, as the kernel sees it: a write lock on OWNER.lock, which ends with its holder.
 *
 * An owner that adopts the segment of one that was killed finds it as that left it: LIVE, and full of its last numbers.
 * From the taking of the lock until the segment says BUILDING a reader could take those for the new owner's. So the
 * lock is on two bytes. The first says that there is an owner; the second, taken when the segment says BUILDING, says
 * that what stands there is of this owner. Who asks whether a segment is alive looks at the second byte first, and then
 * at the segment's state: the lock is taken after the state was stored, and the kernel orders the two. */
#ifndef RM_FABRIC_SEGMENT_LOCK_H
#define RM_FABRIC_SEGMENT_LOCK_H

#include <stdbool.h>

#include <ringmaster/error.h>

/** Takes the lock for this process, writing its process id into the file. `*file` is the descriptor that holds it until
 * it is closed. RM_E_BUSY when another living process has it. */
enum rm_code rm_segment_lock_take(char const *directory, char const *owner, int *file, struct rm_error *error);

/** Says that the segment tells of this owner: its state is no longer that of an earlier one. */
enum rm_code rm_segment_lock_tell(char const *directory, int file, struct rm_error *error);

/** True while some process holds the lock. Takes nothing, so it never disturbs an owner that is about to start. */
bool rm_segment_lock_held_in(char const *directory, char const *owner);

/** The same for an owner whose files lie in the workspace, or in its folder there. */
bool rm_segment_lock_held(char const *workspace_path, char const *owner);

/** True while some process holds it and the segment tells of that process. Ask before you read the segment's state. */
bool rm_segment_lock_tells_in(char const *directory, char const *owner);

/** The same for an owner whose files lie in the workspace, or in its folder there. */
bool rm_segment_lock_tells(char const *workspace_path, char const *owner);

/** Removes lock and segment of an owner that has ended. Does nothing while it lives, or while it begins: removing
 * takes the lock, and taking the lock checks that the file is still the one in the directory. */
void rm_segment_lock_clear(char const *directory, char const *owner);

#endif
