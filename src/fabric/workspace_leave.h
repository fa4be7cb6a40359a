// SPDX-License-Identifier: Apache-2.0
/** What is left in shared memory after a stop in good order: nothing.
 *
 * The server's segment exists as long as the server lives, or was killed, or was told to keep it (`keep_after_stop`).
 * As long as it exists the other owners' do too: what they published is read beside it. The last process to go removes
 * the rest:
 *
 *     rm_segment_remove, then rm_workspace_leave     the server, its own first
 *     rm_segment_close, then rm_workspace_leave      all others
 *
 * Of a server and an owner that go at the same time one sees the other gone, for each removes or unlocks what is its
 * own before it looks.
 */
#ifndef RM_FABRIC_WORKSPACE_LEAVE_H
#define RM_FABRIC_WORKSPACE_LEAVE_H

/** Where there is no segment of a server: removes what owners that have ended left in this workspace (named as in
 * rm_workspace_attach), as far as this user may, and the folders that are empty then. A folder of requesters whose
 * group or mode an administrator has chosen stays. Takes an owner's lock while it removes, so it never harms one that
 * begins. */
void rm_workspace_leave(char const *workspace);

#endif
